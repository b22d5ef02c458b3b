"""Jobs and processes of another user than whoever runs the tests; where that is not root, of the same.

No account is made: the kernel needs none.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import priority, processes
from .builds import MpiBuild, compile_program

AM_ROOT = os.geteuid() == 0
#: A user that nobody is. Whoever is not root cannot be somebody else.
OTHER = 61234 if AM_ROOT else os.getuid()
#: Groups beside the user's own.
GROUPS = [61236, 61237] if AM_ROOT else os.getgroups()


def rights(user: int) -> Dict[str, Any]:
    """What ``Popen`` needs to start a program as this user."""
    return {"user": user, "group": user, "extra_groups": GROUPS} if AM_ROOT else {}


def public_directory() -> Path:
    """A new directory in which every user may write."""
    place = Path(tempfile.mkdtemp(prefix="mpiq-users-"))
    place.chmod(0o1777)
    return place


class UsersJob:
    """An MPI job of a user, whose ranks have all reached the place where they hang."""

    def __init__(self, build: MpiBuild, program: str, *arguments: str, user: int = OTHER, ranks: int = 2) -> None:
        self.directory = public_directory()
        self.program = self.directory / program
        shutil.copy(compile_program(build, program), self.program)
        self.program.chmod(0o755)
        environment = {
            "PATH": os.defpath,
            "HOME": str(self.directory),
            "MPIQ_TRUTH": str(self.directory / "truth.%d.json"),
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        }
        with (self.directory / "out").open("wb") as out:
            self._launcher = subprocess.Popen(
                [str(build.mpirun), "-n", str(ranks), str(self.program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                env=environment,
                **rights(user),
            )
        self.truth: Dict[int, Any] = {}
        try:
            processes.wait_until(lambda: self._is_ready(ranks), f"the ranks of {program}", timeout=180.0)
        except BaseException:
            self.end()
            raise
        found = [one.pid for one in processes.descendants(self.pid) if self._runs(one.pid)]
        self.pids: List[int] = sorted(found, key=lambda pid: self._rank(pid))
        priority.behind_debuggers(self.pids)
        assert len(self.pids) == ranks, (found, (self.directory / "out").read_text())

    @property
    def pid(self) -> int:
        """Of its launcher."""
        return self._launcher.pid

    def _is_ready(self, ranks: int) -> bool:
        assert self._launcher.poll() is None, (self.directory / "out").read_text()
        for rank in range(ranks):
            path = self.directory / f"truth.{rank}.json"
            if rank not in self.truth and path.exists():
                self.truth[rank] = json.loads(path.read_bytes())
        return len(self.truth) == ranks

    def _runs(self, pid: int) -> bool:
        try:
            return os.readlink(f"/proc/{pid}/exe") == str(self.program)
        except OSError:
            return False

    def _rank(self, pid: int) -> int:
        told = dict(
            entry.split(b"=", 1)
            for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if entry.startswith((b"PMI_RANK=", b"OMPI_COMM_WORLD_RANK="))
        )
        return int(next(iter(told.values())))

    def end(self) -> None:
        """Ends all of it, and waits until it has."""
        below = processes.descendants(self.pid)
        self._launcher.send_signal(signal.SIGTERM)
        try:
            self._launcher.wait(10)
        except subprocess.TimeoutExpired:
            self._launcher.kill()
            self._launcher.wait()
        for one in below:
            if processes.is_alive(one):
                os.kill(one.pid, signal.SIGKILL)
        shutil.rmtree(self.directory, ignore_errors=True)


def identities(noted: str) -> Dict[str, List[int]]:
    """The users and groups in what a debugger has noted."""
    lines = [line.partition(":\t") for line in noted.splitlines()]
    return {name: [int(word) for word in words.split()] for name, _, words in lines if name in ("Uid", "Gid", "Groups")}


class Process:
    """A process of a user that does nothing, called as it is told, with a child that has this environment."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], user: Optional[int] = None) -> None:
        told = " ".join(f"{name}={value}" for name, value in environment.items())
        script = f"{told} sleep 1000 & echo $!; wait"
        self._process = subprocess.Popen(
            [command[0], "-c", script, *command[1:]],
            executable="/bin/sh",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            cwd="/",
            **(rights(user) if user is not None else {}),
        )
        self.pid = self._process.pid
        assert self._process.stdout is not None
        #: The child.
        self.child = int(self._process.stdout.readline())

    def end(self) -> None:
        """Ends both."""
        os.kill(self.child, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
