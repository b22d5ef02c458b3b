"""Processes of jobs that are known and not read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Union

from ..errors import UserError
from ..request import Request
from .target import Answers, Place, Target


@dataclass(frozen=True)
class LeftOutTarget(Target):
    """A process that is not read as a rank of a job, because it is another user's."""

    reason: UserError

    @property
    def label(self) -> str:
        return str(self.reason.args[0])


@dataclass(frozen=True)
class LostTarget(Target):
    """A rank of a job that cannot be read from here."""

    place: Place
    reason: UserError

    @property
    def label(self) -> str:
        return self.place.entry.name


def ask(targets: Sequence[Union[LostTarget, LeftOutTarget]], request: Request, found: Answers, quiet: bool) -> None:
    """Tells why they are not read."""
    found.refused += [(target, target.reason) for target in targets]


def with_why(error: UserError, why: object) -> UserError:
    """The same with why its host was not reached."""
    return UserError(f"{error.args[0]}: {why}", help=error.help, kind=error.kind) if why else error
