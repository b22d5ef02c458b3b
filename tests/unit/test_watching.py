"""What is watched between two looks: what goes through connections among processes, and that Ctrl-C ends it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Iterator, List, Tuple

import pytest
from mpi_queues import _native

#: Connects, sends back what it reads, and ends with its connection.
ECHO = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
    while data := connection.recv(100):
        connection.sendall(data)
"""


class Pressed(Exception):
    """What the signal's function raises."""


def press(number: int, frame: object) -> None:
    """A function of a signal."""
    raise Pressed


def test_a_signal_ends_the_watch_and_is_told() -> None:
    before = signal.signal(signal.SIGALRM, press)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        begun = time.monotonic()
        with pytest.raises(Pressed):
            _native.watch([os.getpid()], 300.0)
        # It looks ten times, every 30 seconds.
        assert time.monotonic() - begun < 20
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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


def watched_while_sending(connection: socket.socket, pids: List[int]) -> Tuple[List[int], List[int]]:
    """What is seen while single bytes go to and fro."""
    ended = threading.Event()

    def send() -> None:
        while not ended.wait(0.01):
            connection.sendall(b"x")
            assert connection.recv(1) == b"x"

    sender = threading.Thread(target=send)
    sender.start()
    try:
        return _native.watch(pids, 0.5)
    finally:
        ended.set()
        sender.join()


def test_who_sends_and_who_receives_has_moved(echo: Tuple[socket.socket, int]) -> None:
    connection, child = echo
    pids = sorted([os.getpid(), child])
    assert _native.watch(pids, 0.1)[0] == []
    moving, unseen = watched_while_sending(connection, pids)
    assert moving == pids and child not in unseen


def test_what_goes_to_others_may_have_been_messages(echo: Tuple[socket.socket, int]) -> None:
    connection, child = echo
    assert _native.watch([child], 0.1) == ([], [])
    assert watched_while_sending(connection, [child]) == ([], [child])


def test_datagrams_are_not_counted() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(("127.0.0.1", 0))
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[datagrams.fileno()]) as one:
            assert _native.watch([one.pid], 0.1) == ([], [one.pid])


def test_who_is_not_there_is_not_seen() -> None:
    assert _native.watch([1 << 30], 0.1) == ([], [1 << 30])
