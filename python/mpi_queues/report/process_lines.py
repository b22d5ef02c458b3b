"""What is said of a process above its queues: its MPI, who read it, where its threads stand."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

from .._native import Process
from .call_words import communicator_names, given
from .started import started

#: Calls of a thread that are told.
_LATEST = 4


def mpi_line(process: Process) -> str:
    """The MPI library in a few words; empty where there is none."""
    mpi = process.mpi
    if not mpi:
        return ""
    line = str(mpi.get("implementation") or "MPI")
    if mpi.get("version"):
        line += f" {mpi['version']}"
    if mpi.get("transport"):
        line += f", transport {mpi['transport']}"
    return line


def source_line(process: Process) -> str:
    """Who read it; empty where that is not told."""
    source = process.source
    if not source:
        return ""
    if source.get("kind") == "plugin":
        line = f"read by the plug-in {source.get('plugin') or ''}".rstrip()
    elif source.get("kind") == "recorder":
        line = "from the flight recorder"
    else:
        line = "read by the built-in reader"
    if source.get("layouts"):
        line += f", layouts {source['layouts']}"
    return f"{line}, via {source['via']}" if source.get("via") else line


def call_lines(process: Process) -> Iterator[str]:
    """Where each of its threads stands in MPI."""
    # Made anew each time that they are asked for: with thousands of threads not once a thread.
    calls = process.calls
    names = communicator_names(process)
    for call in calls:
        arguments = given(names, call)
        line = f"in {call.get('function')}" + (f"({arguments})" if arguments else "")
        if len(calls) > 1 or call.get("thread") not in (1, None):
            line = f"thread {call.get('thread')} {line}"
        yield line + _called_by(call)
        yield from (f"  {one}" for one in started(call))


def history_lines(process: Process) -> Iterator[str]:
    """The latest calls of each thread, where the flight recorder keeps them."""
    history = process.history
    if history is None:
        return
    threads = [one for one in history["threads"] if not one.get("ended") and one["calls"]]
    for thread in threads:
        latest = thread["calls"][-_LATEST:]
        told = [one["function"] + (f" at {_place(one)}" if one.get("file") else "") for one in latest]
        if thread.get("current") == latest[-1]["number"]:
            told[-1] += " (now)"
        whose = f" of thread {thread['kernel_thread']}" if len(threads) > 1 else ""
        yield f"latest calls{whose}, by the flight recorder: {', '.join(told)}"


def outside_line(place: Mapping[str, Any]) -> str:
    """Where a thread stands that is not in MPI."""
    number = place.get("thread")
    # What was not seen to its end may be in MPI all the same.
    lost = place.get("complete") is False
    line = f"thread {number} was not seen to the end of its stack" if lost else f"thread {number} is outside MPI"
    if place.get("function") and place["function"] != place.get("caller"):
        return f"{line}: in {place['function']}{_called_by(place)}"
    where = f" at {_place(place)}" if place.get("file") else ""
    return f"{line}: in {place['caller']}{where}" if place.get("caller") else line


def kernel_line(process: Process) -> str:
    """A hint at messages that have come no further than the kernel; empty where there is none.

    Threads inside MPI read them themselves.
    """
    unread = (process.tcp or {}).get("unread_bytes") or 0
    if process.calls or unread <= 0:
        return ""
    return f"perhaps messages wait in the kernel: {unread} bytes on its TCP connections are not read"


def _called_by(call: Mapping[str, Any]) -> str:
    caller = f", called by {call['caller']}" if call.get("caller") else ""
    return caller + (f" at {_place(call)}" if call.get("file") else "")


def _place(call: Mapping[str, Any]) -> str:
    return f"{str(call['file']).rsplit('/', 1)[-1]}:{call.get('line')}"
