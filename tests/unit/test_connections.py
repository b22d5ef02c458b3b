"""What goes through connections among processes is counted by the kernel, and what goes elsewhere is not looked at."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import Iterator, Tuple

import pytest
from mpi_queues.system import connections
from support import processes

#: Connects, sends back what it reads, and ends with its connection.
ECHO = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
    while data := connection.recv(100):
        connection.sendall(data)
"""


@pytest.fixture(params=["127.0.0.1", "::1"])
def echo(request: pytest.FixtureRequest) -> Iterator[Tuple[socket.socket, int]]:
    """A connection, and the process at its other end."""
    address: str = request.param
    try:
        listener = socket.create_server((address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
    except OSError:
        pytest.skip(f"no network has {address} here")
    with listener, subprocess.Popen([sys.executable, "-c", ECHO, address, str(listener.getsockname()[1])]) as child:
        connection, _ = listener.accept()
        with connection:
            yield connection, child.pid


def test_who_sends_and_who_receives_has_moved(echo: Tuple[socket.socket, int]) -> None:
    connection, child = echo
    pids = [os.getpid(), child]
    before = connections.counted(pids)
    assert [len(before[pid]) for pid in pids] == [1, 1]
    assert connections.moved(before, connections.counted(pids)) == set()
    connection.sendall(b"x")
    assert connection.recv(1) == b"x"
    processes.wait_until(lambda: connections.moved(before, connections.counted(pids)) == set(pids), "both to be told")


def test_what_goes_to_others_is_not_looked_at(echo: Tuple[socket.socket, int]) -> None:
    _, child = echo
    assert connections.counted([child, os.getppid()]).get(child, {}) == {}
    assert connections.counted([child]) == {}
    assert connections.counted([child, 1 << 30]) == {}


def test_damaged_answers_end() -> None:
    for piece in (b"", bytes(15), bytes(64), b"\xff" * 64, b"\x10\0\0\0" + bytes(20), b"\x11\0\0\0" * 9):
        assert len(list(connections._messages(piece))) <= 4
        assert len(list(connections._attributes(piece))) <= 16
