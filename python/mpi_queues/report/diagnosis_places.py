"""Where the ranks stand that no finding has told: those that wait because of the first one, and the rest."""

from __future__ import annotations

from typing import AbstractSet, Any, Dict, List, Optional, Sequence, Tuple

from .._native import Process, Snapshot
from .diagnosis_options import ROWS, Options, Write, write_more
from .diagnosis_rows import Row, write_rows
from .places import Place, function_name, of_process
from .started import started, starting_places
from .words import counted, ranks_named

#: One of some processes at the same place, and their ranks.
_Group = Tuple[Process, List[int]]


def write_waiting(snapshot: Snapshot, waiting: AbstractSet[int], write: Write, options: Options) -> None:
    """Those that wait because of the finding above: a line for each place of the program, and for each that started
    what they wait for."""
    if not waiting:
        return
    groups: Dict[Tuple[Any, ...], _Group] = {}
    for process, ranks, _ in snapshot.alike(waiting, others=False, arguments=False):
        place = of_process(process, full=options.verbose)
        function = function_name(process.calls[0]) if process.calls else place.call
        groups.setdefault((function, place.where, *_starting(process)), (process, []))[1].extend(ranks)
    count = sum(len(ranks) for _, ranks in groups.values())
    if not count:
        return
    others = "1 other rank waits" if count == 1 else f"{counted(count, 'other rank')} wait"
    write(f"\n{others} as a result:\n")
    rows = [
        Row(ranks_named(ranks), function, where, "", "", _started(first, options))
        for (function, where, *_), (first, ranks) in groups.items()
    ]
    _write(rows, options.of(ROWS), write, options)


def write_others(snapshot: Snapshot, told: AbstractSet[int], write: Write, options: Options) -> None:
    """The ranks that nothing has told, those at one place together."""
    groups: Dict[Tuple[Any, ...], _Group] = {}
    nameless: Dict[Place, int] = {}
    for process, ranks, without in snapshot.alike(told, others=True, arguments=True):
        place = of_process(process, full=options.verbose)
        if without:
            nameless[place] = nameless.get(place, 0) + without
        if ranks:
            groups.setdefault((place, *_starting(process)), (process, []))[1].extend(ranks)
    rows = [
        Row(ranks_named(ranks), place.call, place.where, "", "", _started(first, options))
        for (place, *_), (first, ranks) in groups.items()
    ]
    rows += [Row(counted(count, "process"), place.call, place.where, "") for place, count in nameless.items()]
    if not rows:
        return
    write("\nThe other ranks:\n" if told else "\nWhere they are:\n")
    _write(rows, 4 if told and not options.verbose else options.of(ROWS), write, options)


def process_of(snapshot: Snapshot, rank: Optional[int]) -> Optional[Process]:
    """The process of a rank, where there is one."""
    try:
        return None if rank is None else snapshot.rank(rank)
    except KeyError:
        return None


def _write(rows: Sequence[Row], limit: int, write: Write, options: Options) -> None:
    write_rows(rows[:limit], write, options)
    if len(rows) > limit:
        write_more(f"  … and {counted(len(rows) - limit, 'more place')}", write, options)


def _starting(process: Process) -> Tuple[Tuple[Any, ...], ...]:
    """The places that started them: equal where the same is told."""
    return starting_places(process.calls[0]) if process.calls else ()


def _started(process: Process, options: Options) -> Sequence[str]:
    """Which calls started the requests that a rank waits for, a line each."""
    return started(process.calls[0], full=options.verbose) if process.calls else ()
