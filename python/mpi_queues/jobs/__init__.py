"""Starts an MPI program under a real launcher, waits until its ranks are ready, and ends it whatever happens.

A rank says that it is ready by a line of its own on standard output, ``ready``, flushed. In C, Fortran and Python:

    printf("ready\\n"); fflush(stdout);
    print '(a)', 'ready'; flush(6)
    print("ready", flush=True)

Each rank's standard output goes to a file of its own, so that the lines of ranks never mix. The process that the
launcher starts must become the rank itself: a script that runs the program uses ``exec``.

    >>> with Job("./demo", ranks=3) as job:
    ...     print(job.snapshot().rank(0).calls[0]["caller"])
    collect_results
"""

from __future__ import annotations

import json
import os
import pathlib
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Sequence, Union

from .. import api, keeper
from .._native import Diagnosis, Snapshot
from ..errors import UsageError, UserError
from ..system import advice, processes
from ..system.watching import watch
from . import environment
from .hanging import Hang, HangWatch
from .output import Lines, end_of
from .programs import Path, executable

#: What a rank prints when it is ready.
READY = "ready"

#: Seconds that a loaded machine may need to start a small job.
START_TIMEOUT = 60.0

#: Seconds in which a job that was told to end has ended; what is left then is killed from here.
_END_TIMEOUT = 30.0


#: What the launcher starts in place of each rank.
RANK_SCRIPT = pathlib.Path(__file__).with_name("rank.py")


class StartJob(Protocol):
    """The type of the pytest fixture ``mpi_job``."""

    def __call__(
        self,
        program: Path,
        *,
        ranks: int = 2,
        args: Sequence[str] = (),
        env: Optional[Mapping[str, Optional[str]]] = None,
        cwd: Optional[Path] = None,
        timeout: float = START_TIMEOUT,
        ready: Optional[str] = None,
        launcher: Path = "mpirun",
        options: Sequence[str] = (),
        hang_after: Optional[float] = None,
        hang_directory: Optional[Path] = None,
    ) -> Job:
        """Starts a job (see ``Job``) that is ended with the test. A test whose job hangs fails, with the diagnosis as
        its message; the directory is ``hang`` below ``tmp_path`` where it is None."""


