"""Ctrl-C, SIGTERM and SIGKILL of the command line while it reads: the ranks run on as they did.

Several readings go on at once, each with a job of its own, so that one is interrupted at moments that it has on a busy
machine. Of each seed follow the command, the signal and when it comes.
"""

from __future__ import annotations

import concurrent.futures
import os
import queue
import random
import re
import signal
import subprocess
import tempfile
import time
from typing import Iterator, List, Optional, Sequence

from support import builds, processes
from support.cli import pid_options
from support.jobs import Job
from support.paths import MPI_QUEUES, PACKAGE

from .guarded import FORBIDDEN, Run

SHORT = range(3)
LONG = range(200)
MPIS = ("openmpi", "mpich")

#: So many readings at once for each processor.
AT_ONCE = 2
#: A reading takes about so long on a busy machine, in seconds.
READING = 1.0
#: After this it has not ended, in seconds.
PATIENCE = 60.0

#: How a command ends that was done before the signal.
DONE = (0, 1, 3)


def runs(seeds: Sequence[int], mpi: Optional[str] = None) -> Iterator[Run]:
    """One run a seed."""
    at_once = min(AT_ONCE * (os.cpu_count() or 1), 8, len(seeds))
    jobs: queue.SimpleQueue[Optional[Job]] = queue.SimpleQueue()
    for _ in range(at_once):
        jobs.put(None)

    def one(seed: int) -> Run:
        job = jobs.get()
        try:
            job = job or _job(mpi)
            run = _run(seed, job)
            if run.problems:
                job.end()
                job = None
            return run
        finally:
            jobs.put(job)

    try:
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            yield from pool.map(one, seeds)
    finally:
        while not jobs.empty():
            job = jobs.get()
            if job is not None:
                job.end()


def _job(mpi: Optional[str]) -> Job:
    build = builds.BUILDS[builds.DEBIAN if mpi == "openmpi" else builds.DEBIAN_MPICH]()
    return Job(build, "truth_comms", ranks=2)


def _run(seed: int, job: Job) -> Run:
    chance = random.Random(seed)
    sent = chance.choice((signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
    command = chance.choice(("show", "diagnose", "record"))
    after = chance.uniform(0.0, READING)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryFile() as told:
        file = ["-o", f"{directory}/x.mpirec"] if command == "record" else []
        tool = subprocess.Popen(
            [str(MPI_QUEUES), command, *file, *pid_options(job.pids)],
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
            # Whoever starts the tests may ignore Ctrl-C, and children inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        try:
            tool.wait(after)
        except subprocess.TimeoutExpired:
            tool.send_signal(sent)
        problems = _ended(tool)
        # Python itself, before it has started ours, ends by the signal.
        if not problems and tool.returncode not in (*DONE, 128 + sent, -sent):
            problems.append(f"status {tool.returncode}")
        told.seek(0)
        text = told.read().decode(errors="replace")
    # Before the first import of ours is done, Ctrl-C is Python's to tell of.
    begun = {"__init__.py", "starting.py"}.issuperset(re.findall(rf'File "{re.escape(str(PACKAGE))}/([^"]*)"', text))
    if not (begun and "KeyboardInterrupt" in text):
        problems += [f"{word!r} is printed:\n{text[-2000:]}" for word in FORBIDDEN if word in text]
    problems += _harmed(job)
    outcome = "done before" if tool.returncode in DONE else "interrupted"
    what = f"{seed}: {command}: {sent.name} after {after:.2f} s"
    return Run(what, tuple(problems), time.monotonic() - started, outcome)


def _ended(tool: subprocess.Popen[bytes]) -> List[str]:
    try:
        tool.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        tool.kill()
        tool.wait()
        return [f"it had not ended {PATIENCE:g} s after the signal"]
    return []


def _harmed(job: Job) -> List[str]:
    """Which ranks do not run as before, once they have had time to go on."""
    for pid in job.pids:
        try:
            processes.wait_until(lambda pid=pid: _runs(pid), f"pid {pid} to run on", 30.0)
        except AssertionError:
            return [f"pid {pid} is in state {processes.state(pid)}, not as it was: {job.output[-500:]}"]
    return []


def _runs(pid: int) -> bool:
    try:
        return processes.state(pid) in ("R", "S", "D") and processes.tracer(pid) == 0
    except OSError:
        return False
