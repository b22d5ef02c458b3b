"""Both debuggers behind one face, for what must be the same in them."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
from typing import Dict, List, Optional, Sequence

import driver
from support.jobs import Job

HERE = pathlib.Path(__file__).resolve().parent
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

    def run(self, *commands: str, environment: Optional[Dict[str, str]] = None) -> List[str]:
        """What each command prints."""
        marked = [line for command in commands for line in (command, 'printf "\\n==\\n"')]
        output = driver.batch(marked, environment=environment)
        for wrong in ("Traceback", "Python Exception", "Fatal signal", "internal-error"):
            assert wrong not in output, output
        return output.split(self._MARK)[: len(commands)]

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
    setting = "mpi config"
    no_process = "process attach -p PID"

    def run(self, *commands: str, environment: Optional[Dict[str, str]] = None) -> List[str]:
        return [output + error for output, error, _ in self.results(*commands, environment=environment)]

    def results(
        self, *commands: str, environment: Optional[Dict[str, str]] = None, load: bool = True
    ) -> List[List[str]]:
        """Output, error and success of each command."""
        every = [f"command script import {LLDB_LOADER}", *commands] if load else list(commands)
        with tempfile.TemporaryDirectory(prefix="mq-") as directory:
            results = pathlib.Path(directory) / "results"
            given = {"LLDB_COMMANDS": json.dumps(every), "LLDB_RESULTS": str(results)}
            run = subprocess.run(
                [LLDB, "--no-lldbinit", "--batch", "-o", f"command script import {HERE / 'in_lldb.py'}"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=driver.TIMEOUT,
                env={**os.environ, **(environment or {}), **given},
                check=False,
            )
            assert results.exists(), run.stdout
            assert "Traceback" not in run.stdout, run.stdout
            found: List[List[str]] = json.loads(results.read_text())
        return found[1:] if load else found

    def attach(self, pid: int, number: int = 0) -> List[str]:
        # A target of its own for each.
        return ['target create ""', f"process attach -p {pid}"] if number else [f"process attach -p {pid}"]

    def label(self, pid: int, number: int = 0) -> str:
        return f"target #{number} (pid {pid})"


DEBUGGERS: Sequence[Gdb] = (Gdb(), Lldb())
