"""The agents of some nodes, all started by one process of the engine.

Its standard input goes to every agent, and when that is closed, by us or because we have ended, the agents end.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import selectors
import signal
import subprocess
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import IO, Any, Deque, Dict, Iterable, List, Optional, Sequence, Set, Tuple

from .._native import AGENT_PROTOCOL, Digests, Snapshot, __version__
from ..errors import UserError
from ..system.paths import shown
from .engines import Engine
from .frames import BadFrame, Frames, Message
from .sending import absent
from .writing import Writer

#: How long an engine may take to end once its agents have, in seconds, each time that it is asked more firmly.
_ENDING = 3.0

#: A longer line is nobody's, in bytes; and so many lines of errors are kept.
_MAX_LINE = 64 << 10
_MAX_ERRORS = 20

#: No node has more ranks.
_MOST_RANKS = 1 << 20

#: Clocks tell times before this, in seconds since 1970.
_LATEST = 1e11

#: So much of what an engine writes is read at once, and lies in its pipe where Linux lets us (fcntl(2),
#: F_SETPIPE_SZ), in bytes.
_PIECE = 1 << 20
_F_SETPIPE_SZ = 1031

#: Digests are read by so many threads, none of which is Python's meanwhile.
_READERS = 2

#: Engines put a node's name, or the number of a task, in front of each line.
_LABEL = re.compile(rb"\s*([^\s:]{1,255}): ?(.*)", re.DOTALL)

#: What is said of an agent that is not understood, and how much of the reason, in letters.
_MAX_REASON = 200
_NONSENSE = "the answer of its agent cannot be understood"


@dataclass
class Look:
    """What the agent of one node has said at one look."""

    node: str
    snapshot: Snapshot
    #: What it told besides.
    told: Dict[str, Any]
    #: Of an earlier look: the ranks that were not asked again.
    kept: Optional[Snapshot] = None

    @property
    def parts(self) -> List[Snapshot]:
        """All that is known of its ranks now."""
        return [self.snapshot] if self.kept is None else [self.kept, self.snapshot]

    @property
    def ranks(self) -> int:
        """How many ranks it has, as it says."""
        told = self.told.get("ranks")
        return told if isinstance(told, int) and 0 <= told < _MOST_RANKS else 0

    @property
    def asked_at(self) -> Optional[float]:
        """When it was asked, in seconds since 1970 by its clock."""
        return _time(self.told.get("asked_at"))

    @property
    def stood(self) -> Optional[Tuple[float, float]]:
        """When the first of its ranks stood, and when the last went on, by its clock."""
        told = self.told.get("stood")
        if not isinstance(told, list) or len(told) != 2:
            return None
        begin, end = _time(told[0]), _time(told[1])
        return None if begin is None or end is None else (begin, end)

    def pids(self, name: str) -> Set[int]:
        """The processes that it told under a name."""
        told = self.told.get(name)
        return {pid for pid in told if isinstance(pid, int)} if isinstance(told, list) else set()


def _time(told: object) -> Optional[float]:
    """Another node may say anything."""
    known = isinstance(told, (int, float)) and not isinstance(told, bool) and 0 <= told < _LATEST
    return float(told) if known and isinstance(told, (int, float)) else None


@dataclass
class _Sender:
    """One agent, by the label of its lines."""

    frames: Frames = field(default_factory=Frames)
    #: The node that it says to be on.
    node: Optional[str] = None
    told: Dict[int, Dict[str, Any]] = field(default_factory=dict)
    #: Why nothing more of it is believed.
    problem: Optional[str] = None


class Agents:
    """One agent on each of some nodes."""

    def __init__(self, engine: Engine, nodes: Sequence[str], agent: Sequence[str], first: bytes = b"") -> None:
        """Has the engine start them, and writes something to each.

        Raises:
            UserError: where there is no such engine here.
        """
        self.nodes = list(nodes)
        self._answers: Dict[int, Dict[str, Look]] = {}
        self._readers = ThreadPoolExecutor(_READERS)
        #: How many digests are being read.
        self._coming = 0
        #: Those that were: with who sent them, at which look, and what else it told.
        self._come: Deque[Tuple[_Sender, int, Dict[str, Any], Future[Snapshot]]] = deque()
        self._engine = engine
        #: Nodes from which nothing more is to come.
        self.failed: Set[str] = set()
        self._senders: Dict[bytes, _Sender] = {}
        self._digests = Digests()
        self._rest = {"out": b"", "error": b""}
        self._errors: List[str] = []
        self._open: Set[str] = {"out", "error"}
        self._absent: List[str] = []
        command = engine.command(self.nodes, agent)
        self._name = engine.called
        try:
            # A session of its own: Ctrl-C is ours, and ends the agents by closing their input.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
                env={**os.environ, **engine.environment},
            )
        except OSError as error:
            reason = f"{engine.name}: {command[0]} cannot be started: {error.strerror}"
            raise UserError(reason, kind="no_engine") from error
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._writer = Writer(self._process.stdin)
        if first:
            self._writer.write(first)
        self._streams: Dict[str, IO[bytes]] = {"out": self._process.stdout, "error": self._process.stderr}

    def register(self, selector: selectors.BaseSelector) -> None:
        """Has a selector watch what they write; its keys have these agents and the name of the stream."""
        for name, stream in self._streams.items():
            os.set_blocking(stream.fileno(), False)
            with contextlib.suppress(OSError):
                fcntl.fcntl(stream, _F_SETPIPE_SZ, _PIECE)
            selector.register(stream, selectors.EVENT_READ, (self, name))

    def ask(self, question: Dict[str, Any]) -> None:
        """Asks all of them."""
        self._answers = {question["look"]: {}}
        self._writer.write(json.dumps(question, separators=(",", ":")).encode() + b"\n")

    @property
    def answers(self) -> Dict[int, Dict[str, Look]]:
        """What they have answered: by the number of the look, then by node."""
        while self._come:
            sender, look, told, snapshot = self._come.popleft()
            self._coming -= 1
            error = snapshot.exception()
            if error is not None:
                known = isinstance(error, (BadFrame, ValueError))
                sender.problem = f"{_NONSENSE}: {shown(str(error)[:_MAX_REASON])}" if known else _NONSENSE
                self.failed.update([sender.node] if sender.node is not None else [])
            elif look in self._answers and sender.node is not None:
                self._answers[look][sender.node] = Look(sender.node, snapshot.result(), told)
        return self._answers

    def forget(self) -> None:
        """What they have answered is not kept any more."""
        self._answers = {look: {} for look in self._answers}

    @property
    def is_reading(self) -> bool:
        """Whether there is more that they have answered, and that is not read yet."""
        return self._coming > 0

    @property
    def has_ended(self) -> bool:
        """Whether the engine has ended and all that it wrote was read."""
        return not self._open and not self._coming and self._process.poll() is not None

    @property
    def greeted(self) -> List[str]:
        """The nodes whose agents have begun."""
        return [one.node for one in self._senders.values() if one.node is not None and one.problem is None]

    def reason(self, node: str) -> str:
        """Why there is no answer of a node."""
        sender = next((one for one in self._senders.values() if one.node == node), None)
        if sender is not None and sender.problem is not None:
            return sender.problem
        named = re.compile(rf"(?<![\w.-]){re.escape(node)}(?![\w-])")
        said = [line for line in self._errors if named.search(line)] or self._errors
        said += [shown(line) for one in self._senders.values() if one.node is None for line in one.frames.others]
        why = f": {said[0]}" if said else ""
        status = "" if self._process.returncode is None else f" (status {self._process.returncode})"
        if self.has_ended or node in self.failed:
            return f"{self._name} ended there{status}{why}"
        return f"no agent has started there{why}" if sender is None else "its agent did not answer in time"

    def read(self, name: str) -> bool:
        """Takes what has come in a stream; false where that is its end."""
        try:
            data = os.read(self._streams[name].fileno(), _PIECE)
        except BlockingIOError:
            return True
        if not data:
            self._open.discard(name)
            return False
        *lines, rest = (self._rest[name] + data).split(b"\n")
        self._rest[name] = rest[:_MAX_LINE]
        for line in lines:
            if name == "out":
                self._take(line)
                continue
            # A line is a stranger's as well: what is no node of ours is nobody.
            self.failed.update(
                set(self._engine.failed(line.decode("utf-8", "replace").strip())).intersection(self.nodes)
            )
            if len(self._errors) < _MAX_ERRORS and line.strip():
                self._errors.append(shown(line[:300].decode("utf-8", "replace").strip()))
        return True

    def _take(self, line: bytes) -> None:
        match = _LABEL.fullmatch(line)
        if match is None or (match[1] not in self._senders and len(self._senders) > 2 * len(self.nodes)):
            return
        names = absent(match[2])
        if names is not None:
            self._absent += self._known(names, match[1])[:1]
            return
        sender = self._senders.setdefault(match[1], _Sender())
        if sender.problem is not None:
            return
        try:
            message = sender.frames.feed(match[2])
            if message is not None:
                self._hear(sender, message, match[1])
        except BadFrame as error:
            sender.problem = f"{_NONSENSE}: {error}"
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            sender.problem = _NONSENSE
        if sender.problem is not None and sender.node is not None:
            self.failed.add(sender.node)

    def _hear(self, sender: _Sender, message: Message, label: bytes) -> None:
        if message.kind == "digest":
            if sender.node is None or message.look not in self._answers or message.look not in sender.told:
                raise BadFrame("an answer that was not asked for")
            look, told = message.look, sender.told.pop(message.look)
            self._coming += 1
            snapshot = self._readers.submit(self._snapshot, sender.node, message)
            # A reader's thread says when it is done: with a thousand nodes it takes too long to ask for each.
            snapshot.add_done_callback(lambda done: self._come.append((sender, look, told, done)))
            return
        content = message.words()
        if message.kind == "hello":
            self._greet(sender, content, label)
        elif message.kind == "told":
            sender.told = {message.look: dict(content)}
        else:
            sender.problem = f"its agent refuses: {shown(str(content['text'])[:200])}"

    def _snapshot(self, node: str, message: Message) -> Snapshot:
        return self._digests.read(node, message.packed, message.longest)

    def _known(self, names: Iterable[str], label: bytes) -> List[str]:
        """The nodes that are meant by how the engine and the node itself call one."""
        called = label.decode("utf-8", "replace")
        if called in self.nodes and not called.isdecimal():
            # What the node calls itself may be another name.
            return [called]
        short = [name.split(".")[0] for name in names]
        return [node for name in short for node in self.nodes if node.split(".")[0] == name]

    def take_absent(self) -> List[str]:
        """The nodes that have said to have no agent: nothing more comes from them, and they are forgotten here."""
        found, self._absent = list(dict.fromkeys(self._absent)), []
        self.nodes = [node for node in self.nodes if node not in found]
        return found

    def _greet(self, sender: _Sender, content: Dict[str, Any], label: bytes) -> None:
        taken = {one.node for one in self._senders.values()}
        known = self._known([str(content[name]) for name in ("node", "host") if content.get(name)], label)
        sender.node = next((node for node in known if node not in taken), None)
        if sender.node is None:
            raise BadFrame("an agent of another node")
        if content["protocol"] != AGENT_PROTOCOL:
            version = shown(str(content["agent"])[:40])
            sender.problem = f"its agent has version {version}, which does not fit version {__version__} here"

    def end(self) -> None:
        """Ends them, and waits until the engine has ended."""
        self._writer.close()
        try:
            for number in (None, signal.SIGTERM, signal.SIGKILL):
                if number is not None:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.killpg(self._process.pid, number)
                if self._ended_within(_ENDING):
                    break
        finally:
            # Also where Ctrl-C comes here.
            for stream in self._streams.values():
                stream.close()
            self._readers.shutdown()

    def _ended_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._process.poll() is None:
            if time.monotonic() > deadline:
                return False
            # What is still written is read: a full pipe would hold up the engine.
            for name in tuple(self._open):
                self.read(name)
            time.sleep(0.01)
        return True
