"""What every engine of a cluster does for us: names the nodes of a job, and runs one program on each."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from typing import Dict, FrozenSet, List, Mapping, Optional, Protocol, Sequence

from ...errors import UserError
from ...system import commands
from ...system.paths import shown

#: How long an engine may take to say which nodes there are, in seconds.
_ASKING = 30.0

#: At most so many nodes are taken from what an engine says, and so many bytes are read of it.
MAX_NODES = 100_000
_MOST = 32 << 20


class Nodes(Protocol):
    """The nodes of a job, as whoever has started it knows them."""

    #: Variables of the environment that must be as the agent's own, and those that must not.
    same: Sequence[str]
    other: Sequence[str]
    #: Whether a job has no other nodes than those that it names.
    knows_all_nodes: bool

    @property
    def name(self) -> str:
        """How the user names the job."""

    @property
    def job_variables(self) -> Dict[str, str]:
        """Variables of the environment by which the job's processes are known."""

    @property
    def one_of(self) -> Mapping[str, Sequence[str]]:
        """The same with several values each, one of which it must be."""
        return {}

    @property
    def pids(self) -> Optional[FrozenSet[int]]:
        """Only these processes and what they have started, on whatever node; None: all of the job."""
        return None

    def nodes(self) -> List[str]:
        """The nodes of the job.

        Raises:
            UserError: where there is no such job, or the engine does not say.
        """

    def owner(self) -> int:
        """The user whose job it is, by number: no process of another one is a rank of it, whatever it says of itself.

        Raises:
            UserError: where the engine does not say.
        """
        return os.geteuid()


class Starter(Protocol):
    """What runs a program on nodes."""

    #: How messages name it.
    called: str

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        """What runs the agent once on each node, hands its input to each, and labels each line of its output."""

    def fetching(self, node: str, path: str) -> str:
        """What a person types to copy a file from a node."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables with which that is started, beside ours."""
        return {}

    def failed(self, line: str) -> Sequence[str]:
        """The nodes on which nothing runs any more, as a line of the engine's errors says."""
        return ()


class Engine(Nodes, Starter, Protocol):
    """A job of many nodes, and what starts agents on these."""


