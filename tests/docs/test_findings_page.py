"""docs/findings.md: each kind of finding is on it, and is what a run of its program shows."""

from __future__ import annotations

import json
import re
from typing import Any, List

import pytest
from support import findings_page as findings
from support.output import fits
from support.paths import PROJECT

#: Those of every test run: each of another sort. The others are for `make test-all`.
USUAL = ("tag mismatch", "missing in collective", "unmatched send")


def test_every_kind_has_an_example() -> None:
    schema = json.loads((PROJECT / "docs" / "schema.json").read_text())
    kinds = [one["const"] for one in schema["$defs"]["FindingKind"]["oneOf"]]
    assert sorted(kinds) == sorted(example.kind for example in findings.EXAMPLES)
    assert sorted(findings.meanings()) == sorted(kinds)


def test_the_page_is_made_of_what_is_on_it() -> None:
    """Meanings and programs are those of today."""
    made = findings.page(findings.written(), source=findings.source)
    assert findings.PAGE.read_text() == made, "type: .venv/bin/python tests/make_findings.py"


def test_places_on_the_page_are_lines_of_the_programs() -> None:
    for example in findings.EXAMPLES:
        name = example.program.rpartition("/")[2]
        lines = findings.source(example).splitlines()
        fence = next(number for number, line in enumerate(lines) if line.startswith("```c"))
        first = int(re.findall(r'linenums="(\d+)"', lines[fence])[0])
        places = re.findall(rf"(MPI_\w+)(?:\([^)]*\))?(?:  \w+)? at {name}:(\d+)", findings.written()[example.kind])
        for function, line in places:
            assert function in lines[fence + 1 + int(line) - first], (example.kind, function, line)


def _cases() -> List[Any]:
    marks = {kind: () if kind in USUAL else (pytest.mark.slow,) for kind in findings.meanings()}
    return [pytest.param(example, id=example.kind, marks=marks[example.kind]) for example in findings.EXAMPLES]


@pytest.mark.parametrize("example", _cases())
@pytest.mark.usual("tag mismatch")
def test_what_is_said_is_what_the_page_shows(example: findings.Example, preflight: None) -> None:
    shown, found = findings.written()[example.kind], ""
    for said in findings.told(example):
        found = findings.part(example, said)
        if fits(shown, found):
            return
    pytest.fail(f"{example.kind}: the page shows\n{shown}\nand what is said is\n{found}")
