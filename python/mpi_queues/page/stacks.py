"""The merged stacks as an icicle: a frame below the one that called it, the wider the more ranks are in it."""

from __future__ import annotations

from typing import Dict, List, Optional, Set, Tuple

from .._native import StackNode, StackTree
from ..report import stacks as report
from ..report.words import clean, shorten
from .elements import Element, element
from .graph import cut_set

#: Of a larger tree those frames are shown that most ranks are in.
_MOST_FRAMES = 800

#: Rows, outermost first; what is further in is counted.
_MOST_ROWS = 60

_ROW = 26

#: Of those beside one another each has this part of their width at least, while there is room.
_NARROWEST = 0.08


def icicle(tree: StackTree) -> Optional[Element]:
    """The picture; None where no stack could be read."""
    nodes = tree.nodes
    if not nodes:
        return None
    shown = sorted(range(len(nodes)), key=lambda at: (-_members(nodes[at]), at))[:_MOST_FRAMES]
    chosen = {at for at in shown if nodes[at].depth < _MOST_ROWS}
    places = _places(nodes, chosen)
    frames = [_frame(nodes[at], at, places[at]) for at in sorted(places)]
    rows = 1 + max(nodes[at].depth for at in places)
    height = rows * _ROW
    left_out = len(nodes) - len(places)
    return element(
        "div",
        element(
            "svg",
            frames,
            class_="icicle",
            width="100%",
            height=height,
            role="group",
            aria_label="The stacks of all ranks, outermost frame on top; the wider a frame, the more ranks are in it",
        ),
        element("p", f"{left_out:,} more frames are in the text below.", class_="note") if left_out else None,
        class_="scroll",
    )


def as_text(tree: StackTree) -> str:
    """The same as lines."""
    return report.as_text(tree)


def _members(node: StackNode) -> int:
    return _counted(node.ranks) + _without_rank(node)


def _without_rank(node: StackNode) -> int:
    return node.unnamed + _counted(node.pids)


def _counted(ranks: str) -> int:
    """How many are in a set, in the notation of node sets."""
    runs = (run.partition("-") for run in ranks.split(",") if run)
    return sum(int(last or first) - int(first) + 1 for first, _, last in runs)


def _places(nodes: List[StackNode], chosen: Set[int]) -> Dict[int, Tuple[float, float]]:
    """Left edge and width of each frame, as parts of the whole. The one rank of thousands that is elsewhere is what is
    looked for: beside others no frame is narrower than a part of them."""
    counts = {at: max(1, _members(nodes[at])) for at in chosen}
    below: Dict[Optional[int], List[int]] = {}
    for at, parent in enumerate(_parents(nodes)):
        if at in chosen:
            below.setdefault(parent, []).append(at)
    found: Dict[int, Tuple[float, float]] = {}
    open_: List[Tuple[Optional[int], float, float, int]] = [
        (None, 0.0, 1.0, sum(counts[at] for at in below.get(None, [])))
    ]
    while open_:
        parent, left, width, members = open_.pop()
        children = below.get(parent, [])
        together = sum(counts[at] for at in children)
        # Those whose innermost frame it is leave their part of it free.
        room = width * min(1.0, max(together / max(1, members), _NARROWEST * len(children)))
        weights = [max(counts[at], together * _NARROWEST) for at in children]
        for at, weight in zip(children, weights):
            part = room * weight / sum(weights)
            found[at] = (left, part)
            open_.append((at, left, part, counts[at]))
            left += part
    return found


def _parents(nodes: List[StackNode]) -> List[Optional[int]]:
    """The place of the frame that called each: the last one before it that is one further out."""
    found: List[Optional[int]] = []
    way: List[int] = []
    for at, node in enumerate(nodes):
        del way[node.depth :]
        found.append(way[-1] if way else None)
        way.append(at)
    return found


def _frame(node: StackNode, number: int, place: Tuple[float, float]) -> Element:
    left, width = place
    name = clean(node.function) if node.function else f"in {_last(node.image)}" if node.image else "a function"
    file = _last(node.file) if node.file else ""
    at = (f"{file}:{node.line}" if node.line is not None else file) if file else ""
    ranks = _who(node.ranks, node)
    absent = f"; not there: {shorten(cut_set(node.absent), 60)}" if node.absent else ""
    told = " ".join(part for part in (name, f"at {at}" if at else "", f"({shorten(ranks, 60)})") if part)
    return element(
        "svg",
        element("title", f"{told}{absent}"),
        element("rect", width="100%", height=_ROW - 2, rx=3),
        element("text", element("tspan", name, class_="who"), f"  {at}" if at else "", f"  {ranks}", x=7, y=17),
        x=f"{100 * left:.3f}%",
        y=node.depth * _ROW,
        width=f"{100 * width:.3f}%",
        height=_ROW - 1,
        class_="frame" + (" mpi" if node.mpi else "") + (" absent" if node.absent else ""),
        data_frame=number,
        data_ranks=cut_set(node.ranks),
        data_absent=cut_set(node.absent) or None,
        data_told=told,
    )


def _last(path: str) -> str:
    """The name of a file without its directories."""
    return clean(path).rsplit("/", 1)[-1]


def _who(ranks: str, node: StackNode) -> str:
    if ranks:
        return f"rank {ranks}" if ranks.isdecimal() else f"ranks {cut_set(ranks, 200)}"
    count = _without_rank(node)
    return f"{count:,} processes without a rank"