class Job:
    """An MPI job all of whose ranks have said that they are ready, or have been started (``hang_after``). A context
    manager: it ends with the ``with``.

    Args:
        program: what each rank runs. A name without a slash is searched for in PATH.
        ranks: how many, also more than there are processors.
        args: arguments of the program.
        env: variables added to the environment; None takes one away.
        cwd: the working directory of the job; ours where it is None.
        timeout: seconds until all ranks must be ready.
        ready: the line that a rank prints when it is ready: ``ready``, where that is None. With ``hang_after`` None is
            no line: such a job is there once its ranks are started, and they may be in front of MPI_Init.
        launcher: ``mpirun``, or the path of another one; that of Open MPI 4 or 5, or of MPICH.
        options: further options of the launcher.
        hang_after: where nothing of the ranks has moved for so many seconds, once the job is there, they are recorded
            and diagnosed, and the main thread gets an exception, wherever it stands: ``hang_error`` of the diagnosis.
        hang_directory: where both are written then.
        hang_error: makes that exception of its message.
        late: is called where ranks take too long to be ready, while they are there, with the job.

    Where the environment does not say otherwise, Open MPI uses the pml ob1, whose queues can be read, and its ranks
    share processors. ``TMPDIR`` of the job is removed with it.

    Raises:
        UserError: where the launcher or the program is not there, the job ends before all ranks are ready, or they
            take too long; with what the job has printed.
    """

    def __init__(
        self,
        program: Path,
        *,
        ranks: int = 2,
        args: Sequence[str] = (),
        env: Optional[Mapping[str, Optional[str]]] = None,
        cwd: Optional[Path] = None,
        timeout: float = START_TIMEOUT,
        ready: Optional[str] = None,
        launcher: Path = "mpirun",
        options: Sequence[str] = (),
        hang_after: Optional[float] = None,
        hang_directory: Optional[Path] = None,
        hang_error: Callable[[str], BaseException] = Hang,
        late: Optional[Callable[[Job], None]] = None,
    ) -> None:
        if hang_after is not None and not (hang_after > 0 and hang_directory is not None):
            raise UsageError(
                f"hang_after={hang_after!r}: needs a number of seconds, and a directory to write into",
                help="such as hang_after=30, hang_directory=tmp_path",
            )
        if ranks < 1:
            raise UsageError(f"{ranks} ranks: a job has at least one", help="give ranks=N")
        self.ranks = ranks
        #: The absolute path of what the ranks run.
        self.program = executable(program, "program", "compile it first, for instance: mpicc -g -o PROGRAM PROGRAM.c")
        found = executable(launcher, "launcher", f"{advice.install('openmpi-bin')} (or mpich)")
        #: What was typed, so to say; for messages.
        self.command = [str(launcher), "-n", str(ranks), *options, self.program, *args]
        #: The launcher's process id, and its status once it has ended, negative for a signal.
        self.launcher_pid = 0
        self.returncode: Optional[int] = None
        #: What each rank prints when it is ready; None where that is not waited for.
        self._ready_line: Optional[bytes] = None
        if ready is not None or hang_after is None:
            self._ready_line = (READY if ready is None else ready).encode()
        self._answers = b""
        self._pids: List[int] = []
        self._output: Optional[str] = None
        self._hang: Optional[HangWatch] = None
        #: Only one may read the processes at a time.
        self._reading = threading.Lock()
        # A short path: it becomes part of socket names, which are limited to 107 bytes.
        short = "/tmp" if os.access("/tmp", os.W_OK | os.X_OK) else None
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="mpi-queues-", dir=short))
        self._keeper = self._start_keeper()
        try:
            rank = [sys.executable, "-I", "-S", str(RANK_SCRIPT), str(self.directory), self.program, *args]
            self._say(
                {
                    "command": [found, "-n", str(ranks), *options, *rank],
                    "environment": self._environment(env or {}),
                    "cwd": None if cwd is None else os.fspath(cwd),
                    "directory": str(self.directory),
                }
            )
            self._await_ready(time.monotonic() + timeout, timeout, late)
            if hang_after is not None and hang_directory is not None:
                self._hang = HangWatch(self._pids, hang_after, os.fspath(hang_directory), self._reading, hang_error)
        except BaseException:
            self.end()
            raise

    def _start_keeper(self) -> subprocess.Popen[bytes]:
        package = str(pathlib.Path(__file__).resolve().parents[2])
        code = "import sys; sys.path.insert(0, sys.argv[1]); from mpi_queues import keeper; keeper.main()"
        try:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-c", code, package],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # Unbuffered: nothing may be left in a buffer that would be written when the pipe is closed.
                bufsize=0,
                # Ctrl-C comes to us alone, and we end the job.
                start_new_session=True,
            )
        except BaseException:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise

    def _environment(self, asked: Mapping[str, Optional[str]]) -> Dict[str, str]:
        return environment.of_job(str(self.directory), asked)

    def _await_ready(self, deadline: float, timeout: float, late: Optional[Callable[[Job], None]]) -> None:
        waiting = {rank: Lines(self.directory / f"stdout.{rank}") for rank in range(self.ranks)}
        while True:
            ended = self._has_ended()
            waiting = {rank: lines for rank, lines in waiting.items() if not self._is_ready(rank, lines)}
            if not waiting:
                break
            missing = _ranks(list(waiting))
            if ended:
                raise self._failure(f"the job ended ({self._how()}) before {missing} had {self._said()}")
            if time.monotonic() > deadline:
                if late is not None:
                    self._pids = [int(file.read_text()) for file in self._files_of_pids() if file.exists()]
                    late(self)
                raise self._failure(f"{missing} had not {self._said()} within {timeout:g} s", help=self._help())
            self._hear(0.01)
        self._pids = [int(file.read_text()) for file in self._files_of_pids()]

    def _files_of_pids(self) -> List[pathlib.Path]:
        return [self.directory / f"pid.{rank}" for rank in range(self.ranks)]

    def _is_ready(self, rank: int, lines: Lines) -> bool:
        if self._ready_line is None:
            return (self.directory / f"pid.{rank}").exists()
        return lines.contain(self._ready_line)

    def _said(self) -> str:
        """What a rank that is ready has done."""
        if self._ready_line is None:
            return "been started"
        return f"printed the line {self._ready_line.decode(errors='replace')}"

    def _help(self) -> str:
        more = "give more time: timeout=SECONDS"
        if self._ready_line is None:
            return more
        return (
            f"print it on a line of its own and flush it, or {more}; for a program that prints none: "
            "hang_after=SECONDS and job.wait()"
        )

    def _how(self) -> str:
        code = self.returncode or 0
        return f"signal {-code}" if code < 0 else f"status {code}"

    def _failure(self, message: str, help: str = "") -> UserError:
        self.end()
        said = self.output.strip()
        printed = f"; it printed:\n{said}" if said else "; it printed nothing"
        return UserError(f"{shlex.join(self.command)}: {message}{printed}", help=help, kind="no_job")

    def _say(self, word: Union[str, Dict[str, Any]]) -> None:
        assert self._keeper.stdin is not None
        data = (word if isinstance(word, str) else json.dumps(word)).encode() + b"\n"
        while data:
            data = data[self._keeper.stdin.write(data) :]

    def _hear(self, seconds: float) -> None:
        """Takes what the keeper says within that time."""
        assert self._keeper.stdout is not None
        if not select.select([self._keeper.stdout], [], [], max(0.0, seconds))[0]:
            return
        piece = os.read(self._keeper.stdout.fileno(), 4096)
        if not piece and self.returncode is None:
            # Somebody killed the keeper.
            self.returncode = -9
        *lines, self._answers = (self._answers + piece).split(b"\n")
        for line in lines:
            said = json.loads(line)
            self.launcher_pid = said.get("launcher", self.launcher_pid)
            self.returncode = said.get("ended", self.returncode)
            if "failed" in said:
                # What a shell says of a command that it cannot start.
                self.returncode = 127
                raise UserError(f"{self.command[0]} cannot be started: {said['failed']}", kind="no_job")

    def _has_ended(self) -> bool:
        self._hear(0)
        return self.returncode is not None

    @property
    def pids(self) -> List[int]:
        """The process id of each rank, in rank order."""
        return list(self._pids)

    @property
    def output(self) -> str:
        """What the job has printed, as far as it has flushed it: the standard output of each rank in rank order, then
        the standard error of all and what the launcher itself has said."""
        if self._output is not None:
            return self._output
        files = [self.directory / f"stdout.{rank}" for rank in range(self.ranks)]
        return "".join(end_of(file) for file in (*files, self.directory / "launcher"))

    def snapshot(self, via: str = "auto", *, source: str = "auto", timeout: float = 60.0) -> Snapshot:
        """Reads all ranks; they go on afterwards.

        Args:
            via, source, timeout: as for ``mpi_queues.attach``.

        Raises:
            UserError: where a rank could not be read, or the job has ended.
        """
        if self._output is not None:
            raise UserError(f"{shlex.join(self.command)}: the job was ended", kind="no_job")
        with self._reading:
            snapshot = api.attach(self._pids, via=via, source=source, timeout=timeout)
        if snapshot.problems:
            raise UserError("\n".join(snapshot.problems), kind="not_read")
        return snapshot

    def diagnose(
        self, via: str = "auto", *, interval: float = 0.5, source: str = "auto", timeout: float = 60.0
    ) -> Diagnosis:
        """Why it is stuck, from two looks: all ranks are read, go on for ``interval`` seconds, and are read again.

        Args:
            via, source, timeout: as for ``snapshot``.

        Raises:
            UserError: as ``snapshot``.
        """
        first = self.snapshot(via, source=source, timeout=timeout)
        # A rank that somebody has stopped does not move, whatever it waits for.
        running = [pid for pid in self._pids if processes.state(pid) not in ("T", "t")]
        watched = watch(running, time.monotonic() + interval)
        second = self.snapshot(via, source=source, timeout=timeout)
        return second.diagnose(
            first.only(running),
            interval_ms=int(interval * 1000),
            moving=sorted(watched.moving),
            unseen=sorted(watched.unseen),
        )

    def wait(self, timeout: Optional[float] = None) -> int:
        """Waits until the job has ended by itself; the launcher's status, negative for a signal.

        Raises:
            UserError: where it takes longer than ``timeout`` seconds.
            BaseException: where it hangs, as ``hang_after`` says.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._has_ended():
            if deadline is not None and time.monotonic() > deadline:
                raise UserError(
                    f"{shlex.join(self.command)}: not ended within {timeout:g} s",
                    help="to see why, call diagnose() of the job, or give it hang_after=SECONDS",
                    kind="timeout",
                )
            self._hear(0.1)
        self.check_hang()
        assert self.returncode is not None
        return self.returncode

    def check_hang(self) -> None:
        """Raises what a hang raises, where nobody has got that yet.

        Raises:
            BaseException: as ``hang_after`` says.
        """
        if self._hang is not None:
            self._hang.check()

    def end(self) -> None:
        """Ends every process of the job and removes its directory. What it printed stays in ``output``."""
        if self._output is not None:
            return
        if self._hang is not None:
            self._hang.close()
        process = self._keeper
        assert process.stdin is not None and process.stdout is not None
        try:
            try:
                # Before the launcher says that its ranks were killed.
                output = None if self._has_ended() else self.output
                self._say("end")
                deadline = time.monotonic() + _END_TIMEOUT
                while not self._has_ended() and time.monotonic() < deadline:
                    self._hear(0.1)
                self._output = self.output if output is None else output
                self._say("remove")
            except (BrokenPipeError, UserError):
                # No launcher was started, or somebody killed the keeper.
                self._output = self.output
        finally:
            # Also where Ctrl-C comes here: the keeper goes on ending the job.
            process.stdin.close()
            process.stdout.close()
        try:
            process.wait(_END_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.returncode:
            keeper.end_members(str(self.directory))
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def __repr__(self) -> str:
        state = "running" if self._output is None else "ended"
        return f"<mpi_queues.jobs.Job {shlex.join(self.command)}: {state}, pids {self._pids}>"


def _ranks(ranks: List[int]) -> str:
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    shown = ", ".join(str(rank) for rank in ranks[:10])
    return f"ranks {shown}" + (f" and {len(ranks) - 10} more" if len(ranks) > 10 else "")
