"""Assertions about message queues, for tests of MPI programs.

    >>> halo = mpi_queues.load("hang.mpirec").rank(1).communicator("halo")
    >>> assert_queue(halo.pending_receives, [{"desired_local_rank": 2, "desired_tag": 20, "status": "pending"}])
    >>> assert_queue(halo.pending_receives, [{"desired_local_rank": 2, "desired_tag": 21}])
    Traceback (most recent call last):
    AssertionError: the queue does not hold what was expected (1 expected, 1 found):
      differs: expected [0], found [0] <mpi_queues.Operation MPI_Irecv, peer 2, tag 20, 8000 bytes, pending>: \
desired_tag is 20, expected 21
      (in the order in which MPI would match them)

A queue about which nothing is known is never equal to an empty one: every assertion fails on it and says why.
"""

from __future__ import annotations

import difflib
from typing import Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ._native import Communicator, Operation, Process, Queue, Snapshot
from .errors import UsageError
from .report.worlds import who

#: What one expected operation is to have: names and values of attributes of ``Operation``, only those that matter.
#: Lengths are in bytes; addresses (``buffer``, ``request``) are numbers or texts such as ``"0x7f00"``.
Expected = Mapping[str, object]

#: Lines of a difference that are shown; the rest is counted.
_MAX_LINES = 40

#: The alignment of two lists is found by comparing each with each; longer ones are compared place by place.
_MAX_ALIGNED = 500

_ADDRESSES = ("buffer", "request")

_FIELDS = tuple(name for name in dir(Operation) if not name.startswith("_") and name != "to_dict")


def assert_queue(queue: Queue, expected: Sequence[Expected], *, ordered: bool = True, internal: bool = False) -> None:
    """The queue holds exactly these operations.

    Args:
        queue: such as ``snapshot.rank(0).communicator("halo").pending_receives``.
        expected: one mapping an operation. What it does not name may be anything.
        ordered: whether the order matters: that in which MPI would match them.
        internal: whether operations that the MPI library posted for itself count.

    Raises:
        AssertionError: that says which operation is missing, which is extra and which differs in what, or why the
            queue is not known.
        UsageError: where ``expected`` names an attribute that operations do not have.
    """
    __tracebackhide__ = True
    wanted = [_checked(entry) for entry in expected]
    _assert_known(queue, "the queue")
    found = _operations(queue, internal)
    pairs = _aligned(wanted, found) if ordered else _matched(wanted, found)
    if len(pairs) == len(wanted) == len(found):
        return
    raise AssertionError("\n".join(_difference(wanted, found, pairs, ordered)))


def assert_no_pending(of: Union[Snapshot, Process, Communicator], *, internal: bool = False) -> None:
    """Nothing waits: no send and no receive is pending or matched only, and that is known of every communicator.

    A complete operation for which the program has not called MPI_Wait yet does not wait.

    Raises:
        AssertionError: that names what waits and where, or what is not known.
    """
    __tracebackhide__ = True
    _assert_empty(of, ("pending_sends", "pending_receives"), internal)


def assert_no_unexpected(of: Union[Snapshot, Process, Communicator], *, internal: bool = False) -> None:
    """No message has arrived that nobody has asked for, and that is known of every communicator.

    Raises:
        AssertionError: that names the messages and where they are, or what is not known.
    """
    __tracebackhide__ = True
    _assert_empty(of, ("unexpected_messages",), internal)


def _assert_empty(of: Union[Snapshot, Process, Communicator], names: Sequence[str], internal: bool) -> None:
    __tracebackhide__ = True
    _assert_complete(of)
    lines = []
    for where, communicator in _communicators(of):
        for name in names:
            queue: Queue = getattr(communicator, name)
            title = f"{where}{communicator.name!r}, {name.replace('_', ' ')}"
            _assert_known(queue, title)
            for operation in _operations(queue, internal):
                if name == "unexpected_messages" or operation.status != "complete":
                    lines.append(f"  {title}: {operation!r}")
    if lines:
        raise AssertionError("\n".join([f"{len(lines)} found where none should be:", *_shortened(lines)]))


