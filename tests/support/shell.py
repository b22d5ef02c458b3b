"""A shell into which the commands of a page are typed, with the MPI and the program that it speaks of."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Dict, List, Mapping, Optional

from mpi_queues.jobs.environment import of_job

from . import processes
from .builds import MpiBuild
from .output import fits
from .paths import MPI_QUEUES, PACKAGE, PROJECT

#: For how long ranks may still be on their way to where they hang, and a command may take (seconds).
PATIENCE = 90.0

_SAID = "-- that was it --"


class Shell:
    """A context manager: what was started in it ends with the ``with``."""

    def __init__(self, place: Path, build: Optional[MpiBuild], environment: Optional[Mapping[str, str]] = None) -> None:
        self.place = place
        shutil.copytree(PROJECT / "docs" / "examples", place, dirs_exist_ok=True)
        shutil.copyfile(PACKAGE / "data" / "demo.mpirec", place / "hang.mpirec")
        shutil.copyfile(PACKAGE / "data" / "demo.c", place / "demo.c")
        if build is None:
            made: Dict[str, str] = dict(os.environ)
        else:
            made = of_job(str(place), build.environment)
            made["PATH"] = f"{build.mpirun.parent}:{build.mpicc.parent}:{made['PATH']}"
        made["PATH"] = f"{MPI_QUEUES.parent}:{made['PATH']}"
        made.update(environment or {}, HOME=str(place), TERM="dumb")
        #: Whether a job runs in the background, whose ranks may be on their way.
        self.has_job = False
        self._bash = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=place,
            env=made,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )

    def __enter__(self) -> Shell:
        return self

    def type(self, command: str) -> str:
        """What is said to a command."""
        if command.endswith(" &"):
            self.has_job = True
            # A second number says which job is meant, whatever else runs on this machine.
            return self._say(f"{command[:-2]} </dev/null >job.output 2>&1 &\nJOB=$!")
        command = re.sub(r"(--job|ranks|watch) mpirun\b", r"\1 $JOB", command)
        return self._say(f"{{ {command}\n}} </dev/null")

    def check(self, command: str, shown: str) -> None:
        """Types a command, and compares what is said with what a page shows."""
        deadline = time.monotonic() + PATIENCE
        while True:
            said = self.type(command)
            assert "Traceback" not in said, said
            if fits(shown, said):
                return
            # Whoever is on the way has come at a later look.
            again = self.has_job and "mpi-queues" in command
            told = f"$ {command}\nsays:\n{said}\nthe page says:\n{shown}"
            assert again and time.monotonic() < deadline, f"{told}\nthe job says:\n{self._of_the_job()}"

    def _of_the_job(self) -> str:
        output = self.place / "job.output"
        return output.read_text(errors="replace") if output.exists() else "nothing"

    def _say(self, line: str) -> str:
        assert self._bash.stdin is not None and self._bash.stdout is not None
        self._bash.stdin.write(f"{line}\necho '{_SAID}'\n")
        self._bash.stdin.flush()
        # A command that does not end is ended with its shell, and so is the reading.
        watch = threading.Timer(PATIENCE, self._end)
        watch.start()
        said: List[str] = []
        for got in self._bash.stdout:
            if got == f"{_SAID}\n":
                break
            said.append(got)
        watch.cancel()
        assert self._bash.poll() is None, f"{line}: takes too long; it has said: {''.join(said)}"
        return "".join(said)

    def _end(self) -> None:
        for process in [*processes.descendants(self._bash.pid), processes.identity(self._bash.pid)]:
            if process is not None and processes.is_alive(process):
                os.kill(process.pid, signal.SIGKILL)

    def __exit__(self, *_: object) -> None:
        # The launcher ends its ranks.
        if self._bash.poll() is None and self.has_job:
            self._say("kill $(jobs -p) 2>/dev/null; wait")
        if self._bash.stdin is not None:
            self._bash.stdin.close()
        self._bash.wait(PATIENCE)
        if self._bash.stdout is not None:
            self._bash.stdout.close()