@dataclass(frozen=True)
class Reached(Engine):
    """The nodes that one engine knows, reached by the same or by another one."""

    of: Nodes
    by: Starter

    @property
    def name(self) -> str:
        """How the user names the job."""
        return self.of.name

    @property
    def job_variables(self) -> Dict[str, str]:
        """By which its processes are known."""
        return self.of.job_variables

    @property
    def same(self) -> Sequence[str]:  # type: ignore[override]
        """Variables that must be as the agent's own."""
        return self.of.same

    @property
    def other(self) -> Sequence[str]:  # type: ignore[override]
        """Variables that must not be as the agent's own."""
        return self.of.other

    @property
    def knows_all_nodes(self) -> bool:  # type: ignore[override]
        """Whether there are no others."""
        return self.of.knows_all_nodes

    @property
    def one_of(self) -> Mapping[str, Sequence[str]]:
        """The same with several values each."""
        return self.of.one_of

    @property
    def pids(self) -> Optional[FrozenSet[int]]:
        """Only these processes."""
        return self.of.pids

    def nodes(self) -> List[str]:
        """Its nodes.

        Raises:
            UserError: where there is no such job, or the engine does not say.
        """
        return self.of.nodes()

    def owner(self) -> int:
        """The user whose job it is.

        Raises:
            UserError: where the engine does not say.
        """
        return self.of.owner()

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        """Runs the agent once on each node."""
        return self.by.command(nodes, agent)

    def fetching(self, node: str, path: str) -> str:
        """Copies a file from a node."""
        return self.by.fetching(node, path)

    @property
    def called(self) -> str:  # type: ignore[override]
        """How messages name what starts agents."""
        return self.by.called

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables with which that is started."""
        return self.by.environment

    def failed(self, line: str) -> Sequence[str]:
        """The nodes on which nothing runs any more."""
        return self.by.failed(line)


@dataclass(frozen=True)
class BatchSystem:
    """Whose commands know the jobs of a cluster, and what a person types there."""

    #: What to do where its commands are not here.
    otherwise: str
    #: What lists one's jobs.
    listing: str

    def says(self, name: str, *command: str, given: str = "") -> str:
        """What one of its commands says of the job that messages name so.

        Raises:
            UserError: where it is not here, fails, or takes too long.
        """
        return said(command, self.otherwise, name, given, f"; to see your jobs, type: {self.listing}")

    def no_job(self, name: str, why: str) -> UserError:
        """That there is no such job, or that it does not run."""
        return UserError(
            f"{name}: no job to look at: {shown(why)}", help=f"to see your jobs, type: {self.listing}", kind="gone"
        )


def said(command: Sequence[str], otherwise: str, name: str, given: str = "", advice: str = "") -> str:
    """What an engine's command says, given some text.

    Args:
        otherwise: what to do where it is not here.
        name: how messages name the job.
        advice: what is told besides where it fails.

    Raises:
        UserError: where it is not here, fails, or takes too long.
    """
    if shutil.which(command[0]) is None:
        raise UserError(
            f"{name}: {command[0]} is not installed here",
            help=f"run this where {command[0]} is installed: on a login node; or {otherwise}",
            kind="no_engine",
        )
    try:
        ended = commands.said(command, _ASKING, _MOST, given.encode(), whole=True)
    except OSError as error:
        raise UserError(f"{name}: {command[0]}: {error}", kind="no_engine") from None
    except commands.SaysTooMuch:
        raise UserError(f"{name}: {command[0]} wrote more than {_MOST >> 20} MiB", kind="no_engine") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{name}: {command[0]} did not answer within {_ASKING:g} seconds", kind="timeout") from None
    if ended.status != 0:
        words = ended.errors.decode("utf-8", "replace").split()
        reason = " ".join(words)[:300] or f"it ended with status {ended.status}"
        help_text = f"the command was: {shlex.join(command)}{advice}"
        raise UserError(f"{name}: {shown(reason)}", help=help_text, kind="no_engine")
    return ended.out.decode("utf-8", "replace")


def user(words: str, name: str) -> int:
    """The number of a user, as an engine says it.

    Raises:
        UserError: where it says something else.
    """
    told = set(words.split())
    # Of an array of jobs each says it.
    number = told.pop() if len(told) == 1 else ""
    if re.fullmatch(r"[0-9]{1,10}", number, re.ASCII) is None:
        raise UserError(
            f"{name}: the owner of the job is not known: {shown(words.strip()[:200]) or 'nothing'}", kind="no_engine"
        )
    return int(number)


def user_called(login: str, name: str) -> int:
    """The number of the user with that name.

    Raises:
        UserError: where nobody is called so here.
    """
    try:
        return pwd.getpwnam(login).pw_uid
    except (KeyError, ValueError):
        raise UserError(f"{name}: there is no user {shown(login[:40])} here", kind="usage") from None


def copied(command: Sequence[str], path: str) -> str:
    """What a person types to have what a command writes in a file, called as one on a node."""
    return f"{shlex.join(command)} > {shlex.quote(os.path.basename(path))}"


def expanded(hosts: str) -> List[str]:
    """The names of ``n[1-3,07],login``, as Slurm writes several in one word."""
    found: List[str] = []
    for name, numbers in re.findall(r"([^\[\],]+)(?:\[([0-9,-]+)\])?", hosts):
        ranges = re.findall(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", numbers)
        for first, last in ranges:
            most = min(int(last or first), int(first) + MAX_NODES - len(found) - 1)
            found += [f"{name}{number:0{len(first)}}" for number in range(int(first), most + 1)]
        found += [] if ranges else [name]
    return found


def checked(nodes: Sequence[str], name: str) -> List[str]:
    """Names that can be put into a command line: what an engine says is not ours.

    Raises:
        UserError: where they are none, or too many.
    """
    found = list(dict.fromkeys(nodes))
    if (
        not found
        or len(found) > MAX_NODES
        or not all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}", one) for one in found)
    ):
        raise UserError(f"{name}: not a list of nodes: {shown(' '.join(nodes)[:200])}", kind="no_engine")
    return found
