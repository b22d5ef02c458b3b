"""Correct programs under ``mpi-queues run --watch``, in turns and several side by side: every alarm is false.

``tests/watch/long.py --seconds 7200 --beside 4 -o DIR``; it prints each alarm with what the watch has written, and the
figures.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import List, Optional, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import builds, diagnosis, priority
from support.builds import MpiBuild
from support.paths import MPI_QUEUES, PROGRAMS
from support.starters import Place

#: What tests/programs/watched/works.c can do.
WORKS = ("computes", "imbalance", "sleeps", "disk", "pipe", "polls", "probes", "window", "file")

#: Each program runs for so many times the time after which an alarm is given: ranks that hold each other while others
#: move are told within three of them (docs/watch.md).
SLICE = 4.0

#: Each step of works.c takes so many of them, in which nothing may seem to happen.
STEP = 1.7

#: Seconds in which ranks are there.
STARTING = 3.0

#: Seconds that a job has to end when it is told to, and that one which ends by itself has more on a busy machine.
GRACE, PATIENCE = 60.0, 600.0


@dataclass(frozen=True)
class Task:
    """One program, on one MPI, with or without the recorder."""

    program: Path
    arguments: Sequence[str]
    build: MpiBuild
    ranks: int
    recorded: bool

    def __str__(self) -> str:
        words = " ".join((self.program.name, *self.arguments[:1]))
        return f"{words} on {self.build.id}{' with the recorder' if self.recorded else ''}"


@dataclass
class Figures:
    """What came of all."""

    #: Seconds for which jobs were watched, in all.
    watched: float = 0.0
    runs: int = 0
    #: False alarms, in sentences.
    alarms: List[str] = field(default_factory=list)
    #: What else did not hold.
    problems: List[str] = field(default_factory=list)


def tasks(after: float, names: Sequence[str]) -> List[Task]:
    """All of them, or those whose programs or works have one of these names."""
    found = []
    for name in (builds.DEBIAN, builds.DEBIAN_MPICH):
        build = builds.BUILDS[name]()
        works = builds.compile_with([str(build.mpicc)], build.id, [PROGRAMS / "watched" / "works.c"], [])
        for recorded in (False, True):
            for path in diagnosis.programs("fine"):
                program = diagnosis.load(path, build.is_mpich)
                if program is not None and (not names or path.stem in names):
                    found.append(Task(program.compiled(build), (), build, program.ranks, recorded))
            for work in WORKS:
                if not names or work in names:
                    times = (work, f"{SLICE * after:g}", f"{STEP * after:g}")
                    found.append(Task(works, times, build, 3, recorded))
    return found


def watched(task: Task, after: float, directory: Path, figures: Figures, lock: threading.Lock) -> None:
    """Runs one for its time, and notes what came of it."""
    place = Place()
    options = [*(["--recorder"] if task.recorded else []), "--watch", "--after", f"{after:g}", "-o", str(directory)]
    job = [str(task.build.mpirun), "-n", str(task.ranks), str(task.program), *task.arguments]
    begun = time.monotonic()
    try:
        with open(place.directory / "said", "w+") as said:
            run = subprocess.Popen(
                [str(MPI_QUEUES), "run", *options, "--", *job],
                env={**os.environ, **place.environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
            )
            time.sleep(STARTING)
            # A session's processes share what it gets, however nice they are, and Hydra's ranks have one each.
            priority.behind_debuggers(place.members())
            problems = _waited(run, task, after)
            seconds = time.monotonic() - begun
            _end(run)
            said.seek(0)
            text = said.read()
    finally:
        place.end()
    if "the watch has failed" in text or "could not be read" in text:
        problems.append(text)
    alarm = next((path.read_text() for path in directory.glob("diagnosis*.txt")), None)
    with lock:
        figures.runs += 1
        figures.watched += seconds
        figures.problems += [f"{task}: {problem}" for problem in problems]
        if alarm is not None:
            figures.alarms.append(f"{task} after {seconds:.0f} s: {alarm}")
        print(f"{figures.watched:8.0f} s  {task}{': ALARM' if alarm is not None else ''}", flush=True)


def _waited(run: subprocess.Popen[bytes], task: Task, after: float) -> List[str]:
    """Waits for the end of a program that ends, and for its time with others; what is wrong with that."""
    ends = bool(task.arguments)
    try:
        status = run.wait(SLICE * after + (PATIENCE if ends else 0))
    except subprocess.TimeoutExpired:
        return ["it has not ended in time"] if ends else []
    # Some of the others end, too: backlog.c after minutes.
    return [] if status == 0 else [f"it ended with status {status}"]


def _end(run: subprocess.Popen[bytes]) -> None:
    """As a person would at a terminal: nothing is written for SIGINT."""
    for number in (signal.SIGINT, signal.SIGKILL):
        if run.poll() is None:
            run.send_signal(number)
            try:
                run.wait(GRACE)
            except subprocess.TimeoutExpired:
                continue


def watch_all(seconds: float, after: float, beside: int, seed: int, output: Path, names: Sequence[str] = ()) -> Figures:
    """Has programs in random order watched until that has taken so many seconds in all."""
    figures, lock = Figures(), threading.Lock()
    order = tasks(after, names)
    random.Random(seed).shuffle(order)
    taken = 0

    def worker() -> None:
        nonlocal taken
        while True:
            with lock:
                # What others are at counts, too.
                if taken * SLICE * after >= seconds:
                    return
                number, taken = taken, taken + 1
            try:
                watched(order[number % len(order)], after, output / f"{number}", figures, lock)
            except Exception as error:  # noqa: BLE001 - the others go on
                with lock:
                    figures.problems.append(f"{order[number % len(order)]}: {error!r}")

    workers = [threading.Thread(target=worker) for _ in range(beside)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    return figures


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="of programs of tests/programs/fine, or works (default: all)")
    parser.add_argument("--seconds", type=float, default=7200.0, help="for which jobs are watched, in all")
    parser.add_argument("--after", type=float, default=20.0, help="seconds after which the alarm is given")
    parser.add_argument("--beside", type=int, default=4, help="jobs side by side")
    parser.add_argument("--seed", type=int, default=1, help="of the order")
    parser.add_argument("-o", "--output", type=Path, required=True, help="a new directory for what watches write")
    chosen = parser.parse_args(arguments)
    chosen.output.mkdir()
    # A shell starts background jobs with SIGINT ignored, and so would be the jobs that are ended by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.nice(10)
    figures = watch_all(chosen.seconds, chosen.after, chosen.beside, chosen.seed, chosen.output, chosen.names)
    print(*figures.alarms, *figures.problems, sep="\n\n")
    print(f"watched: {figures.watched:.0f} s in {figures.runs} runs, --after {chosen.after:g}s")
    print(f"false alarms: {len(figures.alarms)}; other problems: {len(figures.problems)}")
    return 1 if figures.alarms or figures.problems else 0


if __name__ == "__main__":
    sys.exit(main())
