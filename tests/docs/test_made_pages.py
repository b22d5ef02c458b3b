"""Pages of the site that are made of the sources have all that these have. Links are tried by ``make docs``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mpi_queues.commands import all_commands
from mpi_queues.commands.settings import BY_NAME
from support.paths import PROJECT

sys.path.insert(0, str(PROJECT / "tools"))

from documents import links, pages, parsers, schema

SCHEMA = PROJECT / "docs" / "schema.json"


def test_the_commands() -> None:
    text = pages.command_line()
    for command in parsers.tree().all():
        section = text.partition(f"# {command.name}\n")[2].partition("\n## ")[0]
        assert section, command.name
        for group in command.groups:
            for argument in group.arguments:
                assert all(f"`{one}`" in section for one in argument.usage), (command.name, argument)


def test_the_commands_of_debuggers() -> None:
    text = pages.debuggers()
    for command in all_commands():
        section = text.partition(f"## {command.full_name}\n")[2].partition("\n## ")[0]
        assert pages.escaped(command.summary) in section
        assert all(f"`{option.usage}`" in section for option in command.options), command.name
        assert all(f"`{typed}`" in section for typed, _ in command.examples), command.name
    assert all(f"### {name}\n" in text for name in BY_NAME)


def test_the_json() -> None:
    content = json.loads(SCHEMA.read_text())
    text = schema.page(SCHEMA)
    definitions = {content["title"]: content, **content["$defs"]}
    for name, definition in definitions.items():
        section = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert section, name
        for member, said in definition.get("properties", {}).items():
            row = next(line for line in section.splitlines() if line.startswith(f"| `{member}` |"))
            assert ("Always." in row) == (member in definition.get("required", ())), (name, member)
            assert row.count("|") - row.count("\\|") == 4, row
            for used in references(said):
                assert f"[{used}](#{used.lower()})" in row, (name, member)


def references(said: Any) -> list[str]:
    """The definitions that a part of the schema names."""
    if isinstance(said, list):
        return [name for one in said for name in references(one)]
    if not isinstance(said, dict):
        return []
    own = [said["$ref"].rsplit("/", 1)[1]] if "$ref" in said else []
    return own + references([one for key, one in said.items() if key != "description"])


@pytest.mark.parametrize(
    ("folder", "link", "wanted"),
    [
        ("", "docs/gdb.md", "gdb.md"),
        ("", "docs/gdb.md#commands", "gdb.md#commands"),
        ("", "CONTRIBUTING.md", "contributing.md"),
        ("", "layouts/README.md", "layouts.md"),
        ("docs", "../ARCHITECTURE.md", "architecture.md"),
        ("docs", "gdb.md", "gdb.md"),
        ("docs", "#commands", "#commands"),
        ("layouts", "../docs/internals.md", "internals.md"),
        ("docs", "https://example.org/docs/gdb.md", "https://example.org/docs/gdb.md"),
    ],
)
def test_links_lead_to_the_pages_of_the_site(folder: str, link: str, wanted: str) -> None:
    assert links.inside(f"see [it]({link}).", Path(folder)) == f"see [it]({wanted})."
