"""Records the processes of targets into one file, for the command line and for watches."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import asking, recordings
from ._native import NativeError
from .debuggers.kept_answer import MAX_HEAD, KeptAnswer
from .debuggers.recorded import TRAILER_SIZE
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
    #: What to know of how it was read, in sentences.
    notes: List[str] = field(default_factory=list)
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
            try:
                with answer.taken() as part:
                    problem, end = _trailer(answer.target.label, part)
                    writer.add_pieces(part.pieces(0, end))
            except UserError as error:
                found.failures.append(error)
                continue
            _add_problem(found, answer.target.label, problem)
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
    found.notes = asking.read_as_root(answers)
    return found


def _add_problem(found: Recorded, label: str, problem: Optional[str]) -> None:
    if problem is not None:
        found.problems.append(f"{label}: {problem}; it is recorded as far as it goes")


def _trailer(label: str, part: KeptAnswer) -> Tuple[Optional[str], int]:
    """What a child says behind a process that it recorded: why the process cannot be read, if it cannot; and where the
    recorded process ends.

    Raises:
        UserError: where it was not recorded.
    """
    said: Dict[str, Any] = {}
    end = part.size
    if end >= TRAILER_SIZE:
        length = int.from_bytes(part.read(end - TRAILER_SIZE, TRAILER_SIZE), "big")
        if length <= min(end - TRAILER_SIZE, MAX_HEAD):
            end -= TRAILER_SIZE + length
            try:
                said = json.loads(part.read(end, length))
            except (ValueError, RecursionError):
                said = {}
    if not isinstance(said, dict) or not ("error" in said or said.get("bytes") == end):
        raise UserError(f"{label}: what was recorded of it is not complete", kind="not_recorded")
    if "error" in said:
        raise UserError(
            f"{label}: {said['error']}", help=str(said.get("help", "")), kind=str(said.get("kind", "error"))
        )
    problem = said.get("problem")
    return None if problem is None else str(problem), end
