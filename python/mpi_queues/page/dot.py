"""The wait-for graph in the language of Graphviz."""

from __future__ import annotations

from typing import Sequence

from ..system.output import in_a_line
from .graph import MARKS, Graph, Node

_STYLES = {
    "cause": 'color="#b3261e", penwidth=2.5',
    "held": 'color="#8a5a00"',
    "found": 'color="#5f6368"',
    "free": 'color="#9aa0a6", style="rounded,dashed"',
}


def dot(graph: Graph) -> str:
    """The graph."""
    lines = [
        "digraph waits {",
        "  rankdir=BT;",
        '  node [shape=box, style=rounded, fontname="sans-serif", fontsize=11];',
        '  edge [fontname="sans-serif", fontsize=10];',
    ]
    lines += [f"  n{number} [label={_label(node)}, {_STYLES[node.role]}];" for number, node in enumerate(graph.nodes)]
    for edge in graph.edges:
        told = quoted(edge.lines(graph.nodes[edge.source].processes))
        style = ", style=dashed" if edge.any else ", style=dotted" if edge.outside else ""
        style += ', color="#b3261e", penwidth=2' if edge.cause else ""
        lines.append(f"  n{edge.source} -> n{edge.target} [label={told}{style}];")
    return "\n".join([*lines, "}", ""])


def _label(node: Node) -> str:
    mark = MARKS.get(node.role)
    return quoted([f"{node.who} {mark}" if mark else node.who, *node.lines])


def quoted(lines: Sequence[str]) -> str:
    """A string of DOT, in lines. Nothing in it is an escape of DOT's own, or ends it."""
    clean = (in_a_line(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(clean) + '"'
