"""The report of a diagnosis: one HTML file, or the wait-for graph alone as SVG or DOT."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Mapping, Optional

from .._native import Diagnosis, StackTree
from ..report.words import counted, listed, shorten
from . import cause, inside, movement, stacks
from .document import Data, document, drawing_alone
from .dot import dot
from .drawing import drawing, legend
from .elements import Child, Element, element
from .graph import MARKS, ROLES, Graph, graph_of, parsed

#: The names of programs that run those of Python.
_INTERPRETER = re.compile(r"(?:python|pypy)[0-9.]*[a-z]?$")

#: What a drawing is called for those who do not see it.
_WAITS = "Who waits for whom. Ranks with the same fate are one box. An arrow leads to the ranks that are waited for"


def html(diagnosis: Diagnosis, *, source: bool = True) -> str:
    """The whole report. ``source``: with the source lines around the calls of the cause, where they are here."""
    graph_text, tables = diagnosis.overview()
    graph = parsed(graph_text)
    tree = diagnosis.snapshot.stacks()
    picture = stacks.icicle(tree, graph.members)
    named = title(diagnosis, tree)
    moved = movement.movement(diagnosis)
    snapshot = inside.of_snapshot(diagnosis)
    recorded = bool(json.loads(tables)["calls"]["process"])
    parts: Dict[str, Child] = {
        "title": named,
        "about": about(diagnosis),
        "nav-movement": _link("movement", "What moved") if moved else None,
        "nav-time-line": _link("time-line", "Time line", "scripted") if recorded else None,
        "cause": cause.cause(diagnosis, source=source),
        "graph": _graph(graph, diagnosis),
        "findings": cause.findings_table(diagnosis),
        "movement": _section("movement", "What moved", moved) if moved else None,
        "stacks": [
            [picture, stacks.legend()] if picture is not None else element("p", "No stack was read."),
            cause.as_text("stacks-text", "The stacks as text", stacks.as_text(tree)),
        ],
        "time-line": _time_line() if recorded else None,
        "programs": [movement.programs(diagnosis), movement.notes(diagnosis), _kept(snapshot)],
        "tables": Data("tables", inside.of_json(tables)),
        "snapshot": Data("snapshot", snapshot),
    }
    return document("report.html", f"{named}: mpi-queues", parts, scripts=True, mark=True)


def svg(diagnosis: Diagnosis) -> str:
    """The wait-for graph as a file of SVG."""
    return drawing_alone(drawing(graph_of(diagnosis), title=_WAITS))


def dot_of(diagnosis: Diagnosis) -> str:
    """The wait-for graph as a file for Graphviz."""
    return dot(graph_of(diagnosis))


def title(diagnosis: Diagnosis, tree: Optional[StackTree] = None) -> str:
    """``4 ranks of solver``; of programs of Python it names the script. ``tree``: the stacks, where they are known."""
    processes = diagnosis.snapshot.processes
    names = dict.fromkeys(
        (process.executable or "").rsplit("/", 1)[-1] for process in processes[:64] if process.executable
    )
    interpreters = [name for name in names if _INTERPRETER.match(name)]
    if interpreters:
        scripts = stacks.scripts(diagnosis.snapshot.stacks() if tree is None else tree)
        names = dict.fromkeys([*(name for name in names if name not in interpreters or not scripts), *scripts])
    of = f" of {listed([shorten(name, 60) for name in names], 3)}" if names else ""
    return f"{counted(len(processes), 'rank')}{of}"


def about(diagnosis: Diagnosis) -> str:
    """When it was read, and where."""
    snapshot = diagnosis.snapshot
    hosts = dict.fromkeys(process.host for process in snapshot.processes if process.host)
    at = snapshot.captured_at
    where = f"on {listed([shorten(host, 60) for host in hosts], 4)}" if hosts else ""
    when = f"read {at.replace('T', ' ').replace('Z', ' UTC')}" if at else ""
    return ", ".join(part for part in (when, where) if part)


def _graph(graph: Graph, diagnosis: Diagnosis) -> List[Element]:
    edges = Data("edges", inside.Packed("json", inside.in_script(json.dumps(_for_script(graph, diagnosis)))))
    if not graph.nodes:
        return [element("p", "No process was read."), edges]
    parts = [
        element(
            "div", drawing(graph, title=_WAITS), class_="scroll", tabindex=0, role="region", aria_label="The graph"
        ),
        legend(),
        edges,
    ]
    if graph.left_out:
        parts.append(element("p", f"{graph.left_out:,} more arrows are left out.", class_="note"))
    return parts


def _for_script(graph: Graph, diagnosis: Diagnosis) -> Mapping[str, Any]:
    """What opens below the graph."""
    names = ("who", "what", "place", "role", "ranks", "notes", "within", "findings")
    findings = [
        f"{finding.kind}: {shorten(finding.summary, 300)}" for finding in diagnosis.findings[: cause.MOST_FINDINGS]
    ]
    return {
        "nodes": [
            {
                **{name: getattr(node, name) for name in names},
                "findings": [n for n in node.findings if n < len(findings)],
            }
            for node in graph.nodes
        ],
        "edges": [
            {name: getattr(edge, name) for name in ("source", "target", "what", "more", "any")} for edge in graph.edges
        ],
        "findings": findings,
        "roles": {role: (MARKS.get(role, ""), words) for role, words in ROLES.items()},
    }


def _section(name: str, heading: str, children: Child, kind: Optional[str] = None) -> Element:
    heading_id = f"{name}-title"
    return element(
        "section",
        element("h2", heading, id=heading_id),
        children,
        id=name,
        class_=kind,
        aria_labelledby=heading_id,
    )


def _kept(snapshot: inside.Packed) -> Optional[Element]:
    """What the file has not of so many ranks."""
    if not snapshot.without:
        return None
    told = (
        f"With more than {inside.MOST_WHOLE:,} ranks, this file keeps the whole diagnosis, but of each rank only what "
        "is shown here, without addresses, groups, arguments and stacks. A recording has them (mpi-queues record)."
    )
    return element("p", told, class_="note")


def _time_line() -> Element:
    told = element(
        "p",
        "The latest calls of each rank, from the flight recorder. A bar ends where the next call begins; a call that "
        "has not returned reaches the right edge. Press a bar to read the call; the arrow keys move along a line.",
        class_="note",
    )
    return _section("time-line", "Time line", [told, element("div", id="time-line-view")], "scripted")


def _link(name: str, text: str, kind: Optional[str] = None) -> Element:
    return element("li", element("a", text, href=f"#{name}"), class_=kind)
