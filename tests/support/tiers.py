"""What ``make test`` leaves to ``make test-all``: ``tests/thorough.txt``, and tests with the mark ``thorough``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Collection, List, NamedTuple, Sequence

import pytest

FILE = Path(__file__).parents[1] / "thorough.txt"


class Rule(NamedTuple):
    """A line of the file."""

    text: str
    #: Of the tests that it is about.
    file: str
    pattern: re.Pattern[str]
    #: Whether tests that an earlier rule leaves out run after all.
    back: bool


def rules(text: str) -> List[Rule]:
    """Its rules, in their order. A star stands for any text; what is behind ``#`` is a comment."""
    found = []
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if line:
            name = line.removeprefix("!")
            pattern = re.compile(".*".join(map(re.escape, name.split("*"))), re.DOTALL)
            found.append(Rule(line, name.partition("::")[0], pattern, line.startswith("!")))
    return found


def left_out(names: Sequence[str], chosen: Sequence[Rule]) -> Collection[str]:
    """Those of the tests that are left out, by their ids below ``tests/``; the last rule that fits one decides.

    Raises:
        pytest.UsageError: where a rule fits nothing: what it meant has another name by now.
    """
    found = set()
    fitting = set()
    for name in names:
        for rule in chosen:
            if rule.pattern.fullmatch(name):
                fitting.add(rule.text)
                (found.discard if rule.back else found.add)(name)
    if unused := [rule.text for rule in chosen if rule.text not in fitting]:
        raise pytest.UsageError(f"{FILE.name}: no test fits: {'; '.join(unused)}")
    return found
