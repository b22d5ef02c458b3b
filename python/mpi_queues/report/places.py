"""Where a thread stands, in few words: the MPI function with what it was given, and the place in the source."""

from __future__ import annotations

from typing import Any, List, Mapping, NamedTuple, Optional, Tuple

from .._native import Process, c_name
from .call_words import communicator_name, communicator_names
from .words import clean, shorten

#: What tells calls of one place apart; the buffer, the count and the datatype do not.
_TELLING = ("source", "dest", "root", "tag", "sendtag", "recvtag", "comm", "win", "rank")

#: Words for what has no place in MPI any more, or not yet.
_STAGES = {
    "not_initialized": "before MPI_Init",
    "finalizing": "in MPI_Finalize",
    "finalized": "after MPI_Finalize",
    "ended": "has ended",
}


#: A longer name is no file's (PATH_MAX of Linux).
_LONGEST_PATH = 4096


class Place(NamedTuple):
    """Where a process stands."""

    call: str
    where: str


def call_text(call: Mapping[str, Any], process: Optional[Process] = None) -> str:
    """``MPI_Recv(source 1, tag 17, comm halo)``, with what is known of it. ``process`` is the one whose call it is."""
    parts: List[str] = []
    for argument in call.get("arguments") or []:
        name = str(argument.get("name") or "")
        if name in _TELLING:
            value = told_of(argument, call, process)
            parts.append(f"{name} {'?' if value is None else value}")
    function = function_name(call)
    return clean(f"{function}({', '.join(parts)})" if parts else function)


def function_name(call: Mapping[str, Any]) -> str:
    """The MPI function of a call, by its name in C; empty outside MPI."""
    return clean(c_name(str(call.get("function") or "")))


def told_of(argument: Mapping[str, Any], call: Mapping[str, Any], process: Optional[Process]) -> Any:
    """What an argument of a call is called, or else its value; None where neither is known."""
    value = told_value(argument)
    if value is None and argument.get("name") == "comm" and process is not None:
        # What the library has posted tells it, where the arguments do not.
        return communicator_name(communicator_names(process), argument, call) or None
    return value


def told_value(argument: Mapping[str, Any]) -> Any:
    """What an argument is called, or else its value."""
    meaning = argument.get("meaning")
    return argument.get("value") if meaning is None else meaning


def where(call: Mapping[str, Any], *, full: bool = False) -> str:
    """``exchange at halo.c:42``; without debug information ``exchange+0x24``. Empty where nothing is known.

    ``full``: the file with its directories.
    """
    caller, file, line = call.get("caller"), call.get("file"), call.get("line")
    place = ""
    if file:
        name = str(file) if full else str(file).rsplit("/", 1)[-1]
        # Names of files are never cut: editors and terminals open them.
        place = shorten(name, _LONGEST_PATH, keep_end=True) + (f":{line}" if line is not None else "")
    offset = call.get("offset")
    inside = f"+{offset:#x}" if isinstance(offset, int) and not place else ""
    parts = [shorten(str(caller), 200 if full else 40) + inside] if caller else []
    return " at ".join([*parts, *([place] if place else [])])


def of_process(process: Process, *, full: bool = False) -> Place:
    """Where a process stands: in MPI where any of its threads does, else where its first one does."""
    calls = process.calls
    if calls:
        return Place(f"in {call_text(calls[0], process)}", where(calls[0], full=full))
    outside, lost = _outside(process), any(one.get("complete") is False for one in process.outside)
    stage = process.stage
    if stage in _STAGES:
        return Place(_STAGES[stage], outside[1])
    if outside != ("", ""):
        function, place = outside
        # A stack that was not seen to its end may be in MPI all the same.
        return Place(("not known where" if lost else "outside MPI") + (f", in {function}" if function else ""), place)
    if process.state == "ended":
        return Place("has ended", "")
    if process.problems:
        return Place("could not be read", "")
    return Place("not known where", "")


def _outside(process: Process) -> Tuple[str, str]:
    """The innermost function and the place of the first thread: the others are mostly libraries' helpers."""
    threads = sorted(process.outside, key=lambda one: int(one.get("thread") or 0))
    if not threads:
        return "", ""
    function = clean(str(threads[0].get("function") or ""))
    return ("" if function == threads[0].get("caller") else function), where(threads[0])
