"""Asks the agents of all nodes of a job, and gathers what they answer.

One process of the engine serves all nodes. Some engines end it for all where one node fails: then those whose agents
had begun are asked again by another one, and each of the others by one of its own.
"""

from __future__ import annotations

import selectors
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from ..launchers.environment import FAMILIES
from ..system.paths import shown
from . import sending
from .agents import Agents, Look
from .engines import Engine

#: How long an engine may take to start the agents, in seconds, beside what reading may take.
START = 30.0

#: How long it may take to send the agent, in seconds.
SENDING = 60.0

#: It is sent to a node at most so often.
_MAX_SENT = 3

#: For so long, in seconds, it is waited for more nodes that have no agent, so that it is sent to all together.
_TOGETHER = 1.0

#: So many nodes are tried one by one after an engine has ended for all.
_MAX_ALONE = 64

#: Told how many nodes have answered, of how many, how many ranks these have, and which nodes are late.
Progress = Callable[[int, int, int, Sequence[str]], None]

#: What an agent is to do with the ranks of its node (crates/agent/src/node/question.rs, ``Action``).
Action = Union[str, Dict[str, Dict[str, Any]]]
READ, STACKS, LIST = "read", "stacks", "list"


def record_in(directory: str) -> Action:
    """Has each agent write its ranks to a file in a directory of its node."""
    return {"record": {"directory": directory}}


