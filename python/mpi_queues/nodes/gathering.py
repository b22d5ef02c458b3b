"""Asks the agents of all nodes of a job, and gathers what they answer.

One process of the engine serves all nodes. Some engines end it for all where one node fails: then those whose agents
had begun are asked again by another one, and each of the others by one of its own.
"""

from __future__ import annotations

import selectors
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ..launchers.environment import FAMILIES
from .agents import Agents, Look
from .engines import Engine

#: How long an engine may take to start the agents, in seconds, beside what reading may take.
START = 30.0

#: So many nodes are tried one by one after an engine has ended for all.
_MAX_ALONE = 64

#: Told how many nodes have answered, of how many, and which are late.
Progress = Callable[[int, int, Sequence[str]], None]


class Gathering:
    """The agents of a job's nodes. A context manager."""

    def __init__(self, engine: Engine, agent: Sequence[str]) -> None:
        """Finds the nodes, and has the engine start an agent on each.

        Raises:
            UserError: where there is no such job, or no such engine here.
        """
        self.engine = engine
        self.nodes = engine.nodes()
        self._agent = agent
        self._looks = 0
        self._pending: Optional[Dict[str, Any]] = None
        self._deadline = 0.0
        self._selector = selectors.DefaultSelector()
        self._parts: List[Agents] = []
        self._silent: Dict[str, str] = {}
        self._start(self.nodes)

    def __enter__(self) -> Gathering:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, nodes: Sequence[str]) -> None:
        part = Agents(self.engine, nodes, self._agent)
        part.register(self._selector)
        self._parts.append(part)
        if self._pending is not None:
            part.ask(self._pending)

    def ask(
        self, *, timeout: float, between: Optional[float] = None, stacks: bool = False, wrappers: Sequence[str] = ()
    ) -> None:
        """Has all agents look at their ranks now; ``between``: after these have run on for so many seconds."""
        self._looks += 1
        self._pending = {
            "look": self._looks,
            "job": self.engine.job_variables,
            "same": self.engine.same,
            "other": self.engine.other,
            "families": [{"rank": one.rank, "size": one.size, "world": one.world} for one in FAMILIES],
            "between": between,
            "stacks": stacks,
            "wrappers": list(wrappers),
            "timeout": timeout,
        }
        self._deadline = time.monotonic() + timeout + START + (between or 0.0)
        for part in self._parts:
            part.ask(self._pending)

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
            progress(len(self.nodes) - len(late), len(self.nodes), late)
            if not late:
                break
            self._wait(min(0.25, max(0.0, self._deadline - time.monotonic())))
        progress(len(self.nodes), len(self.nodes), ())
        silent = dict(self._silent)
        for part in self._parts:
            silent.update({node: part.reason(node) for node in part.nodes if node not in answers})
        self._pending = None
        return [answers[node] for node in self.nodes if node in answers], silent

    def _answers(self) -> Dict[str, Look]:
        return {node: look for part in self._parts for found in part.answers.values() for node, look in found.items()}

    def _wait(self, seconds: float) -> None:
        """Takes what has come, and sees to it that those are asked again whom another node's failure has ended."""
        if self._selector.get_map():
            for key, _ in self._selector.select(seconds):
                part, name = key.data
                if not part.read(name):
                    self._selector.unregister(key.fileobj)
        else:
            time.sleep(seconds)
        for part in [part for part in self._parts if part.has_ended]:
            self._parts.remove(part)
            self._replace(part)
            part.end()

    def _replace(self, ended: Agents) -> None:
        answered = {node for found in ended.answers.values() for node in found}
        begun = answered.union(ended.greeted)
        # One whose agent had begun and that was alone has failed itself; where none had begun, the engine has.
        if len(ended.nodes) == 1 or not begun:
            self._silent.update({node: ended.reason(node) for node in ended.nodes if node not in answered})
            return
        self._start([node for node in ended.nodes if node in begun])
        others = [node for node in ended.nodes if node not in begun]
        for node in others[:_MAX_ALONE]:
            self._start([node])
        self._silent.update({node: ended.reason(node) for node in others[_MAX_ALONE:]})

    def close(self) -> None:
        """Ends all agents, and waits until the engine has ended."""
        while self._parts:
            self._parts.pop().end()
        self._selector.close()
