"""Both debuggers behind one face, for what must be the same in them."""

from __future__ import annotations

import pathlib
from typing import Any, Dict, List, Optional, Sequence, Tuple

import driver
import kept
from support.jobs import Job

LLDB_LOADER = driver.ROOT / "lldb-scripts" / "mpi_queues.py"
LLDB = "lldb-19"


def slow_server(directory: pathlib.Path) -> Dict[str, str]:
    """The environment in which lldb's own server takes longer for its first answer than lldb waits by itself."""
    program = directory / "lldb-server"
    program.write_text('#!/bin/sh\nsleep 7\nexec /usr/bin/lldb-server-19 "$@"\n')
    program.chmod(0o755)
    return {"LLDB_DEBUGSERVER_PATH": str(program)}


class Gdb:
    """gdb in batch mode."""

    name = "gdb"
    process = "inferior"
    setting = "set mpi"
    no_process = "attach PID"
    #: Between the outputs of commands.
    _MARK = "\n==\n"
    #: The one that is kept, of each class.
    _started: Optional[kept.Kept] = None

    def run(self, *commands: str, environment: Optional[Dict[str, str]] = None) -> List[str]:
        """What each command prints. A debugger is started for them only where they change more than what it debugs."""
        if environment is None and kept.only_asks(commands):
            output, _ = self.kept(commands)
        else:
            marked = [line for command in commands for line in (command, 'printf "\\n==\\n"')]
            output = driver.batch(marked, environment=environment)
        for wrong in ("Traceback", "Python Exception", "Fatal signal", "internal-error"):
            assert wrong not in output, output
        return output.split(self._MARK)[: len(commands)]

    @property
    def command(self) -> List[str]:
        """The command that starts it with our commands and ``in_debugger.py``."""
        return [*driver.BATCH, "-ex", f"source {driver.LOADER}", "-ex", f"source {kept.SCRIPT}"]

    def kept(self, commands: Sequence[str]) -> Tuple[str, Any]:
        """What the debugger that is kept prints and answers; it is started where there is none."""
        mine = type(self)
        if mine._started is None:
            mine._started = kept.Kept(self.command, driver.TIMEOUT)
        try:
            return mine._started.run(commands)
        except AssertionError:
            mine._started = None
            raise

    def close(self) -> None:
        """Ends the debugger that is kept."""
        mine = type(self)
        if mine._started is not None:
            mine._started.close()
            mine._started = None

    def attach(self, pid: int, number: int = 0) -> List[str]:
        """The commands that attach to a further process."""
        first = [] if number == 0 else ["add-inferior -no-connection", f"inferior {number + 1}"]
        return [*first, f"attach {pid}"]

    def label(self, pid: int, number: int = 0) -> str:
        return f"inferior {number + 1} (pid {pid})"

    def at_rank(self, job: Job, rank: int, *commands: str) -> str:
        """What the commands print on a rank of the job, which goes on afterwards."""
        return self.at(job, rank, *commands)[-1]

    def at(self, job: Job, rank: int, *commands: str) -> List[str]:
        """What each command prints on a rank of the job, which goes on afterwards."""
        attach = self.attach(job.pids[rank])
        outputs = self.run(*attach, *commands)[len(attach) :]
        job.assert_running()
        return outputs


class Lldb(Gdb):
    """lldb, as a program that embeds it runs commands."""

    name = "lldb"
    process = "target"
    _started = None
    setting = "mpi config"
    no_process = "process attach -p PID"

    def run(self, *commands: str, environment: Optional[Dict[str, str]] = None) -> List[str]:
        return [output + error for output, error, _ in self.results(*commands, environment=environment)]

    @property
    def command(self) -> List[str]:
        return [LLDB, "--no-lldbinit", "--batch", "-o", f"command script import {kept.SCRIPT}"]

    def results(
        self, *commands: str, environment: Optional[Dict[str, str]] = None, load: bool = True
    ) -> List[List[Any]]:
        """Output, error and success of each command."""
        load_ours = f"command script import {LLDB_LOADER}"
        if environment is None and load and kept.only_asks(commands):
            first = [] if self._started is not None else [load_ours]
            said, answered = self.kept([*first, *commands])
            answered = answered[len(first) :]
        else:
            first = [load_ours] if load else []
            fresh = kept.Kept(self.command, driver.TIMEOUT, {**(environment or {}), "ONCE": "1"})
            try:
                said, answered = fresh.run([*first, *commands])
            finally:
                fresh.close()
            answered = answered[len(first) :]
        assert "Traceback" not in said, said
        found: List[List[Any]] = answered
        return found

    def attach(self, pid: int, number: int = 0) -> List[str]:
        # A target of its own for each.
        return ['target create ""', f"process attach -p {pid}"] if number else [f"process attach -p {pid}"]

    def label(self, pid: int, number: int = 0) -> str:
        return f"target #{number} (pid {pid})"


DEBUGGERS: Sequence[Gdb] = (Gdb(), Lldb())


def close_all() -> None:
    """Ends the debuggers that are kept."""
    for debugger in DEBUGGERS:
        debugger.close()
