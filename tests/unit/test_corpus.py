"""What is said of every program with a known bug, and of every correct one, as it was recorded: no MPI is needed.

The truth stands in the head of each program. The text of each report is compared with the one that was reviewed, in
``tests/recordings/corpus``. After a change that is meant, ``INSTA_UPDATE=always pytest tests/unit/test_corpus.py``
writes those anew, and ``git diff`` shows what is said otherwise. What is found is compared so by the Rust test
``crates/agent/tests/agent/corpus.rs``.
"""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path
from typing import Dict, List

import pytest
from mpi_queues.report.diagnosis import as_text
from mpi_queues.request import Request
from mpi_queues.targets import recording
from recordings import corpus
from support.paths import PROJECT

PROGRAMS = {mpi: corpus.programs(mpi) for mpi in corpus.MPIS}
NAMES = sorted({name for programs in PROGRAMS.values() for name in programs})
#: As the command line asks.
REQUEST = Request(stacks=True, tells_of_all=True)


@pytest.mark.parametrize("mpi", corpus.MPIS)
def test_there_is_a_recording_of_every_program_as_it_is(mpi: str) -> None:
    """Where this fails, type what it says: as root, on Debian."""
    made = corpus.read(mpi).sources
    wanted = {name: corpus.digest_of(program) for name, program in PROGRAMS[mpi].items()}
    others = sorted(name for name in wanted if made.get(name) != wanted[name])
    assert not others, f"type: .venv/bin/python tests/recordings/make.py {' '.join(others)}"
    assert set(made) == set(wanted)


def test_the_corpus_is_small() -> None:
    assert sum((corpus.PLACE / f"{mpi}.xz").stat().st_size for mpi in corpus.MPIS) < 10 << 20


@pytest.mark.parametrize("name", NAMES)
def test_what_must_be_found_is(name: str, tmp_path: Path) -> None:
    texts = {}
    for mpi, programs in PROGRAMS.items():
        if name not in programs:
            continue
        file = tmp_path / f"{mpi}.mpirec"
        data = corpus.read(mpi).data(name)
        assert [one for one in (str(PROJECT), "/home/", "/root/") if one.encode() in data] == [], "of this machine"
        file.write_bytes(data)
        found = recording.load(file, REQUEST).diagnose()
        said = json.loads(found.to_json())
        texts[mpi] = as_text(found)
        assert corpus.wrong(mpi, name, said) == [], texts[mpi]
    reviewed = corpus.PLACE / f"{name}.txt"
    if os.environ.get("INSTA_UPDATE") == "always":
        reviewed.parent.mkdir(exist_ok=True)
        reviewed.write_text(in_a_file(texts), encoding="utf-8")
    assert in_a_file(texts) == reviewed.read_text(encoding="utf-8")


def in_a_file(texts: Dict[str, str]) -> str:
    """The reports of the MPIs; of the second what differs from the first."""
    out: List[str] = []
    first: List[str] = []
    for mpi, text in texts.items():
        lines = text.splitlines()
        if not out:
            first, shown = lines, lines
        else:
            shown = list(difflib.unified_diff(first, lines, n=0, lineterm=""))[2:] or ["the same"]
        out += [f"== {mpi}", *(line for line in shown if not line.startswith("@@"))]
    return "\n".join(out) + "\n"
