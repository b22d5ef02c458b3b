"""Which call started the requests that a call waits for, in few words."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Sequence, Tuple

from .places import function_name
from .words import clean, counted

#: Requests that were started alike are one line; of more lines than this the rest is counted.
_SHOWN = 4

#: So many calls that come into question are named.
_NAMED = 4


def started(call: Mapping[str, Any], *, full: bool = False) -> List[str]:
    """``request req1, started by MPI_Irecv at halo.c:40``, for the requests that a call still waits for.

    With ``full`` all of them, and the files with their directories.
    """
    lines = [_line(members, full=full) for members in _alike(call).values()]
    shown = lines if full else lines[:_SHOWN]
    return shown + ([f"and {counted(len(lines) - len(shown), 'more request')}"] if len(lines) > len(shown) else [])


def starting_places(call: Mapping[str, Any]) -> Tuple[Tuple[Any, ...], ...]:
    """The places that started the requests that a call still waits for: equal for ranks of which the same is told."""
    return tuple(_alike(call))


def _alike(call: Mapping[str, Any]) -> Dict[Tuple[Any, ...], List[Mapping[str, Any]]]:
    """The requests that a call still waits for, by what started them."""
    groups: Dict[Tuple[Any, ...], List[Mapping[str, Any]]] = {}
    for request in call.get("requests") or []:
        by = request.get("started_by") or []
        if request.get("state") in ("open", "inactive", "unknown") and by:
            key = tuple((one.get("function"), one.get("file"), one.get("line"), one.get("certain")) for one in by)
            groups.setdefault(key, []).append(request)
    return groups


def started_lines(
    started_by: Sequence[Mapping[str, Any]], calls: Sequence[Mapping[str, Any]], *, full: bool = False
) -> List[str]:
    """``rank 0: perhaps started by MPI_Isend at halo.c:40``, for those that stand under none of the ``calls``."""
    told = {
        (call.get("rank"), one.get("file"), one.get("line"))
        for call in calls
        for request in call.get("requests") or []
        for one in request.get("started_by") or []
    }
    told |= {(call.get("rank"), call.get("file"), call.get("line")) for call in calls}
    by_rank: Dict[Any, List[Mapping[str, Any]]] = {}
    for one in started_by:
        if (one.get("rank"), one.get("file"), one.get("line")) not in told:
            by_rank.setdefault(one.get("rank"), []).append(one)
    return [
        f"{'a process' if rank is None else f'rank {rank}'}: {by_words(members, full=full)}"
        for rank, members in by_rank.items()
    ]


def by_words(started_by: Sequence[Mapping[str, Any]], *, full: bool = False) -> str:
    """``started by MPI_Irecv at halo.c:40``; empty where nothing is known."""
    if not started_by:
        return ""
    certain = len(started_by) == 1 and bool(started_by[0].get("certain"))
    return ("" if certain else "perhaps ") + f"started by {_calls(started_by, full=full)}"


def fact_words(started_by: Sequence[Mapping[str, Any]]) -> str:
    """The same behind its label: ``perhaps MPI_Irecv at halo.c:40``."""
    return by_words(started_by).replace("started by ", "", 1)


def _calls(started_by: Sequence[Mapping[str, Any]], *, full: bool) -> str:
    some = started_by if full else started_by[:_NAMED]
    places = list(_places(some, full=full))
    if len(started_by) > len(some):
        places.append(f"{len(started_by) - len(some)} more")
    # No sign behind a line: terminals and editors take ``file:line`` where a blank follows.
    return " or ".join(places)


def _line(requests: Sequence[Mapping[str, Any]], *, full: bool) -> str:
    by = requests[0]["started_by"]
    if len(requests) > 1:
        who = counted(len(requests), "request")
    else:
        name = clean(str(by[0].get("request") or "")).lstrip("& ")
        who = f"request {name}" if name else "the request"
    return f"{who}, {by_words(by, full=full)}"


def _places(started_by: Sequence[Mapping[str, Any]], *, full: bool) -> Iterator[str]:
    for one in started_by:
        file = clean(str(one.get("file") or ""))
        name = file if full else file.rsplit("/", 1)[-1]
        line = one.get("line")
        at = f"{name}:{line}" if name and line is not None else name
        yield (function_name(one) or "?") + (f" at {at}" if at else "")
