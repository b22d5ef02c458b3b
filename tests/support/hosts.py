"""Hosts on this machine: namespaces of the network, names, processes and mounts, each with an sshd of its own.

Nothing of the machine's own network, of its sshd or of ``~/.ssh`` is used or changed: all of it ends with the
namespaces, and these with whoever has made them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Mapping, Optional, Sequence

from . import processes
from .paths import SPINNING

#: Where jobs are started and looked at: a host without ranks.
LOGIN = "login"

#: What the first process of a host does: its name, a place for sshd's files, the names of the others. It is a bash,
#: which waits for whatever loses its parent.
BEGIN = """\
hostname {name}
ip link set lo up
mount -t tmpfs none /run
mkdir -p /run/sshd
mount --bind {directory}/hosts /etc/hosts
{sshd} -f {directory}/sshd_config -E {directory}/{name}.sshd
while true; do sleep 1000 & wait $!; done
"""

SSHD = """\
HostKey {directory}/host_key
AuthorizedKeysFile {directory}/user_key.pub
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
MaxStartups 200
PidFile /run/sshd.pid
SetEnv TMPDIR={directory}
"""

SSH = """\
IdentityFile {directory}/user_key
IdentitiesOnly yes
UserKnownHostsFile {directory}/known_hosts
GlobalKnownHostsFile none
StrictHostKeyChecking yes
BatchMode yes
LogLevel ERROR
"""

CLUSH = """\
[Main]
ssh_options: -F {directory}/ssh_config
connect_timeout: 10
"""


def why_not() -> Optional[str]:
    """Why there can be no such hosts here; None where there can."""
    if os.geteuid() != 0:
        return "only root makes namespaces"
    tried = subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False, text=True)
    return None if tried.returncode == 0 else f"no namespaces here: {tried.stderr.strip()}"


_UNSHARE = [
    *("unshare", "--net", "--uts", "--ipc", "--pid", "--mount", "--fork"),
    *("--kill-child=KILL", "--mount-proc", "--propagation=private"),
]


def _sshd() -> str:
    # Its path, which sshd wants to be started by.
    return shutil.which("sshd") or "/usr/sbin/sshd"


class Hosts:
    """Some hosts and the one to type on. A context manager: all of it ends with the ``with``."""

    def __init__(self, names: Sequence[str] = ("h1", "h2", "h3", "h4")) -> None:
        self.names = list(names)
        self._kept = tempfile.TemporaryDirectory(prefix="hosts-", dir="/tmp")
        self.directory = Path(self._kept.name)
        # As people have it: without what makes Python write at once, which the tests' own environment may have.
        mine = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        self.environment: Dict[str, str] = {
            **{name: value for name, value in mine.items() if not name.startswith(("SLURM_", "SSH_"))},
            "CLUSTERSHELL_CFGDIR": str(self.directory),
            # The Python that has ClusterShell, on gateways: not whatever is first in the path of the tests.
            "CLUSTERSHELL_GW_PYTHON_EXECUTABLE": "/usr/bin/python3",
        }
        self._first: Dict[str, subprocess.Popen[bytes]] = {}
        self._jobs: List[subprocess.Popen[bytes]] = []

    @property
    def ssh(self) -> str:
        """The command that reaches them."""
        return f"ssh -F {self.directory}/ssh_config"

    def __enter__(self) -> Hosts:
        try:
            self._configure()
            for name in [LOGIN, *self.names]:
                self._start(name)
            self._connect()
        except BaseException:
            self.end()
            raise
        return self

    def _configure(self) -> None:
        everyone = [LOGIN, *self.names]
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.directory / name], check=True)
        key = " ".join((self.directory / "host_key.pub").read_text().split()[:2])
        addresses = {name: f"10.99.0.{number}" for number, name in enumerate(everyone, 1)}
        self._addresses = addresses
        lines = ["127.0.0.1 localhost", *(f"{address} {name}" for name, address in addresses.items())]
        (self.directory / "hosts").write_text("\n".join(lines) + "\n")
        known = [f"{name},{address} {key}" for name, address in addresses.items()]
        (self.directory / "known_hosts").write_text("\n".join(known) + "\n")
        for name, text in (("sshd_config", SSHD), ("ssh_config", SSH), ("clush.conf", CLUSH)):
            (self.directory / name).write_text(text.format(directory=self.directory))

    def _start(self, name: str) -> None:
        script = BEGIN.format(name=name, directory=self.directory, sshd=_sshd())
        with open(self.directory / f"{name}.output", "ab") as output:
            self._first[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *_UNSHARE, "bash", "-ec", script],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # Its ranks have a low priority for their session: it must not be that of the tests.
                start_new_session=True,
            )
        processes.wait_until(
            lambda: "listening" in self._log(name) or self._first[name].poll() is not None, f"the sshd of {name}"
        )
        assert self._first[name].poll() is None, (self.directory / f"{name}.output").read_text(errors="replace")

    def _log(self, name: str) -> str:
        log = self.directory / f"{name}.sshd"
        return log.read_text(errors="replace") if log.exists() else ""

    def _connect(self) -> None:
        """Wires them all to one bridge, which is in the namespace of the host to type on."""

        def configure(name: str, *commands: str) -> None:
            for command in commands:
                subprocess.run([*self._inside(name, "--net"), *command.split()], check=True)

        configure(LOGIN, "ip link add eth0 type bridge", f"ip address add {self._addresses[LOGIN]}/24 dev eth0")
        configure(LOGIN, "ip link set eth0 up")
        for name in self.names:
            there = self.pid_of(name)
            configure(LOGIN, f"ip link add to-{name} type veth peer name eth0 netns {there}")
            configure(LOGIN, f"ip link set to-{name} master eth0 up")
            configure(name, f"ip address add {self._addresses[name]}/24 dev eth0", "ip link set eth0 up")

    def pid_of(self, name: str) -> int:
        """The first process of a host, as this machine numbers it."""
        (first,) = processes.children(self._first[name].pid)
        return first

    def _inside(self, name: str, *namespaces: str) -> List[str]:
        return ["nsenter", f"--target={self.pid_of(name)}", *(namespaces or ("--all",)), "--"]

    def command(self, *words: str, host: str = LOGIN) -> List[str]:
        """What runs a command on a host."""
        return [*self._inside(host), *words]

    def mpi_queues(self, *words: str, host: str = LOGIN) -> subprocess.CompletedProcess[str]:
        """What ``mpi-queues`` says there."""
        return subprocess.run(
            self.command(sys.executable, "-m", "mpi_queues.cli", *words, host=host),
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=150,
        )

    def run(
        self, program: Path, ranks: int, environment: Mapping[str, str], *options: str, launcher: str = LOGIN
    ) -> subprocess.Popen[bytes]:
        """Starts an MPI program, one rank on each of the first hosts, once all its ranks have printed ``ready``."""
        words = [
            *("mpirun.openmpi", "--host", ",".join(f"{name}:8" for name in self.names[:ranks]), "-n", str(ranks)),
            *("--map-by", "node", "--mca", "plm_rsh_agent", self.ssh),
            *("--mca", "oob_tcp_if_include", "eth0", "--mca", "btl_tcp_if_include", "eth0", "--mca", "btl", "tcp,self"),
            *options,
            # They wait by spinning.
            *(str(SPINNING), str(program)),
        ]
        return self._ready(words, ranks, environment, launcher)

    def run_by_hydra(self, program: Path, ranks: int, launcher: str) -> subprocess.Popen[bytes]:
        """The same by MPICH's mpiexec.hydra."""
        rsh = self.directory / "rsh"
        rsh.write_text(f'#!/bin/sh\nexec {self.ssh} "$@"\n')
        rsh.chmod(0o755)
        words = [
            *("mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", str(rsh), "-iface", "eth0"),
            *("-hosts", ",".join(self.names[:ranks]), "-ppn", "1", "-n", str(ranks), str(SPINNING), str(program)),
        ]
        return self._ready(words, ranks, {}, launcher)

    def _ready(
        self, words: Sequence[str], ranks: int, environment: Mapping[str, str], launcher: str
    ) -> subprocess.Popen[bytes]:
        output = self.directory / f"job{len(self._jobs)}.output"
        with open(output, "wb") as file:
            job = subprocess.Popen(
                self.command(*words, host=launcher),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env={**self.environment, **environment},
                start_new_session=True,
            )
        self._jobs.append(job)
        processes.wait_until(
            lambda: output.read_bytes().count(b"ready") == ranks or job.poll() is not None, "all ranks"
        )
        assert job.poll() is None, output.read_text(errors="replace")
        return job

    def running(self, program: str, host: Optional[str] = None) -> List[int]:
        """The processes of that name on a host (default: all of them), as this machine numbers them."""
        names = [host] if host is not None else [LOGIN, *self.names]
        return [
            process.pid
            for name in names
            if name in self._first and self._first[name].poll() is None
            for process in processes.descendants(self._first[name].pid)
            if _name(process.pid) == program[:15] and processes.state(process.pid) not in (None, "Z")
        ]

    def hide(self, directory: Path) -> None:
        """What is in a directory no longer exists on the hosts, but still where commands are typed."""
        for name in self.names:
            subprocess.run([*self._inside(name), "mount", "-t", "tmpfs", "none", directory], check=True)

    def unhide(self, directory: Path) -> None:
        """It is there again."""
        for name in self.names:
            subprocess.run([*self._inside(name), "umount", "--lazy", directory], check=True)

    def stop_sshd(self, name: str) -> None:
        """Nobody comes to a host any more; what runs there runs on."""
        subprocess.run(self.command("sh", "-c", "kill -9 $(cat /run/sshd.pid)", host=name), check=True)

    def start_sshd(self, name: str) -> None:
        """As before."""
        subprocess.run(self.command(_sshd(), "-f", f"{self.directory}/sshd_config", host=name), check=True)

    def end(self) -> None:
        """Ends all of it: what ran on a host ends with its first process."""
        for job in self._jobs:
            with contextlib.suppress(ProcessLookupError):
                job.kill()
        for first in self._first.values():
            first.kill()
            first.wait()
        for job in self._jobs:
            job.wait()
        self._first.clear()
        self._kept.cleanup()

    def __exit__(self, *_: object) -> None:
        self.end()


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""
