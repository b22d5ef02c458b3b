"""What the kinds of targets share: what they are called, and what they answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .._native import Snapshot
from ..errors import UserError
from ..launchers.model import JobWorld, RankEntry, World

#: Where nothing could be read, so many reasons are told.
_MOST_TOLD = 50


class Target(ABC):
    """Something that is read."""

    @property
    @abstractmethod
    def label(self) -> str:
        """How messages name it."""


@dataclass(frozen=True)
class Place:
    """A process in its job."""

    entry: RankEntry
    #: Number of processes of its world; None where nobody tells it.
    world_size: Optional[int]
    #: Its place in the universe of a job of several worlds; None where there is but one, or it is not known.
    universe_rank: Optional[int]
    #: Its world, in a job of several.
    world: Optional[World] = None


class Unreadable(UserError):
    """A process could not be read. ``outline`` is what is known of it all the same; None: nothing is."""

    def __init__(self, message: str, *, help: str, kind: str, outline: Optional[Snapshot]) -> None:
        super().__init__(message, help=help, kind=kind)
        self.outline = outline


@dataclass
class Answers:
    """What targets answer to a request."""

    #: What was asked for, by what each process is called: mostly snapshots.
    told: List[Tuple[str, Any]] = field(default_factory=list)
    #: Why there is not more.
    failures: List[UserError] = field(default_factory=list)
    #: Targets that are one process, with why it was not read.
    refused: List[Tuple[Target, UserError]] = field(default_factory=list)
    #: What is known of recorded processes that could not be read.
    outlines: List[Snapshot] = field(default_factory=list)
    #: The states of live processes before they were stopped, by their process ids.
    states: Dict[int, str] = field(default_factory=dict)
    #: The worlds of the jobs, where there are several.
    worlds: List[JobWorld] = field(default_factory=list)

    @property
    def problems(self) -> List[str]:
        """Why there is not more, a line each."""
        return [failure.in_a_line for failure in self.failures]

    def check(self) -> None:
        """Raises UserError where there is nothing at all."""
        if not self.told:
            raise_all(self.failures)

    def merged(self, problems: Sequence[str] = ()) -> Snapshot:
        """One snapshot of all; ``problems`` are further ones."""
        return Snapshot.merged([told for _, told in self.told], [*self.problems, *problems], worlds=self.worlds)


def raise_all(failures: Sequence[UserError]) -> None:
    """One error of many; the same next step is named once.

    Raises:
        UserError: always.
    """
    helps = list(dict.fromkeys(failure.help for failure in failures if failure.help))
    messages = list(dict.fromkeys(str(failure.args[0]) for failure in failures))
    if len(messages) > _MOST_TOLD:
        messages[_MOST_TOLD:] = [f"and {len(messages) - _MOST_TOLD:,} more like these"]
    raise UserError("\n".join(messages), help="\n".join(helps), kind=failures[0].kind)
