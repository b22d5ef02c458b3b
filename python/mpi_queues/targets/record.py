"""Records the processes of targets into one file, for the command line and for watches."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import List, Optional, Sequence

from .._native import NativeError
from ..errors import UserError
from ..request import Request
from ..system import written
from . import asking
from .recording import RecordingTarget, of_process
from .target import Target, raise_all
from .writer import RecordingWriter, new_recording


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

    def add_problem(self, label: str, problem: Optional[str]) -> None:
        """Says what is wrong with a process that is there."""
        if problem is not None:
            self.problems.append(f"{label}: {problem}; what could be read of it is recorded")


def record(wanted: Sequence[Target], request: Request, output: str, *, quiet: bool = False) -> Recorded:
    """Records all targets but those of other nodes into a file; ``request`` says how they are read.

    Raises:
        UserError: where nothing was recorded, or the file cannot be written.
    """
    spool = written.directory_of(output, "the recording")
    request = replace(request, action="record", spool=spool)
    # Those of recordings go from file to file, one by one.
    files = [target for target in wanted if isinstance(target, RecordingTarget)]
    found = Recorded()
    with new_recording(output) as writer:
        answers = asking.facts([target for target in wanted if target not in files], request, quiet=quiet)
        found.failures = answers.failures
        for label, part in answers.told:
            try:
                with contextlib.closing(part):
                    writer.add_pieces(part.pieces())
            except UserError as error:
                found.failures.append(error)
            else:
                found.add_problem(label, part.problem)
        _add_recorded(files, request, writer, found)
        if not writer.processes:
            raise_all(found.failures or [UserError("there is no process to record", kind="recording")])
        found.processes = writer.processes
    found.size = writer.size
    return found


def _add_recorded(files: Sequence[RecordingTarget], request: Request, writer: RecordingWriter, found: Recorded) -> None:
    for target in files:
        for label, session in target.sessions(found.failures):
            try:
                found.add_problem(label, writer.add(session, full=request.full))
            except NativeError as error:
                found.failures.append(of_process(label, error))
