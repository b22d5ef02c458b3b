"""The wait-for graph of a diagnosis: who it is about, in words; the same for the page, the drawing and DOT."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .._native import Diagnosis
from ..report import words
from ..report.places import where
from ..report.words import clean, shorten

#: How far ranks are that are in no function of MPI.
STANDINGS = {
    "waiting": "waits in MPI",
    "polling": "polls",
    "local": "in MPI",
    "outside": "outside MPI",
    "stopped": "stopped by the kernel",
    "not_started": "before MPI_Init",
    "finalizing": "in MPI_Finalize",
    "finalized": "after MPI_Finalize",
    "ended": "has ended",
    "aborting": "in MPI_Abort",
    "unknown": "not known where",
    "not_read": "not read",
}

#: What the diagnosis says of ranks.
ROLES = {
    "cause": "of the cause",
    "held": "waits as a result",
    "found": "in another finding",
    "free": "nothing was found",
}

#: The same for those who do not see colours.
MARKS = {"cause": "●", "held": "○", "found": "◇"}

#: Of what is written into a box, and beside an arrow, so many characters.
_WIDEST, _WIDEST_LABEL = 44, 52


@dataclass(frozen=True)
class Node:
    """Ranks with the same fate."""

    #: The ranks in the notation of node sets; empty where none has one.
    ranks: str
    processes: int
    role: str
    standing: str
    #: ``3 ranks: 0-2``.
    who: str
    #: The function of MPI, or how far they are.
    what: str
    #: ``exchange at halo.c:42``; empty where it is not known.
    place: str
    #: Why nobody can bring about what they wait for, or why it is not known.
    notes: List[str] = field(default_factory=list)
    #: What they wait for of one another.
    within: List[str] = field(default_factory=list)
    #: The places of findings that are about some of them.
    findings: List[int] = field(default_factory=list)

    @property
    def lines(self) -> List[str]:
        """What stands in its box, below ``who``."""
        within = [f"for one another: to {shorten(one, _WIDEST)}" for one in self.within[:1]]
        return [self.what, *([self.place] if self.place else []), *within]

    @property
    def label(self) -> str:
        """In a sentence."""
        return ", ".join([self.who, *self.lines, ROLES[self.role], *self.notes])


@dataclass(frozen=True)
class Edge:
    """The ranks of a node wait for those of another one."""

    source: int
    target: int
    #: What they are to do: ``send tag 17 on "halo"``.
    what: List[str]
    more: int
    any: bool
    #: Whether they wait outside MPI: for a lock, a thread, a child, a pipe.
    outside: bool
    waiting: int
    cause: bool

    def lines(self, of: int) -> List[str]:
        """What stands beside the arrow; ``of`` processes are in the node that waits."""
        shown = [shorten(one, _WIDEST_LABEL) for one in self.what[:2]]
        more = self.more + len(self.what) - len(shown)
        told = shown + ([f"and {more:,} more"] if more else [])
        if told and self.any:
            told[0] = f"any: {told[0]}"
        if told and 1 < self.waiting < of:
            told[0] = f"{self.waiting:,} of them: {told[0]}"
        return told


@dataclass(frozen=True)
class Graph:
    """Who waits for whom."""

    nodes: List[Node]
    edges: List[Edge]
    #: How many edges are not there.
    left_out: int
    #: All ranks of a role, in the notation of node sets.
    members: Mapping[str, str]


def graph_of(diagnosis: Diagnosis) -> Graph:
    """The graph of a diagnosis."""
    return parsed(diagnosis.overview()[0])


def parsed(text: str) -> Graph:
    """The graph as the core tells it."""
    told = json.loads(text)
    within: Dict[int, List[str]] = {
        edge["from"]: [clean(one) for one in edge["what"]] for edge in told["edges"] if edge["from"] == edge["to"]
    }
    nodes = [_node(node, within.get(number, [])) for number, node in enumerate(told["nodes"])]
    edges = [_edge(edge) for edge in told["edges"] if edge["from"] != edge["to"]]
    members = {role: ",".join(one["ranks"] for one in told["nodes"] if one["role"] == role) for role in ROLES}
    return Graph(nodes, edges, told["left_out"], members)


def _node(told: Mapping[str, Any], within: List[str]) -> Node:
    function: Optional[str] = told["function"]
    standing: str = told["standing"]
    what = STANDINGS[standing]
    if function is not None:
        what = clean(function) if standing == "waiting" else f"{what}: {clean(function)}"
        if standing in ("local", "finalizing", "aborting"):
            what = clean(function)
    return Node(
        ranks=cut_set(told["ranks"]),
        processes=told["processes"],
        role=told["role"],
        standing=standing,
        who=_who(told),
        what=shorten(what, _WIDEST),
        place=shorten(where(told), _WIDEST, keep_end=True),
        notes=[clean(one) for one in told["notes"]],
        within=within,
        findings=told["findings"],
    )


def cut_set(ranks: str, longest: int = 4000) -> str:
    """A set of ranks in the notation of node sets, no longer than is shown: one of a hundred thousand may have as many
    runs."""
    if len(ranks) <= longest:
        return ranks
    return ranks[: ranks.rindex(",", 0, longest) + 1] + "…"


#: So many runs of ranks the script is told of one set.
_MOST_RUNS = 200


def set_of(ranks: Sequence[int]) -> Optional[str]:
    """Ranks in that notation, for the page's script: of very many runs the first ones. None where there are none."""
    runs = words.runs(sorted(set(ranks)), _MOST_RUNS)
    return ",".join(runs[:_MOST_RUNS]) + (",…" if len(runs) > _MOST_RUNS else "") if runs else None


def _who(told: Mapping[str, Any]) -> str:
    ranks, count = str(told["ranks"]), int(told["processes"])
    if not ranks:
        return f"pid {told['pid']}" if count == 1 and told["pid"] is not None else f"{count:,} processes without a rank"
    if count == 1:
        return f"rank {ranks}"
    return f"{count:,} ranks: {shorten(cut_set(ranks, 100), 30)}"


def _edge(told: Mapping[str, Any]) -> Edge:
    return Edge(
        source=told["from"],
        target=told["to"],
        what=[clean(one) for one in told["what"]],
        more=told["more"],
        any=told["any"],
        outside=told["outside"],
        waiting=told["waiting"],
        cause=told["cause"],
    )
