"""Where the threads of Python programs stand: as the programs say, as we say, and as py-spy says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Dict, Iterable, List, Sequence, Tuple

from . import cli, processes
from .python_programs import program

#: Function, file, line.
Frame = Tuple[str, str, int]
#: By process id: how many threads have these frames, innermost first.
Places = Dict[int, "Counter[Tuple[Frame, ...]]"]
#: By process id: the exceptions that its threads handle: type, function, line.
Exceptions = Dict[int, "Counter[Tuple[str, str, int]]"]


class Programs:
    """Programs of some seeds, each stopped at its places."""

    def __init__(self, seeds: Iterable[int], folder: Path, python: Sequence[str]) -> None:
        self.truth: Places = {}
        self.exceptions: Exceptions = {}
        self.seeds: Dict[int, int] = {}
        self._started: List[subprocess.Popen[bytes]] = []
        try:
            for seed in seeds:
                self._start(seed, folder / str(seed), python)
            for process, seed in zip(self._started, seeds):
                threads = _stopped(process.pid, folder / str(seed), program(seed)[1])
                frames = (tuple((name, file, line) for name, file, line in thread["frames"]) for thread in threads)
                self.truth[process.pid] = Counter(frames)
                raised = (tuple(thread["raised"]) for thread in threads if thread["raised"])
                self.exceptions[process.pid] = Counter(raised)
                self.seeds[process.pid] = seed
        except BaseException:
            self.end()
            raise

    def _start(self, seed: int, folder: Path, python: Sequence[str]) -> None:
        folder.mkdir()
        path = folder / "program.py"
        path.write_text(program(seed)[0], encoding="utf-8")
        null = subprocess.DEVNULL
        self._started.append(subprocess.Popen([*python, str(path), str(folder)], stdin=null, stdout=null))

    @property
    def pids(self) -> List[int]:
        return [process.pid for process in self._started]

    def __enter__(self) -> Programs:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        for process in self._started:
            process.kill()
            process.wait()

    def wrong(self, found: Places) -> List[str]:
        """What is told in another way than by the programs themselves."""
        told = []
        for pid, threads in self.truth.items():
            if found.get(pid) != threads:
                told.append(f"seed {self.seeds[pid]}: {_differences(threads, found.get(pid, Counter()))}")
        return told


def _stopped(pid: int, folder: Path, count: int) -> List[Dict[str, Any]]:
    """What the threads of a program say of where they stand, once they do."""

    def told() -> List[Path]:
        return list(folder.glob("thread.*.json"))

    processes.wait_until(lambda: len(told()) == count, f"the stop of {folder}")
    threads = [json.loads(one.read_text(encoding="utf-8")) for one in told()]
    processes.wait_until(lambda: all(_reads(pid, thread) for thread in threads), f"the reading threads of {folder}")
    return threads


def _reads(pid: int, thread: Dict[str, Any]) -> bool:
    """Whether a thread is within the system call that reads the pipe."""
    try:
        called = Path(f"/proc/{pid}/task/{thread['thread']}/syscall").read_text().split()
    except OSError:
        return False
    return len(called) > 2 and int(called[1], 0) == thread["pipe"]


def _differences(wanted: Counter[Tuple[Frame, ...]], found: Counter[Tuple[Frame, ...]]) -> str:
    lacking, more = list((wanted - found).elements()), list((found - wanted).elements())
    pairs = []
    for one, other in zip(lacking, more):
        at = next((at for at, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))
        pairs.append(f"frame {at}: {one[at : at + 2]} is told as {other[at : at + 2]}")
    return f"{len(lacking)} threads are not told, {len(more)} are told and not there: {pairs}"


def ours(pids: Iterable[int], *options: str) -> Tuple[Places, Exceptions, List[str]]:
    """What ``mpi-queues stacks`` tells of Python, and its notes about it."""
    result = cli.mpi_queues("stacks", *cli.pid_options(pids), "--threads", "--internal", "--format", "json", *options)
    assert result.status == 0, str(result)
    places: Places = {}
    raised: Exceptions = {}
    notes = []
    for process in json.loads(result.out)["processes"]:
        stacks = ([frame for frame in stack["frames"] if frame.get("language")] for stack in process["stacks"])
        told = [tuple((one["function"], one["file"], one["line"]) for one in frames) for frames in stacks if frames]
        places[process["pid"]] = Counter(told)
        handled = (one for one in process.get("exceptions", []) if one["state"] == "handled")
        raised[process["pid"]] = Counter((one["name"], one["function"], one["line"]) for one in handled)
        notes += [note for note in process["notes"] if "Python" in note]
    return places, raised, notes


def py_spys(pids: Iterable[int]) -> Places:
    """What py-spy tells."""
    places: Places = {}
    for pid in pids:
        command = [str(Path(sys.executable).with_name("py-spy")), "dump", "--json", "--pid", str(pid)]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        threads = json.loads(said.stdout)
        frames = ([(one["name"], one["filename"], one["line"]) for one in thread["frames"]] for thread in threads)
        places[pid] = Counter(tuple(one) for one in frames if one)
    return places
