"""What is in a recording, for people."""

from __future__ import annotations

from typing import Any, Callable, List, Mapping

from .words import clean, counted, size, wrapped


def write_info(info: Mapping[str, Any], write: Callable[[str], object]) -> None:
    """What ``Recording.info()`` says."""
    about = info["about"] if isinstance(info["about"], Mapping) else {}
    made = ", ".join(f"{word} {about[key]}" for word, key in _ABOUT if about.get(key))
    write(
        wrapped(f"{info['path']}: {size(info['bytes'])}, format {info['format']}{', ' if made else ''}{made}", "", "  ")
    )
    for process in info["processes"]:
        write("\n")
        _write_process(process, write)
    write(f"\n{counted(len(info['processes']), 'process')}\n")
    for problem in info["problems"]:
        write(wrapped(f"problem: {clean(str(problem))}", "", "  "))


_ABOUT = (("written by", "tool"), ("at", "recorded_at"), ("on", "recorded_on"))


def _write_process(process: Mapping[str, Any], write: Callable[[str], object]) -> None:
    who = "Process of unknown rank" if process["rank"] is None else f"Rank {process['rank']}"
    if process["rank"] is not None and process["world_size"] is not None:
        who += f" of {process['world_size']}"
    known = [("pid", process["pid"]), ("on", process["host"])]
    words = [who, " ".join(f"{word} {value}" for word, value in known if value is not None), process["executable"]]
    write(wrapped(", ".join(clean(str(word)) for word in words if word), "", "  "))
    lines: List[str] = []
    if process["tool"] is not None:
        reader = f"{process['tool']}, {process['debugger'] or 'not known'}"
        origin = " from a core file" if process["via"] == "core" else ""
        lines.append(f"{process['mpi'] or 'MPI not known'}, layouts {process['layouts'] or 'not known'}")
        lines.append(f"read at {process['captured_at'] or 'an unknown time'} by {reader}{origin}")
    if process["whole"]:
        full = ", all writable memory of the MPI library and the heap" if process["full"] else ""
        lines.append(
            f"{size(process['memory'])} of memory in {counted(process['ranges'], 'piece')}{full}, "
            f"{counted(process['symbols'], 'symbol')}, {counted(len(process['images']), 'image')}, "
            f"{counted(process['threads'], 'thread')}"
        )
    lines += [f"not in it: {one}" for one in process["left_out"]]
    if process["problem"] is not None:
        lines.append(f"cannot be read: {process['problem']}" if process["whole"] else process["problem"])
    for line in lines:
        write(wrapped(clean(line), "  ", "    "))
