"""The stacks of many processes as one tree, for people: a frame a line, outermost first, and who is in each branch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .._native import StackNode, StackTree
from .words import WIDTH, clean, columns, counted, joined, wrapped

Write = Callable[[str], object]

#: Frames of a text.
MOST_FRAMES = 2000
#: Runs of a set of ranks that are written out.
_MOST_RUNS = 40
#: Columns that the lines of the tree itself take at most.
_DEEPEST = 40


@dataclass
class Options:
    """How a tree is shown."""

    #: Columns of the terminal.
    width: int = WIDTH
    #: What to type to see all of one that is too large for a text.
    all_of_it: str = "the JSON has all"
    #: Emphasis on a terminal; ``process`` is who is in a branch.
    style: Callable[[str, str], str] = lambda kind, text: text


def as_text(tree: StackTree) -> str:
    """All of it, in the usual width."""
    pieces: List[str] = []
    write_stacks(tree, pieces.append, Options())
    return "".join(pieces).rstrip("\n")


def write_stacks(tree: StackTree, write: Write, options: Options) -> None:
    """Whose stacks these are, the tree, and what is not known."""
    nodes = tree.nodes
    if nodes:
        threads = "threads" if tree.all_threads else _plural(tree, "main thread")
        title = f"Where the {threads} of {_who(tree)} stand{'' if threads.endswith('s') else 's'}, outermost first:"
        _write_line("", title, write, options)
        _Writer(tree, nodes, write, options).run()
    else:
        write("No stack could be read.\n")
    for wait in tree.waits:
        verb = "waits" if _count(wait) == 1 else "wait"
        write(wrapped(f"{_who(wait).capitalize()} {verb} for {clean(wait['what'])}.", "", "  ", width=options.width))
    for what, of in (
        ("Not read", tree.not_read),
        ("Not read to their outermost frame", tree.incomplete),
        ("Too many frames for one tree; inner ones are left out", tree.cut),
    ):
        if _count(of):
            text = wrapped(f"{what}: {_who(of)}.", "", "  ", width=options.width)
            write(options.style("problem", text.rstrip("\n")) + "\n")


#: A tree, a node, or members as a dictionary.
_Members = Union[StackTree, StackNode, Mapping[str, Any]]


def _parts(of: _Members) -> Tuple[str, str, int]:
    if isinstance(of, (StackTree, StackNode)):
        return of.ranks, of.pids, of.unnamed
    return str(of.get("ranks") or ""), str(of.get("pids") or ""), int(of.get("unnamed") or 0)


def _size(ranks: str) -> int:
    total = 0
    for run in ranks.split(",") if ranks else ():
        first, _, last = run.partition("-")
        total += int(last or first) - int(first) + 1
    return total


def _count(of: _Members) -> int:
    ranks, pids, unnamed = _parts(of)
    return _size(ranks) + _size(pids) + unnamed


def _plural(of: _Members, thing: str) -> str:
    return thing if _count(of) == 1 else f"{thing}s"


def _who(of: _Members) -> str:
    """``ranks 0-3 and 5``, ``pid 4242``, ``rank 1 and 2 processes``."""
    ranks, pids, unnamed = _parts(of)
    words = [
        f"{name}{'' if set_.isdigit() else 's'} {_short(set_)}"
        for name, set_ in (("rank", ranks), ("pid", pids))
        if set_
    ]
    if unnamed:
        words.append(counted(unnamed, "process"))
    return " and ".join(words)


def _short(ranks: str) -> str:
    """With so many runs at most."""
    runs = ranks.split(",")
    if len(runs) > _MOST_RUNS:
        return f"{', '.join(runs[:_MOST_RUNS])}, … ({_size(ranks):,})"
    # A run of two is two, as everywhere.
    parts: List[str] = []
    for run in runs:
        first, _, last = run.partition("-")
        parts += [first, last] if last and int(last) - int(first) == 1 else [run]
    return joined(parts)


class _Writer:
    """Writes the nodes; what is still to be written is a list, however deep the tree."""

    def __init__(self, tree: StackTree, nodes: Sequence[StackNode], write: Write, options: Options) -> None:
        self._tree, self._nodes, self._write, self._options = tree, nodes, write, options
        self._total = _count(tree)
        self._children: Dict[Optional[int], List[int]] = {}
        self._ambiguous = _ambiguous(nodes)
        path: List[int] = []
        for at, node in enumerate(nodes):
            del path[node.depth :]
            self._children.setdefault(path[-1] if path else None, []).append(at)
            path.append(at)

    def run(self) -> None:
        """Writes all, or as much as a text has."""
        roots = self._children.get(None, [])
        #: Where a branch begins (None: those who end at the frame above), whose it is, and what stands before.
        pile: List[Tuple[Optional[int], _Members, str, bool]] = []
        left = MOST_FRAMES
        if len(roots) == 1:
            left -= self._chain(roots[0], "  ", pile, left)
        else:
            self._branches([(root, self._nodes[root]) for root in roots], "  ", pile)
        while pile and left > 0:
            at, members, prefix, last = pile.pop()
            head = f"{prefix}{'`-' if last else '|-'} "
            text = self._named(members, self._nodes[at] if at is not None else None)
            self._line(
                head, prefix + ("     " if last else "|    "), text if at is not None else f"{text}: here", "process"
            )
            if at is not None:
                inner = prefix + ("     " if last else "|    ")
                left -= self._chain(at, inner[-_DEEPEST:], pile, left)
            else:
                left -= 1
        if pile:
            more = f"… and more: of {len(self._nodes):,} frames {MOST_FRAMES:,} are shown; {self._options.all_of_it}"
            self._write(wrapped(more, "  ", "    ", width=self._options.width))

    def _chain(self, at: int, prefix: str, pile: List[Tuple[Optional[int], _Members, str, bool]], left: int) -> int:
        """Frames of which each calls but one, as many as are left at most: how many."""
        written = 0
        while written < left:
            node = self._nodes[at]
            if node.left_out:
                self._line(prefix, prefix + "  ", f"… {counted(node.left_out, 'frame')} left out")
            self._line(prefix, prefix + "  ", self._frame(node))
            written += 1
            called = self._children.get(at, [])
            ends = node.ends if called and _count(node.ends) else None
            if len(called) != 1 or ends is not None:
                branches: List[Tuple[Optional[int], _Members]] = [(child, self._nodes[child]) for child in called]
                self._branches([*branches, *([(None, ends)] if ends is not None else [])], prefix, pile)
                break
            at = called[0]
        return written

    def _branches(
        self,
        branches: Sequence[Tuple[Optional[int], _Members]],
        prefix: str,
        pile: List[Tuple[Optional[int], _Members, str, bool]],
    ) -> None:
        for place, (at, members) in enumerate(reversed(branches)):
            pile.append((at, members, prefix, place == 0))

    def _named(self, members: _Members, node: Optional[StackNode]) -> str:
        """``ranks 0-16 and 18-63 (63 of 64, all but 17)``."""
        facts = []
        threads = sorted({int(one.get("thread") or 0) for one in node.threads}) if node is not None else []
        if threads:
            facts.append(f"thread{'' if len(threads) == 1 else 's'} {_joined(threads)}")
        if self._total > 1:
            facts.append(f"{_count(members):,} of {self._total:,}")
        if node is not None and node.absent:
            facts.append(f"all but {_short(node.absent)}")
        return f"{_who(members)} ({', '.join(facts)})" if facts else _who(members)

    def _frame(self, node: StackNode) -> str:
        """``exchange at halo.c:40 (3 times)``."""
        words = clean(node.function) if node.function else "??"
        if node.file:
            name = node.file if _base(node.file) in self._ambiguous else _base(node.file)
            words += f" at {clean(name)}" + ("" if node.line is None else f":{node.line}")
        elif node.image:
            words += f" in {clean(_base(node.image))}"
        repeats = node.repeats
        if repeats:
            least, most = repeats["least"], repeats["most"]
            words += f" ({most:,} times)" if least == most else f" ({least:,} to {most:,} times)"
        return f"… {words}" if node.incomplete else words

    def _line(self, head: str, further: str, text: str, kind: str = "") -> None:
        _write_line(head, text, self._write, self._options, further, kind)


def _write_line(
    head: str, text: str, write: Write, options: Options, further: Optional[str] = None, kind: str = ""
) -> None:
    """A line; a longer one goes on below."""
    further = head + "  " if further is None else further
    if columns(head) + columns(text) <= options.width:
        write(head + (options.style(kind, text) if kind else text) + "\n")
        return
    line, rows = head, []
    for piece in _pieces(text):
        if columns(line) + columns(piece.rstrip()) > options.width and line.strip(" |"):
            rows.append(line.rstrip())
            # The name of a file is never cut: a long one stands further to the left.
            room = max(0, options.width - columns(piece.rstrip()))
            line = further if columns(further) <= room else " " * room
        line += piece
    # What has no place to break, such as the name of a file, is longer than a line rather than cut.
    rows.append(line.rstrip())
    write("".join(f"{row}\n" for row in rows))


def _pieces(text: str) -> List[str]:
    """What stays together on a line."""
    pieces, begin = [], 0
    for at, char in enumerate(text):
        if char == " ":
            pieces.append(text[begin : at + 1])
            begin = at + 1
    return [*pieces, text[begin:]]


def _joined(numbers: Sequence[int]) -> str:
    """``1 and 3-5``."""
    runs: List[Tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return _short(",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs))


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1] or path


def _ambiguous(nodes: Sequence[StackNode]) -> Dict[str, int]:
    """Names that several files have: these are told with their directories."""
    names = Counter(_base(path) for path in {node.file for node in nodes if node.file})
    return {name: count for name, count in names.items() if count > 1}