class Gathering:
    """The agents of a job's nodes. A context manager."""

    def __init__(self, engine: Engine, agent: str, program: Optional[Path] = None) -> None:
        """Finds the nodes, and has the engine start an agent on each: that of the path ``agent``.

        To nodes that do not have that, ``program`` is sent.

        Raises:
            UserError: where there is no such job, or no such engine here.
        """
        self.engine = engine
        self.nodes = engine.nodes()
        self._agent = agent
        self._program = program
        #: The nodes that have no agent, and since when such are known.
        self._without: List[str] = []
        self._without_since = 0.0
        #: How often it was sent to a node.
        self._sent: Dict[str, int] = {}
        self._looks = 0
        self._pending: Optional[Dict[str, Any]] = None
        self._deadline = 0.0
        self._selector = selectors.DefaultSelector()
        self._parts: List[Agents] = []
        #: What those said to the last question whose engine has ended since.
        self._kept: Dict[str, Look] = {}
        self._silent: Dict[str, str] = {}
        self._start(self.nodes)

    def __enter__(self) -> Gathering:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, nodes: Sequence[str], sent: bytes = b"") -> None:
        command = sending.received(sent) if sent else sending.started(self._agent)
        part = Agents(self.engine, nodes, command, sent)
        part.register(self._selector)
        self._parts.append(part)
        if self._pending is not None:
            part.ask(self._pending)

    def ask(
        self,
        *,
        timeout: float,
        action: Action = READ,
        between: Optional[float] = None,
        ranks: Optional[str] = None,
        wrappers: Sequence[str] = (),
    ) -> None:
        """Has all agents look at their ranks now.

        Args:
            timeout: seconds that reading may take.
            between: the ranks run on for so many seconds first.
            ranks: only these of MPI_COMM_WORLD, such as ``0-3,7``.
        """
        self._looks += 1
        if self._looks == 1:
            self._one_of, self._owner = self.engine.one_of, self.engine.owner()
        self._pending = {
            "look": self._looks,
            "owner": self._owner,
            "job": self.engine.job_variables,
            "same": self.engine.same,
            "other": self.engine.other,
            "families": [{"rank": one.rank, "size": one.size, "world": one.world} for one in FAMILIES],
            "between": between,
            "action": action,
            "ranks": ranks,
            "wrappers": list(wrappers),
            "timeout": timeout,
        }
        if self._one_of:
            self._pending["one_of"] = self._one_of
        if self.engine.pids is not None:
            self._pending["pids"] = sorted(self.engine.pids)
        self._deadline = time.monotonic() + timeout + START + (between or 0.0)
        self._kept.clear()
        for part in self._parts:
            part.ask(self._pending)
        # Those whose engine has ended since they answered.
        served = {node for part in self._parts for node in part.nodes}.union(self._silent, self._without)
        lost = [node for node in self.nodes if node not in served]
        if lost:
            self._start(lost)

    @property
    def is_asked(self) -> bool:
        """Whether answers are still to be gathered."""
        return self._pending is not None

    def gather(self, progress: Progress) -> Tuple[List[Look], Dict[str, str]]:
        """What the agents answer to the last question, and why there is nothing of other nodes, by their names."""
        answers: Dict[str, Look] = {}
        while time.monotonic() < self._deadline:
            answers = self._answers()
            late = [node for node in self.nodes if node not in answers and node not in self._silent]
            ranks = sum(look.ranks for look in answers.values())
            progress(len(self.nodes) - len(late), len(self.nodes), ranks, late)
            if not late:
                break
            at_most = 0.01 if any(part.is_reading for part in self._parts) else 0.25
            self._wait(min(at_most, max(0.0, self._deadline - time.monotonic())))
        progress(len(self.nodes), len(self.nodes), 0, ())
        answers = self._answers()
        silent = dict(self._silent)
        for part in self._parts:
            silent.update({node: part.reason(node) for node in part.nodes if node not in answers})
            part.forget()
        self._pending = None
        return [answers[node] for node in self.nodes if node in answers], silent

    def _answers(self) -> Dict[str, Look]:
        said = [found for part in self._parts for found in part.answers.values()]
        return {node: look for found in [self._kept, *said] for node, look in found.items()}

    def _wait(self, seconds: float) -> None:
        """Takes what has come, and sees to it that those are asked again whom another node's failure has ended."""
        if self._selector.get_map():
            for key, _ in self._selector.select(seconds):
                part, name = key.data
                if not part.read(name):
                    self._selector.unregister(key.fileobj)
        else:
            time.sleep(seconds)
        self._send()
        answered = self._answers()
        for part in self._parts:
            self._silent.update({node: part.reason(node) for node in part.failed if node not in answered})
        for part in [part for part in self._parts if part.has_ended]:
            self._parts.remove(part)
            try:
                self._replace(part)
            finally:
                part.end()

    def _send(self) -> None:
        """Starts the agent on those nodes that have none, many at a time."""
        for part in self._parts:
            self._without += part.take_absent()
        if not self._without:
            self._without_since = time.monotonic()
            return
        undecided = any(set(part.nodes) - set(part.greeted) - part.failed for part in self._parts)
        if undecided and time.monotonic() < self._without_since + _TOGETHER:
            return
        without, self._without = self._without, []
        try:
            sent = sending.packed(self._program) if self._program is not None else b""
        except OSError as error:
            self._silent.update(dict.fromkeys(without, f"the agent cannot be read: {error.strerror}"))
            return
        # After another node has ended an engine for all, a node may rightly say so again.
        often = [node for node in without if not sent or self._sent.get(node, 0) >= _MAX_SENT]
        self._silent.update(dict.fromkeys(often, f"there is no {shown(self._agent)}"))
        wanting = [node for node in without if node not in often]
        if wanting:
            self._sent.update({node: self._sent.get(node, 0) + 1 for node in wanting})
            self._deadline += SENDING
            self._start(wanting, sent)

    def _replace(self, ended: Agents) -> None:
        if self._pending is not None:
            for found in ended.answers.values():
                self._kept.update(found)
        begun = set(ended.greeted)
        left = [node for node in ended.nodes if node not in self._kept]
        # One whose agent had begun and that was alone has failed itself; where none had begun, the engine has.
        if len(ended.nodes) == 1 or not begun:
            self._silent.update({node: ended.reason(node) for node in left})
            return
        again = [node for node in left if node in begun]
        if again:
            self._start(again)
        others = [node for node in left if node not in begun]
        for node in others[:_MAX_ALONE]:
            self._start([node])
        self._silent.update({node: ended.reason(node) for node in others[_MAX_ALONE:]})

    def close(self) -> None:
        """Ends all agents, and waits until the engine has ended."""
        while self._parts:
            self._parts.pop().end()
        self._selector.close()
