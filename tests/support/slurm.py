"""A Slurm of virtual nodes on this machine, which the tests start and end: Debian's packages, no system services."""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import secrets
import shlex
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Dict, List, Mapping, Optional, Sequence

from . import processes
from .paths import SPINNING

#: (SchedMD/slurm, doc/man/man5/slurm.conf.5: several slurmd on one host, each with a name and a port of its own.)
CONFIGURATION = """\
ClusterName=virtual
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
# Ranks are known by the number of their job, and another test may have a cluster on this machine, too.
FirstJobId={controller_port}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool/%n
TmpFS={directory}/tmp/%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def _free_ports(count: int) -> List[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def _count(path: Path, word: bytes) -> int:
    return path.read_bytes().count(word) if path.exists() else 0


class Slurm:
    """A cluster. A context manager: all of it ends with the ``with``."""

    def __init__(self, nodes: int = 4) -> None:
        self.nodes = [f"n{number}" for number in range(1, nodes + 1)]
        self._kept = tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp")
        self.directory = Path(self._kept.name)
        # Daemons of other users than root go through it, too.
        self.directory.chmod(0o755)
        self.environment: Dict[str, str] = {**os.environ, "SLURM_CONF": str(self.directory / "slurm.conf")}
        self.daemons: Dict[str, subprocess.Popen[bytes]] = {}
        self.jobs: List[subprocess.Popen[bytes]] = []
        self._configure()

    def _configure(self) -> None:
        for name in self.nodes:
            # PMIx needs them.
            (self.directory / "spool" / name).mkdir(parents=True)
            (self.directory / "tmp" / name).mkdir(parents=True)
        (self.directory / "state").mkdir()
        key = self.directory / "munge.key"
        key.write_bytes(secrets.token_bytes(64))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        controller_port, *ports = _free_ports(len(self.nodes) + 1)
        text = CONFIGURATION.format(
            host=host,
            controller_port=controller_port,
            directory=self.directory,
            user=pwd.getpwuid(os.getuid()).pw_name,
        )
        for name, port in zip(self.nodes, ports):
            text += f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=8 RealMemory=1000\n"
        # The partition names nodes that must be there before it.
        lines = sorted(text.splitlines(), key=lambda line: line.startswith("PartitionName"))
        (self.directory / "slurm.conf").write_text("\n".join(lines) + "\n")

    def __enter__(self) -> Slurm:
        try:
            munge = [
                "munged",
                "--force",
                "--foreground",
                f"--key-file={self.directory}/munge.key",
                f"--socket={self.directory}/munge.socket",
                f"--pid-file={self.directory}/munged.pid",
                f"--log-file={self.directory}/munged.log",
                f"--seed-file={self.directory}/munged.seed",
            ]
            self._start("munged", munge)
            processes.wait_until((self.directory / "munge.socket").exists, "munged to listen")
            configuration = self.environment["SLURM_CONF"]
            self._start("slurmctld", ["slurmctld", "-D", "-f", configuration])
            for name in self.nodes:
                self.start_node(name)
            processes.wait_until(lambda: self.idle() == len(self.nodes), "all nodes to be idle")
        except BaseException:
            self.end()
            raise
        return self

    def start_node(self, name: str) -> None:
        """Starts the daemon of a node."""
        self._start(name, ["slurmd", "-D", "-N", name, "-f", self.environment["SLURM_CONF"]])

    def kill_node(self, name: str) -> None:
        """The daemon of a node is gone at once; what it has started runs on."""
        self.daemons[name].kill()
        self.daemons.pop(name).wait()

    def state(self, node: str, state: str) -> None:
        """Has the controller take a node for something else, such as ``drain`` or ``resume``."""
        command = ["scontrol", "update", f"NodeName={node}", f"State={state}", "Reason=test"]
        subprocess.run(command, env=self.environment, check=True)

    def _start(self, name: str, command: Sequence[str]) -> None:
        with open(self.directory / f"{name}.output", "ab") as output:
            self.daemons[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self.environment,
                # Its ranks have a low priority for their session: it must not be that of the tests.
                start_new_session=True,
            )

    def idle(self) -> int:
        """How many nodes wait for work."""
        told = subprocess.run(
            ["sinfo", "--noheader", "--states=idle", "--format=%D"],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return int(told.stdout) if told.stdout.strip().isdigit() else 0

    def run(
        self,
        program: Path,
        ranks: int,
        environment: Mapping[str, str],
        nodes: Optional[int] = None,
        arguments: Sequence[str] = (),
    ) -> str:
        """Starts an MPI program on so many nodes (default: one rank each); the number of its job, once all ranks have
        printed ``ready``. Ranks have a low priority: many wait by spinning."""
        command = [str(SPINNING), str(program), *arguments]
        start = functools.partial(self._run, ["srun", "--mpi=pmix"], command, ranks, environment, nodes or ranks)
        try:
            return start()
        except AssertionError as error:
            # A rank of Open MPI 5.0.7 may crash in MPI_Init, where a message comes from one that is through with it.
            if not all(name in str(error) for name in ("ompi_mpi_init", "mca_pml_ob1_recv_frag_callback_match")):
                raise
        return start()

    def run_script(
        self, lines: str, ranks: int, environment: Mapping[str, str], output: Path, options: Sequence[str] = ()
    ) -> str:
        """Has ``sbatch`` start a script, which starts so many ranks on as many nodes; the number of its job, once all
        of them have printed ``ready``. What it prints is in the file ``output``."""
        script = self.directory / f"script{len(self.jobs)}"
        script.write_text(f"#!/bin/bash\n{lines}")
        starter = ["sbatch", "--wait", f"--output={output}", *options]
        return self._run(starter, [str(script)], ranks, environment, ranks, output)

    def run_by_mpirun(self, program: Path, ranks: int, environment: Mapping[str, str], allocates: str) -> str:
        """The same by Open MPI's mpirun in an allocation: of ``salloc``, or of a script that ``sbatch`` starts."""
        command = ["mpirun.openmpi", str(SPINNING), str(program)]
        if allocates == "salloc":
            return self._run(["salloc"], command, ranks, environment, ranks)
        script = self.directory / f"script{len(self.jobs)}"
        script.write_text(f"#!/bin/sh\nexec {shlex.join(command)}\n")
        output = self.directory / f"job{len(self.jobs)}.output"
        return self._run(["sbatch", "--wait", f"--output={output}"], [str(script)], ranks, environment, ranks)

    def _run(
        self,
        starter: Sequence[str],
        command: Sequence[str],
        ranks: int,
        environment: Mapping[str, str],
        nodes: int,
        printed: Optional[Path] = None,
    ) -> str:
        """``printed``: where the ranks' output goes; None where it goes to that of the starter."""
        output = printed or self.directory / f"job{len(self.jobs)}.output"
        name = f"job{len(self.jobs)}"
        options = [f"--nodes={nodes}", f"--ntasks={ranks}", f"--job-name={name}"]
        with open(output if printed is None else os.devnull, "ab") as file:
            job = subprocess.Popen(
                [*starter, *options, *command],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env={**self.environment, **environment},
                start_new_session=True,
            )
        self.jobs.append(job)
        try:
            processes.wait_until(
                lambda: _count(output, b"ready") == ranks or job.poll() is not None, "all ranks", timeout=120
            )
            assert job.poll() is None, output.read_text(errors="replace") if output.exists() else "nothing was printed"
        except AssertionError as error:
            subprocess.run(["scancel", f"--name={name}"], env=self.environment, check=False)
            raise AssertionError(f"{error}\n{self._state(output)}") from error
        except BaseException:
            subprocess.run(["scancel", f"--name={name}"], env=self.environment, check=False)
            raise
        told = subprocess.run(
            ["squeue", "--noheader", f"--name={name}", "--format=%A"],
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return told.stdout.strip()

    def _state(self, output: Path) -> str:
        """What a person would look at where a job does not start."""
        told = [output.read_text(errors="replace") if output.exists() else "nothing was printed"]
        for command in (["sinfo", "--long", "--Node"], ["squeue", "--long"]):
            asked = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
            told.append(asked.stdout)
        return "\n".join(told)

    def cancel(self, number: str) -> None:
        """Ends a job, and waits until its nodes are free."""
        busy = len(self.nodes) - self.idle()
        subprocess.run(["scancel", number], env=self.environment, check=True)
        processes.wait_until(lambda: len(self.nodes) - self.idle() < max(1, busy), f"job {number} to end", timeout=60)

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Ends all jobs and all daemons."""
        if "slurmctld" in self.daemons:
            for name in self.nodes:
                if name not in self.daemons:
                    self.start_node(name)
            subprocess.run(["scancel", f"--user={os.getuid()}"], env=self.environment, check=False)
            with contextlib.suppress(AssertionError):
                processes.wait_until(lambda: self.idle() == len(self.nodes), "the jobs to end", timeout=30)
        for job in self.jobs:
            with contextlib.suppress(ProcessLookupError):
                job.kill()
            job.wait()
        # The nodes first, munge last.
        for name in sorted(self.daemons, key=lambda name: (name == "munged", name == "slurmctld")):
            daemon = self.daemons[name]
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons.clear()
        self._kept.cleanup()
