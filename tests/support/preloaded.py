"""``mpi-queues`` without the time that Python takes to load it: a process that has it loaded forks for each command.

A quarter of a second each, which hundreds of tests would spend. What a command sees is as in a process of its own, but
for its parent and the name of the process.
"""

from __future__ import annotations

import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from typing import Any, Callable, Dict, List, NoReturn, Sequence

from .paths import MPI_QUEUES, PROJECT

#: What Python reads as it starts: where one of these has changed the command needs a Python of its own.
_OF_PYTHON = ("PYTHON", "LC_", "LANG", "LD_")

#: Standard streams, and where the status is told.
_DESCRIPTORS = 4


class Preloaded:
    """The process that forks."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._environment = _read_by_python(os.environ)
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [MPI_QUEUES.with_name("python"), "-m", "support.preloaded", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd=PROJECT / "tests",
            )

    def fits(self) -> bool:
        """Whether a command of now would be the same in a Python of its own."""
        return self._environment == _read_by_python(os.environ) and self._process.poll() is None

    def run(self, arguments: Sequence[str], timeout: float) -> subprocess.CompletedProcess[str]:
        """As ``subprocess.run`` with captured output and an empty standard input."""
        request = json.dumps({"arguments": list(arguments), "environment": dict(os.environ), "cwd": os.getcwd()})
        ours, told = socket.socketpair()
        with open(os.devnull, "rb") as empty, ours:
            pipes = [os.pipe(), os.pipe()]
            handed = [empty.fileno(), pipes[0][1], pipes[1][1], told.fileno()]
            with told, self._lock:
                self._ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * len(request) + 4096)
                socket.send_fds(self._ours, [request.encode()], handed)
            texts: List[bytearray] = [bytearray(), bytearray()]
            for _, write in pipes:
                os.close(write)
            with ours.makefile("r", encoding="ascii") as lines:
                pid = int(lines.readline())
                timer = threading.Timer(timeout, os.kill, (pid, signal.SIGKILL))
                timer.start()
                try:
                    _read_all([read for read, _ in pipes], texts)
                    status = int(lines.readline())
                finally:
                    timer.cancel()
                    for read, _ in pipes:
                        os.close(read)
        out, err = (text.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n") for text in texts)
        return subprocess.CompletedProcess([str(MPI_QUEUES), *arguments], status, out, err)

    def end(self) -> None:
        """Ends the process; what it has started goes on."""
        self._ours.close()
        self._process.wait()


@functools.lru_cache(maxsize=1)
def preloaded() -> Preloaded:
    """That of this process."""
    return Preloaded()


def end() -> None:
    """Ends that of this process."""
    if preloaded.cache_info().currsize:
        preloaded().end()
        preloaded.cache_clear()


def _read_by_python(environment: os._Environ[str]) -> Dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_OF_PYTHON)}


def _read_all(descriptors: Sequence[int], texts: Sequence[bytearray]) -> None:
    left = dict(zip(descriptors, texts))
    while left:
        for descriptor in select.select(list(left), [], [])[0]:
            piece = os.read(descriptor, 1 << 16)
            left[descriptor].extend(piece)
            if not piece:
                del left[descriptor]


def _serve(requests: socket.socket) -> None:
    """Forks for each request, until nobody asks."""
    from mpi_queues.cli import command_line

    # Nobody waits for those who wait for the commands.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 1 << 20, _DESCRIPTORS)
        if not message:
            return
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            requests.close()
            _run(json.loads(message), descriptors, command_line.main)
        for descriptor in descriptors:
            os.close(descriptor)


def _run(request: Dict[str, Any], descriptors: Sequence[int], main: Callable[[], int]) -> NoReturn:
    """Runs the command in a child, and tells its process and its status."""
    told = descriptors[-1]
    if child := os.fork():
        for descriptor in descriptors[:-1]:
            os.close(descriptor)
        os.write(told, f"{child}\n".encode())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(told, f"{status}\n".encode())
        os._exit(0)
    for number, descriptor in enumerate(descriptors[:-1]):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [str(MPI_QUEUES), *request["arguments"]]
    from mpi_queues import starting

    # As the package does where it is imported by the command.
    starting.guard()
    sys.exit(main())


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
