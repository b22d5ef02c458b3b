"""A command on each of many nodes, by a command that reaches one: ssh, or LSF's blaunch.

A process of its own does it, as clush does for its nodes: what it reads goes to all of them, each line that they write
gets the node's name in front, and one that fails ends none of the others. When its input ends, so does theirs.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import selectors
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Dict, List, Optional, Sequence, Union

#: Bytes that are read or written at a time, and how long a line of a node may be.
_PIECE, _MAX_LINE = 64 << 10, 64 << 10

#: What is kept of the input before what every node has taken is dropped, in bytes.
_KEPT = 1 << 20

#: Seconds that one may take to end when it has closed what it writes to.
_ENDING = 1.0

_INPUT, _OUTPUT, _ERRORS = 0, 1, 2

#: What is said of a node on which nothing runs any more.
_ENDED = re.compile(r"(\S+): ended there \(status -?\d+\)|(\S+): cannot be started: .*")


def command(words: Sequence[str], nodes: Sequence[str], there: str) -> List[str]:
    """What runs ``there``, a line for a shell, on each of the nodes, by ``words`` with the node behind them."""
    package = str(Path(__file__).resolve().parents[2])
    code = "import sys; sys.path.insert(0, sys.argv[1]); from mpi_queues.nodes import fan_out; sys.exit(fan_out.main())"
    return [sys.executable, "-I", "-S", "-B", "-c", code, package, there, str(len(words)), *words, *nodes]


def ended(line: str) -> Sequence[str]:
    """The node on which nothing runs any more, as a line of its errors says."""
    match = _ENDED.fullmatch(line)
    return [match[1] or match[2]] if match else ()


def main() -> int:
    """Runs what :func:`command` has named; returns whether some of them failed."""
    _, _, there, count, *rest = sys.argv
    words, nodes = rest[: int(count)], rest[int(count) :]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Three for each node.
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return _FanOut().run({node: [*words, node, there] for node in nodes})


@dataclass
class _Node:
    """What runs on one node."""

    name: str
    process: subprocess.Popen[bytes]
    #: Its input; None where that was closed.
    input: Optional[IO[bytes]]
    #: How much of all that was read it has taken.
    taken: int = 0
    #: The beginning of a line of each of its streams.
    rest: Dict[int, bytes] = field(default_factory=lambda: {_OUTPUT: b"", _ERRORS: b""})
    #: Those of its streams that are open.
    open: int = 2


@dataclass
class _Stream:
    """One of what a node writes, and where that goes."""

    node: _Node
    number: int
    file: IO[bytes]


class _FanOut:
    """All of them."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._nodes: List[_Node] = []
        #: The input from a place on, the place, and whether it has ended.
        self._given = bytearray()
        self._dropped = 0
        self._is_over = False
        self._failed = False

    def run(self, commands: Dict[str, List[str]]) -> int:
        for name, words in commands.items():
            self._start(name, words)
        os.set_blocking(_INPUT, False)
        self._selector.register(_INPUT, selectors.EVENT_READ)
        while self._nodes:
            for key, _ in self._selector.select():
                what: Union[_Node, _Stream, None] = key.data
                if what is None:
                    self._read()
                elif isinstance(what, _Node):
                    self._give(what)
                else:
                    self._hand_on(what)
        return int(self._failed)

    def _start(self, name: str, words: List[str]) -> None:
        try:
            process = subprocess.Popen(words, stdin=-1, stdout=-1, stderr=-1, bufsize=0)
        except OSError as error:
            self._fail(f"{name}: cannot be started: {words[0]}: {error.strerror}")
            return
        assert process.stdin and process.stdout and process.stderr
        node = _Node(name, process, process.stdin)
        self._nodes.append(node)
        os.set_blocking(process.stdin.fileno(), False)
        for number, file in ((_OUTPUT, process.stdout), (_ERRORS, process.stderr)):
            os.set_blocking(file.fileno(), False)
            self._selector.register(file, selectors.EVENT_READ, _Stream(node, number, file))

    def _fail(self, reason: str) -> None:
        self._failed = True
        _write(_ERRORS, f"{reason}\n".encode())

    def _read(self) -> None:
        """Takes a piece of the input."""
        piece = _piece(_INPUT)
        if piece is None:
            return
        self._given += piece
        if not piece:
            self._is_over = True
            self._selector.unregister(_INPUT)
        for node in self._nodes:
            self._give(node)
        if len(self._given) > _KEPT:
            least = min((node.taken for node in self._nodes if node.input), default=self._dropped + len(self._given))
            del self._given[: least - self._dropped]
            self._dropped = least

    def _give(self, node: _Node) -> None:
        """Hands on to a node what it has not had, as much as goes."""
        if node.input is None:
            return
        there = self._dropped + len(self._given)
        try:
            while node.taken < there:
                begin = node.taken - self._dropped
                written = node.input.write(self._given[begin : begin + _PIECE])
                if not written:
                    break
                node.taken += written
        except OSError:
            # It has ended: its other streams tell.
            node.taken = there
            self._close(node)
            return
        if node.taken < there:
            if node.input.fileno() not in self._selector.get_map():
                self._selector.register(node.input, selectors.EVENT_WRITE, node)
            return
        if node.input.fileno() in self._selector.get_map():
            self._selector.unregister(node.input)
        if self._is_over:
            self._close(node)

    def _close(self, node: _Node) -> None:
        if node.input is None:
            return
        if node.input.fileno() in self._selector.get_map():
            self._selector.unregister(node.input)
        with contextlib.suppress(OSError):
            node.input.close()
        node.input = None

    def _hand_on(self, stream: _Stream) -> None:
        """Writes the lines that a node has written, with its name."""
        node, number = stream.node, stream.number
        piece = _piece(stream.file.fileno())
        if piece is None:
            return
        *lines, rest = (node.rest[number] + piece).split(b"\n")
        # One that is longer is nobody's.
        node.rest[number] = rest[:_MAX_LINE]
        if not piece and rest:
            lines = [rest]
        label = f"{node.name}: ".encode()
        _write(number, b"".join(label + line + b"\n" for line in lines))
        if not piece:
            self._selector.unregister(stream.file)
            stream.file.close()
            node.open -= 1
            if not node.open:
                self._end(node)

    def _end(self, node: _Node) -> None:
        self._close(node)
        self._nodes.remove(node)
        try:
            status = node.process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            # Nothing of it can come any more.
            node.process.kill()
            status = node.process.wait()
        if status:
            self._fail(f"{node.name}: ended there (status {status})")


def _piece(number: int) -> Optional[bytes]:
    """What there is to read; None where there is nothing yet, and nothing in it at the end."""
    try:
        return os.read(number, _PIECE)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _write(number: int, data: bytes) -> None:
    rest = memoryview(data)
    with contextlib.suppress(BrokenPipeError):
        while rest:
            rest = rest[os.write(number, rest) :]
