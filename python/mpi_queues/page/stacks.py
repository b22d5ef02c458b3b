"""The merged stacks as an icicle: a frame below the one that called it, the wider the more ranks are in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Set, Tuple

from .._native import StackNode, StackTree
from ..report import stacks as report
from ..report.words import clean, shorten
from .elements import Element, element
from .graph import MARKS, ROLES, cut_set

#: Of a larger tree those frames are shown that most ranks are in.
_MOST_FRAMES = 800

#: Rows, outermost first; what is further in is counted.
_MOST_ROWS = 60

_ROW = 26

#: Of those beside one another each has this part of their width at least, while there is room; more where ranks of the
#: cause are in it.
_NARROWEST, _NARROWEST_OF_CAUSE = 0.08, 0.2

#: First and last rank.
_Runs = List[Tuple[int, int]]


@dataclass(frozen=True)
class _Part:
    """What the diagnosis says of the ranks of a frame."""

    #: All are of it: ``cause``, ``held``; else empty.
    role: str
    #: The ranks of the cause among them, and which part of all they are.
    cause: str
    share: float


def icicle(tree: StackTree, members: Mapping[str, str]) -> Optional[Element]:
    """The picture; None where no stack could be read. ``members``: the ranks of the cause, and of those that wait."""
    nodes = tree.nodes
    if not nodes:
        return None
    shown = sorted(range(len(nodes)), key=lambda at: (-_members(nodes[at]), at))[:_MOST_FRAMES]
    chosen = {at for at in shown if nodes[at].depth < _MOST_ROWS}
    ordered = sorted(chosen)
    parts = dict(zip(ordered, _parts([nodes[at] for at in ordered], members)))
    places = _places(nodes, chosen, {at for at in ordered if parts[at].cause})
    frames = [_frame(nodes[at], at, places[at], parts[at]) for at in sorted(places)]
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
        tabindex=0,
        role="region",
        aria_label="The stacks",
    )


def legend() -> Element:
    """What marks in it say."""
    marked = [
        element("li", element("span", MARKS[role], class_=f"swatch {role}", aria_hidden="true"), words)
        for role, words in (("cause", "all ranks in the frame are of the cause"), ("held", "all wait as a result"))
    ]
    part = element("li", element("span", class_="swatch part", aria_hidden="true"), "some are of the cause")
    return element("ul", marked, part, class_="legend")


def scripts(tree: StackTree) -> List[str]:
    """The programs of Python that ranks run, by the names of their files; of ``python -m NAME`` that name."""
    found: Dict[str, None] = {}
    way: List[bool] = []
    for node in tree.nodes:
        del way[node.depth :]
        name = ""
        # What is imported is a module within one; what runs others (runpy, mpi4py) is none that people mean.
        if node.language == "python" and node.function == "<module>" and not any(way):
            name = _script(clean(node.file or ""))
        way.append(bool(name))
        if name:
            found[name] = None
    return list(found)


def _script(file: str) -> str:
    folder, _, name = file.rpartition("/")
    if name == "__main__.py":
        name = folder.rpartition("/")[2]
    return "" if file.startswith("<") or name in ("mpi4py", "runpy.py") else name


def as_text(tree: StackTree) -> str:
    """The same as lines."""
    return report.as_text(tree)


def _members(node: StackNode) -> int:
    return _counted(node.ranks) + _without_rank(node)


def _without_rank(node: StackNode) -> int:
    return node.unnamed + _counted(node.pids)


def _counted(ranks: str) -> int:
    """How many are in a set, in the notation of node sets."""
    return _length(_runs(ranks))


def _runs(ranks: str) -> _Runs:
    runs = (run.partition("-") for run in ranks.split(",") if run)
    found: _Runs = []
    for first, last in sorted((int(first), int(last or first)) for first, _, last in runs):
        if found and first == found[-1][1] + 1:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def _length(runs: _Runs) -> int:
    return sum(last - first + 1 for first, last in runs)


def _shared(some: _Runs, others: _Runs) -> _Runs:
    """Those that are in both."""
    found: _Runs = []
    one = other = 0
    while one < len(some) and other < len(others):
        first, last = max(some[one][0], others[other][0]), min(some[one][1], others[other][1])
        if first <= last:
            found.append((first, last))
        if some[one][1] < others[other][1]:
            one += 1
        else:
            other += 1
    return found


def _named(runs: _Runs) -> str:
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs[:8])


def _parts(nodes: List[StackNode], members: Mapping[str, str]) -> List[_Part]:
    """What is said of the ranks in each frame."""
    roles = {role: _runs(members[role]) for role in ("cause", "held")}
    found = []
    for node in nodes:
        own, count = _runs(node.ranks), _members(node)
        shared = {role: _shared(own, runs) for role, runs in roles.items()}
        role = next((role for role, some in shared.items() if some and _length(some) == count), "")
        found.append(_Part(role, _named(shared["cause"]), _length(shared["cause"]) / max(1, count)))
    return found


def _places(nodes: List[StackNode], chosen: Set[int], of_cause: Set[int]) -> Dict[int, Tuple[float, float]]:
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
        least = [_NARROWEST_OF_CAUSE if at in of_cause else _NARROWEST for at in children]
        room = width * min(1.0, max(together / max(1, members), sum(least)))
        weights = [max(counts[at], together * part) for at, part in zip(children, least)]
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


def _frame(node: StackNode, number: int, place: Tuple[float, float], part: _Part) -> Element:
    left, width = place
    name = clean(node.function) if node.function else f"in {_last(node.image)}" if node.image else "a function"
    file = _last(node.file) if node.file else ""
    at = (f"{file}:{node.line}" if node.line is not None else file) if file else ""
    ranks = _who(node.ranks, node)
    absent = f"; not there: {shorten(cut_set(node.absent), 60)}" if node.absent else ""
    told = " ".join(one for one in (name, f"at {at}" if at else "", f"({shorten(ranks, 60)})") if one)
    of_cause = f"rank{'' if part.cause.isdecimal() else 's'} {part.cause}" if part.cause and not part.role else ""
    role = ROLES.get(part.role) or (f"of the cause: {of_cause}" if of_cause else None)
    mark, some = MARKS.get(part.role), f"  {MARKS['cause']} {shorten(of_cause, 40)}"
    return element(
        "svg",
        element("title", f"{told}{absent}{f'; {role}' if role else ''}"),
        element("rect", width="100%", height=_ROW - 2, rx=3),
        element("rect", width=f"{100 * part.share:.2f}%", y=_ROW - 5, height=3, class_="share") if of_cause else None,
        element(
            "text",
            element("tspan", f"{mark} ", class_="mark") if mark else None,
            element("tspan", name, class_="who"),
            f"  {at}" if at else "",
            f"  {ranks}",
            element("tspan", some, class_="mark of-cause") if of_cause else None,
            x=7,
            y=17,
        ),
        x=f"{100 * left:.3f}%",
        y=node.depth * _ROW,
        width=f"{100 * width:.3f}%",
        height=_ROW - 1,
        class_=" ".join(one for one in ("frame", part.role, "mpi" if node.mpi else "") if one),
        data_frame=number,
        data_ranks=cut_set(node.ranks),
        data_absent=cut_set(node.absent) or None,
        data_role=role,
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
