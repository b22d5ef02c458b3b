"""The wait-for graph as SVG: those that the cause is about on top, who waits for them below."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Dict, List, Sequence, Set, Tuple

from .._native import layered
from ..report.words import columns
from .elements import Element, element
from .graph import MARKS, ROLES, Edge, Graph, Node

#: Of a letter and of a line, in pixels.
_LETTER, _BOLD, _SMALL, _LINE = 7.9, 7.9, 7.3, 18.0
_INSIDE, _MARGIN = 12.0, 16.0

#: Between two arrows that touch a box on the same side.
_PORT = 26.0

_ORDER = ("cause", "held", "found", "free")

Point = Tuple[float, float]


@dataclass(frozen=True)
class _Box:
    """A node, or what is written beside an arrow."""

    middle: Point
    size: Tuple[float, float]

    @property
    def left(self) -> float:
        return self.middle[0] - self.size[0] / 2

    @property
    def right(self) -> float:
        return self.middle[0] + self.size[0] / 2

    @property
    def top(self) -> float:
        return self.middle[1] - self.size[1] / 2

    @property
    def bottom(self) -> float:
        return self.middle[1] + self.size[1] / 2


def drawing(graph: Graph, *, title: str) -> Element:
    """The whole graph; ``title`` says what it shows."""
    sizes = [_size_of(node) for node in graph.nodes]
    labels = [edge.lines(graph.nodes[edge.source].processes) for edge in graph.edges]
    sizes += [_size_of_label(lines) for lines in labels]
    levels = _levels(graph)
    count = len(graph.nodes)
    pairs: List[Tuple[int, int]] = []
    for number, edge in enumerate(graph.edges):
        upper, lower = sorted((edge.source, edge.target), key=lambda node: levels[node])
        pairs += [(upper, count + number), (count + number, lower)]
    middles, width, height = layered(sizes, pairs)
    boxes = [_Box((x + _MARGIN, y + _MARGIN), size) for (x, y), size in zip(middles, sizes)]
    ports = _ports(graph, boxes)
    return element(
        "svg",
        element("title", title),
        element("defs", _arrow("arrow"), _arrow("arrow-cause")),
        [_arrows(edge, number, boxes, ports, count) for number, edge in enumerate(graph.edges)],
        [_label(edge, lines, boxes[count + n]) for n, (edge, lines) in enumerate(zip(graph.edges, labels))],
        [_node(node, number, boxes[number]) for number, node in enumerate(graph.nodes)],
        class_="graph",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width + 2 * _MARGIN:.0f} {height + 2 * _MARGIN:.0f}",
        width=f"{width + 2 * _MARGIN:.0f}",
        height=f"{height + 2 * _MARGIN:.0f}",
        role="group",
        aria_label=title,
    )


def _size_of(node: Node) -> Tuple[float, float]:
    marked = 2 if node.role in MARKS else 0
    wide = max([(columns(node.who) + marked) * _BOLD, *(columns(line) * _LETTER for line in node.lines)])
    return max(90.0, wide + 2 * _INSIDE), (1 + len(node.lines)) * _LINE + 2 * _INSIDE - 6


def _size_of_label(lines: Sequence[str]) -> Tuple[float, float]:
    wide = max((columns(line) * _SMALL for line in lines), default=1.0)
    return wide + 8, max(1, len(lines)) * 15.0 + 4


def _levels(graph: Graph) -> Dict[int, Tuple[int, int]]:
    """How far each node is from the cause, and its place among all: edges go down from the lesser one."""
    neighbours: Dict[int, Set[int]] = {node: set() for node in range(len(graph.nodes))}
    for edge in graph.edges:
        neighbours[edge.source].add(edge.target)
        neighbours[edge.target].add(edge.source)
    levels: Dict[int, Tuple[int, int]] = {}
    cause = [number for number, node in enumerate(graph.nodes) if node.role == "cause"]
    # Of ranks that wait for one another one is on top; else all that the cause is about.
    circle = any(edge.cause for edge in graph.edges)
    starts = [cause[:1] if circle else cause]
    starts += [[number] for number in sorted(neighbours, key=lambda one: (_ORDER.index(graph.nodes[one].role), one))]
    for some in starts:
        queue = deque((number, 0) for number in some if number not in levels)
        for number, level in queue:
            levels[number] = (level, number)
        while queue:
            number, level = queue.popleft()
            for other in sorted(neighbours[number] - levels.keys()):
                levels[other] = (level + 1, other)
                queue.append((other, level + 1))
    return levels


def _arrow(name: str) -> Element:
    return element(
        "marker",
        element("path", d="M0,0 L9,4.5 L0,9 z", class_=name),
        id=name,
        viewBox="0 0 9 9",
        refX=8.5,
        refY=4.5,
        markerWidth=9,
        markerHeight=9,
        markerUnits="userSpaceOnUse",
        orient="auto",
    )


def _ports(graph: Graph, boxes: Sequence[_Box]) -> Dict[Tuple[int, int], float]:
    """Where the arrows of a node touch it, by node and arrow: those of one side beside one another, so that the head of
    each is seen, in the order of what they lead to."""
    count = len(graph.nodes)
    sides: Dict[Tuple[int, bool], List[int]] = {}
    for number, edge in enumerate(graph.edges):
        for node in (edge.source, edge.target):
            above = boxes[count + number].middle[1] < boxes[node].middle[1]
            sides.setdefault((node, above), []).append(number)
    found: Dict[Tuple[int, int], float] = {}
    for (node, _), edges in sides.items():
        edges.sort(key=lambda number: boxes[count + number].middle[0])
        middle, width = boxes[node].middle[0], boxes[node].size[0] - 2 * _INSIDE
        apart = min(_PORT, width / max(1, len(edges) - 1))
        for place, number in enumerate(edges):
            found[node, number] = middle + (place - (len(edges) - 1) / 2) * apart
    return found


def _arrows(edge: Edge, number: int, boxes: Sequence[_Box], ports: Dict[Tuple[int, int], float], count: int) -> Element:
    """The line from those that wait to those that they wait for, through what they wait for."""
    label = boxes[count + number]
    source, target = boxes[edge.source], boxes[edge.target]
    kind = "edge" + (" of-cause" if edge.cause else "") + (" any" if edge.any else "")
    kind += " outside" if edge.outside else ""
    to_label = _curve(source, ports[edge.source, number], label, label.middle[0])
    to_target = _curve(label, label.middle[0], target, ports[edge.target, number])
    return element(
        "path",
        d=f"{to_label} {to_target}",
        class_=kind,
        marker_end=f"url(#arrow{'-cause' if edge.cause else ''})",
        data_from=edge.source,
        data_to=edge.target,
    )


def _curve(start: _Box, x1: float, end: _Box, x2: float) -> str:
    up = start.middle[1] > end.middle[1]
    y1, y2 = (start.top, end.bottom) if up else (start.bottom, end.top)
    bend = (y2 - y1) / 2
    return f"M{x1:.1f},{y1:.1f} C{x1:.1f},{y1 + bend:.1f} {x2:.1f},{y2 - bend:.1f} {x2:.1f},{y2:.1f}"


def _label(edge: Edge, lines: Sequence[str], box: _Box) -> Element:
    return element(
        "g",
        element("rect", x=box.left, y=box.top, width=box.size[0], height=box.size[1], rx=3),
        [
            element("text", line, x=box.middle[0], y=box.top + 13 + 15 * number, text_anchor="middle")
            for number, line in enumerate(lines)
        ],
        class_="waits-for" + (" of-cause" if edge.cause else ""),
    )


def _node(node: Node, number: int, box: _Box) -> Element:
    left = box.left + _INSIDE
    top = box.top + _INSIDE + 9
    mark = MARKS.get(node.role)
    return element(
        "g",
        element("title", node.label),
        element("rect", x=box.left, y=box.top, width=box.size[0], height=box.size[1], rx=6),
        element("text", node.who, x=left, y=top, class_="who"),
        element("text", mark, x=box.right - _INSIDE, y=top, text_anchor="end", class_="mark") if mark else None,
        [
            element("text", line, x=left, y=top + _LINE * (1 + at), class_="call" if at == 0 else "at")
            for at, line in enumerate(node.lines)
        ],
        class_=f"node {node.role} {node.standing}",
        data_node=number,
    )


def legend() -> Element:
    """What the colours and the marks say."""
    roles = [
        element("li", element("span", MARKS.get(role, ""), class_=f"swatch {role}", aria_hidden="true"), words)
        for role, words in ROLES.items()
    ]
    return element("ul", roles, element("li", element("span", "→", class_="swatch bare"), "waits for"), class_="legend")
