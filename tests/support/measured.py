"""What a run shows of what can be known: the levels of ``known.py``, from what was posted and what is shown."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, DefaultDict, Dict, Mapping, Set

from .compare import QUEUES, compare_order, paired
from .expected import Json
from .known import EXACT, FACT_OF_FIELD, NOT_AVAILABLE, PARTIAL

_OF_COMMUNICATORS = {"name": "name", "size": "size", "rank": "local_rank", "group": "group"}
_OF_OPERATIONS = {
    "receives": ("peer", "tag", "length", "datatype", "buffer"),
    "unexpected": ("peer", "tag", "length"),
    "sends": ("peer", "tag", "length", "datatype", "buffer"),
}


class Measured:
    """Facts of one build over several runs: each was known or not."""

    def __init__(self) -> None:
        self._seen: DefaultDict[str, Set[bool]] = defaultdict(set)

    def see(self, fact: str, known: bool) -> None:
        self._seen[fact].add(known)

    def see_process(self, truth: Json, process: Json) -> None:
        """Adds what one rank shows of what it has posted."""
        if truth["call"] is not None:
            calls = [call["function"].removeprefix("P") for call in process["calls"]]
            self.see("processes.call", truth["call"] in calls)
        if any("the order in which they were posted is not known" in note for note in process["notes"]):
            self.see("sends.order", False)
        shown = {comm["handle"]: comm for comm in process["communicators"]}
        for comm in truth["communicators"]:
            found = shown.get(comm["handle"])
            if found is not None or not comm.get("optional"):
                self.see("communicators.listed", found is not None)
            if found is None:
                continue
            for fact, name in _OF_COMMUNICATORS.items():
                if name != "name" or comm["name"]:
                    self.see(f"communicators.{fact}", found[name] is not None)
            if comm["name"] == "":
                self.see("communicators.empty_name", found["name_set"])
            for kind, queue in QUEUES.items():
                self._see_queue(kind, [op for op in truth[kind] if op["comm"] == comm["handle"]], found[queue])

    def _see_queue(self, kind: str, posted: list[Json], queue: Json) -> None:
        known = queue["state"] == "ok"
        self.see(f"{kind}.listed", known)
        if not known:
            return
        pairs, missing, _ = paired(kind, posted, queue["operations"])
        if len(pairs) > 1 and kind != "unexpected":
            self.see(f"{kind}.order", not compare_order(kind, pairs, queue["operations"], ""))
        for op, _ in missing:
            if op.get("status") == "complete":
                self.see(f"{kind}.complete", False)
        for op, fields, found in pairs:
            for name, value in fields.items():
                fact = FACT_OF_FIELD.get(name)
                if fact in _OF_OPERATIONS[kind] and value is not None and not isinstance(value, bool):
                    # What is left of a request that is done is a fact of its own.
                    done = op.get("status") == "complete"
                    self.see(f"{kind}.{'complete' if done else fact}", found.get(name) is not None)

    def levels(self) -> Dict[str, str]:
        """The level of every fact that was seen."""
        names: Mapping[Any, str] = {frozenset([True]): EXACT, frozenset([False]): NOT_AVAILABLE}
        return {fact: names.get(frozenset(seen), PARTIAL) for fact, seen in sorted(self._seen.items())}