def _assert_complete(of: Union[Snapshot, Process, Communicator]) -> None:
    """What could not be read may hold anything."""
    __tracebackhide__ = True
    if isinstance(of, Communicator):
        return
    problems = list(of.problems)
    if isinstance(of, Snapshot):
        if not of.processes:
            problems.append("there is no process in the snapshot")
        for process in of.processes:
            problems += [f"{who(process)}: {problem}" for problem in process.problems]
    if problems:
        raise AssertionError("\n".join(["not everything could be read:", *(f"  {problem}" for problem in problems)]))


def _communicators(of: Union[Snapshot, Process, Communicator]) -> Iterator[Tuple[str, Communicator]]:
    """Each communicator, with words before its name that say whose it is."""
    if isinstance(of, Communicator):
        yield "", of
        return
    for process in of.processes if isinstance(of, Snapshot) else [of]:
        for communicator in process.communicators:
            yield f"{who(process)}, ", communicator


def _assert_known(queue: Queue, title: str) -> None:
    __tracebackhide__ = True
    if queue.state == "no_information":
        raise AssertionError(f"{title} is not known: {queue.detail or 'no reason given'}")
    if queue.state != "ok":
        raise AssertionError(
            f"{title} could not be read completely ({len(queue)} operations before the error): "
            f"{queue.detail or 'no reason given'}"
        )


def _operations(queue: Queue, internal: bool) -> List[Operation]:
    every = (queue[index] for index in range(len(queue)))
    return [operation for operation in every if internal or not operation.internal]


def _checked(entry: Expected) -> Dict[str, object]:
    """The entry with addresses as numbers.

    Raises:
        UsageError: where it cannot be compared with an operation.
    """
    if not isinstance(entry, Mapping):
        raise UsageError(f"{entry!r}: an expected operation is a mapping", help='such as {"desired_tag": 17}')
    checked = dict(entry)
    for name, value in checked.items():
        if name not in _FIELDS:
            near = difflib.get_close_matches(name, _FIELDS, 1)
            raise UsageError(
                f"operations have no attribute {name!r}",
                help=f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(_FIELDS)}",
            )
        if name in _ADDRESSES and isinstance(value, str):
            try:
                checked[name] = int(value, 16)
            except ValueError:
                raise UsageError(f"{name}: {value!r} is not an address", help='such as "0x7f00" or 0x7f00') from None
    return checked


def _differing(wanted: Mapping[str, object], operation: Operation) -> List[str]:
    return [name for name, value in wanted.items() if getattr(operation, name) != value]


#: The place of an expected operation, and that of the one that was found for it.
_Pairs = Dict[int, int]


def _aligned(wanted: List[Dict[str, object]], found: List[Operation]) -> _Pairs:
    """As many that match as possible, in the same order in both: the longest common subsequence."""
    start, end = 0, 0
    shorter = min(len(wanted), len(found))
    while start < shorter and not _differing(wanted[start], found[start]):
        start += 1
    while start + end < shorter and not _differing(wanted[-1 - end], found[-1 - end]):
        end += 1
    pairs = {at: at for at in range(start)}
    pairs.update({len(wanted) - 1 - at: len(found) - 1 - at for at in range(end)})
    rows, columns = wanted[start : len(wanted) - end], found[start : len(found) - end]
    if len(rows) * len(columns) > _MAX_ALIGNED**2:
        between = {at: at for at, (row, column) in enumerate(zip(rows, columns)) if not _differing(row, column)}
    else:
        between = _longest_common(rows, columns)
    pairs.update({start + i: start + j for i, j in between.items()})
    return pairs


