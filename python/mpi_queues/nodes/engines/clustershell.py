"""ClusterShell: sets of nodes, and clush, which reaches them by ssh or whatever else it is configured for."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from typing import Dict, List, Mapping, Sequence

from .base import Nodes, Starter, checked, said, user_called

#: What clush says where a command has ended badly (cea-hpc/clustershell, lib/ClusterShell/CLI/Clush.py,
#: ``DirectOutputHandler.ev_hup``, 1.9).
_ENDED = re.compile(r"clush: (\S+): (?:exited with exit code \d+|command timeout)")


@dataclass(frozen=True)
class NodeSet(Nodes):
    """Nodes by their names."""

    nodeset: str
    #: Whose ranks are meant, where they are not those of whoever asks.
    login: str = ""

    @property
    def name(self) -> str:
        """How the user names it."""
        return f"hosts:{self.login}{'@' if self.login else ''}{self.nodeset}"

    def owner(self) -> int:
        """Who is named, or who asks.

        Raises:
            UserError: where nobody is called so.
        """
        return user_called(self.login, self.name) if self.login else os.geteuid()

    def nodes(self) -> List[str]:
        """All of them.

        Raises:
            UserError: where ClusterShell does not understand the name.
        """
        listed = said(["nodeset", "--expand", self.nodeset], "install clustershell", self.name)
        return checked(listed.split(), self.name)

    @property
    def job_variables(self) -> Dict[str, str]:
        """None: every rank of the user's that runs there is looked at."""
        return {}

    same = ()
    other = ()
    knows_all_nodes = False


@dataclass(frozen=True)
class Clush(Starter):
    """Reaches nodes as ClusterShell is configured."""

    called = "clush"

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        """Runs the agent once on each node, on all of them at one time: each waits for what it is asked."""
        return ["clush", "-S", "--color=never", f"--fanout={len(nodes)}", "-w", ",".join(nodes), shlex.join(agent)]

    def fetching(self, node: str, path: str) -> str:
        """Copies a file from a node."""
        return shlex.join(["clush", "-w", node, "--rcopy", path, "--dest", "."])

    @property
    def environment(self) -> Mapping[str, str]:
        """It is a Python program, which would keep what nodes say until that is much."""
        return {"PYTHONUNBUFFERED": "1"}

    def failed(self, line: str) -> Sequence[str]:
        """The node on which nothing runs any more."""
        match = _ENDED.fullmatch(line)
        return [match[1]] if match else ()
