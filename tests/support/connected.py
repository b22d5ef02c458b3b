"""Two jobs, each with a launcher of its own, that MPI_Comm_accept and MPI_Comm_connect bring together."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Dict, Iterator, List, Mapping

from .builds import MpiBuild
from .jobs import READY_TIMEOUT, Job, Truth
from .worlds import Place, in_universe

#: Ranks of the job that accepts, and of the one that connects.
SIZES = (2, 3)


class _Side(Job):
    """One of the two jobs, as soon as its ``first`` file is there: its port's name or what its ranks say."""

    def __init__(self, build: MpiBuild, world: int, port: Path, environment: Mapping[str, str]) -> None:
        self.world = world
        self._port = port
        super().__init__(build, "truth_connect", str(world), str(port), ranks=SIZES[world], env=environment)

    def told(self, rank: int) -> bool:
        """Whether a rank has written down what it posted."""
        path = Path(self.directory, f"truth.{self.world}.{rank}.json" if self.world else f"truth.{rank}.json")
        if rank not in self.truth and path.exists():
            self.truth[rank] = json.loads(path.read_bytes())
        return rank in self.truth

    def _is_ready(self, rank: int, lines: object) -> bool:
        # Who accepts waits for who connects, which is started afterwards.
        if self.world == 0:
            return self._port.exists() and Path(self.directory, f"pid.{rank}").exists()
        return self.told(rank)


class ConnectedJobs:
    """Both jobs, all of whose ranks have reached the place where they hang. A context manager: it ends both."""

    def __init__(self, build: MpiBuild) -> None:
        self.build = build
        self._stack = contextlib.ExitStack()
        try:
            place = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="mpi-queues-", dir="/tmp")))
            environment = self._stack.enter_context(_meeting_place(build, place))
            self.accepting = self._stack.enter_context(_Side(build, 0, place / "port", environment))
            self.connecting = self._stack.enter_context(_Side(build, 1, place / "port", environment))
            self._await_accepting()
        except BaseException:
            self._stack.close()
            raise

    def _await_accepting(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT
        while not all(self.accepting.told(rank) for rank in range(SIZES[0])):
            if time.monotonic() > deadline:
                raise AssertionError(f"those who accept are not ready:\n{self.accepting.output}")
            time.sleep(0.02)

    @property
    def worlds(self) -> Dict[Place, Truth]:
        """What each process says, by its world and rank."""
        sides = (self.accepting, self.connecting)
        return {(side.world, rank): truth for side in sides for rank, truth in side.truth.items()}

    @property
    def all_pids(self) -> List[int]:
        """Of every process, those of the job that accepts before the others."""
        return [truth["pid"] for _, truth in sorted(self.worlds.items())]

    def in_universe(self) -> Dict[int, Truth]:
        """What each process says, by pid, with places in the universe of both, the accepting job's first."""
        return in_universe(self.worlds, SIZES)

    def __enter__(self) -> ConnectedJobs:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


@contextlib.contextmanager
def _meeting_place(build: MpiBuild, place: Path) -> Iterator[Dict[str, str]]:
    """What two launchers need to hear of one another. MPICH's port names say all; Open MPI 4 has a server for them."""
    if build.is_mpich:
        # Of ch4 over UCX the name of a port is the address of the process, which is too long with all its transports.
        yield {"UCX_TLS": "tcp"}
        return
    uri = place / "server"
    program = build.mpirun.with_name("ompi-server")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_"))}
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": str(place)}
    # It ends with us, whatever becomes of us.
    command = ["setpriv", "--pdeathsig", "KILL", str(program), "--no-daemonize"]
    server = subprocess.Popen([*command, "-r", str(uri)], env={**environment, **allowed})
    try:
        deadline = time.monotonic() + READY_TIMEOUT
        while not (uri.exists() and uri.read_text().endswith("\n")):
            if server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"{program} is not ready (status {server.returncode})")
            time.sleep(0.02)
        yield {"OMPI_MCA_pmix_server_uri": f"file:{uri}"}
    finally:
        server.kill()
        server.wait()