def _longest_common(wanted: List[Dict[str, object]], found: List[Operation]) -> _Pairs:
    matches = [[not _differing(entry, operation) for operation in found] for entry in wanted]
    length = [[0] * (len(found) + 1) for _ in range(len(wanted) + 1)]
    for i in reversed(range(len(wanted))):
        for j in reversed(range(len(found))):
            both = length[i + 1][j + 1] + 1 if matches[i][j] else 0
            length[i][j] = max(both, length[i + 1][j], length[i][j + 1])
    pairs: _Pairs = {}
    i = j = 0
    while i < len(wanted) and j < len(found):
        if matches[i][j] and length[i][j] == length[i + 1][j + 1] + 1:
            pairs[i] = j
            i, j = i + 1, j + 1
        elif length[i][j] == length[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _matched(wanted: List[Dict[str, object]], found: List[Operation]) -> _Pairs:
    """As many that match as possible, in any order: an entry that leaves much open must not take what another needs.

    A maximum matching of a bipartite graph, by augmenting paths.
    """
    taken: _Pairs = {}
    owner: Dict[int, int] = {}
    for start in range(len(wanted)):
        # From an entry to what matches it, and from there on to the entry that has taken it, until one is free.
        reached: Dict[int, int] = {}
        pending = [start]
        free: Optional[int] = None
        while pending and free is None:
            entry = pending.pop(0)
            for at, operation in enumerate(found):
                if at not in reached and not _differing(wanted[entry], operation):
                    reached[at] = entry
                    if at not in owner:
                        free = at
                        break
                    pending.append(owner[at])
        while free is not None:
            entry = reached[free]
            before = taken.get(entry)
            taken[entry], owner[free] = free, entry
            free = before
    return taken


def _difference(wanted: List[Dict[str, object]], found: List[Operation], pairs: _Pairs, ordered: bool) -> Iterator[str]:
    """What a person needs to see: out of place, different, missing, extra."""
    yield f"the queue does not hold what was expected ({len(wanted)} expected, {len(found)} found):"
    used = set(pairs.values())
    missing = [i for i in range(len(wanted)) if i not in pairs]
    extra = [j for j in range(len(found)) if j not in used]
    lines = []
    for i, j, names in _nearest(wanted, found, missing, extra):
        missing.remove(i)
        extra.remove(j)
        if names:
            values = "; ".join(
                f"{name} is {_value(name, getattr(found[j], name))}, expected {_value(name, wanted[i][name])}"
                for name in names
            )
            lines.append((i, f"  differs: expected [{i}], found [{j}] {found[j]!r}: {values}"))
        else:
            lines.append((i, f"  out of order: expected [{i}], found [{j}] {found[j]!r}"))
    lines += [(i, f"  missing: expected [{i}] {_entry(wanted[i])}") for i in missing]
    lines += [(j, f"  extra:   found [{j}] {found[j]!r}") for j in extra]
    yield from _shortened([line for _, line in sorted(lines)])
    yield "  (in the order in which MPI would match them)" if ordered else "  (in any order)"


def _nearest(
    wanted: List[Dict[str, object]], found: List[Operation], missing: Sequence[int], extra: Sequence[int]
) -> List[Tuple[int, int, List[str]]]:
    """Pairs of an expected operation and the most similar one that was found, and in what they differ."""
    candidates = []
    # Bounded: more would not be read.
    for i in missing[:_MAX_LINES]:
        for j in extra[:_MAX_LINES]:
            names = _differing(wanted[i], found[j])
            # Where nothing agrees, one is missing and another is extra.
            if len(names) < len(wanted[i]) or len(names) == 1:
                candidates.append((len(names), abs(i - j), i, j, names))
    chosen: List[Tuple[int, int, List[str]]] = []
    seen_wanted, seen_found = set(), set()
    for _, _, i, j, names in sorted(candidates):
        if i not in seen_wanted and j not in seen_found:
            seen_wanted.add(i)
            seen_found.add(j)
            chosen.append((i, j, names))
    return chosen


def _entry(entry: Mapping[str, object]) -> str:
    return "{" + ", ".join(f"{name}: {_value(name, value)}" for name, value in entry.items()) + "}"


def _value(name: str, value: object) -> str:
    return hex(value) if name in _ADDRESSES and isinstance(value, int) else repr(value)


def _shortened(lines: List[str]) -> List[str]:
    if len(lines) <= _MAX_LINES:
        return lines
    return [*lines[:_MAX_LINES], f"  … and {len(lines) - _MAX_LINES} more"]
