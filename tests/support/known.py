"""What can be known of each MPI: ``known.json`` beside this file, from which docs/mpis.md is made.

A fact is ``exact`` (never null), ``partial`` (null in some places, with the reason) or ``not available`` (always null,
with the reason). What the table says of a build is demanded of it: ``tests/mpi/test_known.py`` measures it anew. Each
build is a line of the file that names the facts that are not exact, and those that no run showed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterable, Mapping, Sequence

TABLE = Path(__file__).with_name("known.json")

EXACT, PARTIAL, NOT_AVAILABLE = "exact", "partial", "not available"

#: All facts of the table.
FACTS = tuple(
    f"{group}.{name}"
    for group, names in {
        "communicators": "empty_name group listed name rank size",
        "processes": "call",
        "receives": "buffer complete datatype length listed order peer tag",
        "sends": "buffer complete datatype length listed order peer tag",
        "unexpected": "length listed peer tag",
    }.items()
    for name in names.split()
)

#: Which fact of the table a field of an operation belongs to.
FACT_OF_FIELD = {
    "desired_local_rank": "peer",
    "desired_global_rank": "peer",
    "any_source": "peer",
    "actual_local_rank": "peer",
    "actual_global_rank": "peer",
    "desired_tag": "tag",
    "tag_wild": "tag",
    "actual_tag": "tag",
    "desired_length": "length",
    "actual_length": "length",
    "datatype": "datatype",
    "count": "datatype",
    "buffer": "buffer",
}

#: A field that is null only because another one is: the reason stands there.
_FOLLOWS = {
    "desired_global_rank": "desired_local_rank",
    "any_source": "desired_local_rank",
    "actual_local_rank": "desired_local_rank",
    "actual_global_rank": "desired_local_rank",
    "tag_wild": "desired_tag",
    "actual_tag": "desired_tag",
    "actual_length": "desired_length",
    "count": "datatype",
}


def reason_of(operation: Mapping[str, Any], name: str) -> str:
    """Why a field is null; empty where no reason is given."""
    unknown = operation.get("unknown") or {}
    return unknown.get(name) or unknown.get(_FOLLOWS.get(name, ""), "")


@dataclass(frozen=True)
class Known:
    """What can be known of one build."""

    levels: Mapping[str, str] = field(default_factory=dict)

    def level(self, fact: str) -> str:
        """Of a fact such as ``sends.peer``; what the table does not name is exact."""
        return self.levels.get(fact, EXACT)

    def is_exact(self, fact: str) -> bool:
        return self.level(fact) == EXACT

    def judge(self, queue: str, name: str, expected: Any, found: Mapping[str, Any], *, complete: bool) -> str:
        """What is wrong with a field: ``field`` (another value), ``null``, ``known``; empty where nothing is.

        ``complete``: the operation is done, so that its request may have been written over.
        """
        level = self.level(f"{queue}.{FACT_OF_FIELD.get(name, name)}")
        if complete and level == EXACT and not self.is_exact(f"{queue}.complete"):
            level = PARTIAL
        value = found.get(name)
        if level != EXACT and reason_of(found, name) and value in (None, False):
            return ""
        if value != expected:
            return "null" if value is None else "field"
        # Wildcards aside, what cannot be known must not be there by luck.
        return "known" if level == NOT_AVAILABLE and value not in (None, False) else ""


class OverNetwork(Known):
    """Of messages that leave the node any fact may be null with a reason; those of communicators may not."""

    def __init__(self) -> None:
        super().__init__({"communicators.empty_name": NOT_AVAILABLE})

    def level(self, fact: str) -> str:
        return EXACT if fact.startswith("communicators.") or fact.endswith(".listed") else PARTIAL


ALL_KNOWN = Known()

#: What ``mpi info`` speaks of: the calls of threads are in no memory of the library's.
TOLD = ("communicators", "receives", "unexpected", "sends")


def told(exactness: Sequence[Mapping[str, str]], facts: Iterable[str]) -> Dict[str, str]:
    """The levels that ``mpi info`` tells of facts of the table: a part's own, else that of the whole."""
    levels = {each["fact"]: each["level"] for each in exactness}
    about = [fact for fact in facts if fact.split(".")[0] in TOLD]
    return {fact: levels.get(fact, levels.get(fact.split(".")[0], "nothing")) for fact in about}


def read_table() -> Dict[str, Dict[str, Any]]:
    """By the names of builds: ``mpi``, ``version``, ``device``, and ``facts`` with their levels."""
    return {build: _entry(row) for build, row in json.loads(TABLE.read_text()).items()}


def _entry(row: Dict[str, Any]) -> Dict[str, Any]:
    levels = {fact: level for level in (PARTIAL, NOT_AVAILABLE) for fact in row.pop(level, [])}
    unseen = row.pop("unseen", [])
    return {**row, "facts": {fact: levels.get(fact, EXACT) for fact in FACTS if fact not in unseen}}


def write_table(table: Mapping[str, Mapping[str, Any]]) -> None:
    """What ``read_table`` reads."""
    rows = []
    for build, entry in table.items():
        assert set(entry["facts"]) <= set(FACTS), build
        row = {name: value for name, value in entry.items() if name != "facts"}
        for named in (PARTIAL, NOT_AVAILABLE, "unseen"):
            facts = [fact for fact in FACTS if entry["facts"].get(fact, "unseen") == named]
            if facts:
                row[named] = facts
        rows.append(f"{json.dumps(build)}: {json.dumps(row)}")
    TABLE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


def known_of(build_id: str) -> Known:
    """What is demanded of a build."""
    return Known(read_table()[build_id]["facts"])


def alone(build_id: str) -> Known:
    """The same of one rank that is read without its peers (``alone`` in the table: what only their messages tell)."""
    entry = read_table()[build_id]
    return Known({**entry["facts"], **entry.get("alone", {})})
