"""The pages of the manual: one for each command, in troff that says nothing wrong, with all that the help says."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, Tuple

import pytest
from mpi_queues.cli import command_line
from support.paths import PROJECT


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Dict[str, str]:
    """The pages as a terminal shows them, in one line, by the files' names."""
    place = tmp_path_factory.mktemp("man")
    subprocess.run([sys.executable, PROJECT / "tools" / "make-man", place], check=True)
    return {path.name: _shown(path) for path in place.iterdir()}


def _shown(path: Path) -> str:
    # No hyphens are put in, and lines are long: words stay whole.
    command = [
        "groff",
        "-ww",
        "-k",
        "-man",
        "-Tutf8",
        "-rHY=0",
        "-rLL=1000n",
        "-P-c",
        "-P-b",
        "-P-o",
        "-P-u",
        str(path),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stderr == "", path.name
    # Adjusting lines puts further blanks in.
    return " ".join(run.stdout.split())


def _parsers(parser: argparse.ArgumentParser) -> Iterator[Tuple[str, argparse.ArgumentParser]]:
    yield f"{parser.prog.replace(' ', '-')}.1", parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _parsers(below)


def test_there_is_a_page_for_each_command(pages: Dict[str, str]) -> None:
    assert sorted(pages) == sorted(name for name, _ in _parsers(command_line.parser()))


def test_each_page_says_what_the_help_says(pages: Dict[str, str]) -> None:
    for name, parser in _parsers(command_line.parser()):
        page = pages[name]
        assert re.search(rf"NAME {re.escape(name[:-2])} \S \S", page), name
        for action in parser._actions:
            if action.dest != "help" and action.help not in (None, argparse.SUPPRESS):
                assert " ".join(str(action.help).split()) in page, (name, action.dest)
        for line in (parser.epilog or "").splitlines():
            assert " ".join(line.rstrip(":").split()).lower() in page.lower(), (name, line)
