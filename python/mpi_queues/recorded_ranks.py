"""Records the processes of targets into one file, for the command line and for watches."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import List, Optional, Sequence

from . import asking, recordings
from ._native import NativeError
from .errors import UserError, as_user_error
from .request import Request
from .system import written
from .targets import Target


@dataclass
class Recorded:
    """What was recorded."""

    processes: int = 0
    #: In bytes.
    size: int = 0
    #: Of processes that are there and not whole, in sentences.
    problems: List[str] = field(default_factory=list)
    #: Why others are not there.
    failures: List[UserError] = field(default_factory=list)


def record(wanted: Sequence[Target], request: Request, output: str, *, quiet: bool = False) -> Recorded:
    """Records all targets but those of other nodes into a file; ``request`` says how they are read.

    Raises:
        UserError: where nothing was recorded, or the file cannot be written.
    """
    spool = written.directory_of(output, "the recording")
    request = replace(request, action="record", spool=spool)
    found = Recorded()
    with recordings.new_recording(output) as writer:
        answers, found.failures = asking.ask(wanted, request, quiet=quiet)
        for answer in answers:
            part = answer.recorded
            if part is None:
                continue
            try:
                with contextlib.closing(part):
                    writer.add_pieces(part.pieces())
            except UserError as error:
                found.failures.append(error)
                continue
            _add_problem(found, answer.target.label, part.problem)
        for label, session in asking.recorded_sessions(wanted, found.failures):
            try:
                problem = writer.add(session, full=request.full)
            except NativeError as error:
                found.failures.append(UserError(f"{label}: {error}", help=as_user_error(error).help))
                continue
            _add_problem(found, label, problem)
        if not writer.processes:
            asking.raise_all(found.failures or [UserError("there is no process to record", kind="recording")])
        found.processes = writer.processes
    found.size = writer.size
    return found


def _add_problem(found: Recorded, label: str, problem: Optional[str]) -> None:
    if problem is not None:
        found.problems.append(f"{label}: {problem}; it is recorded as far as it goes")
