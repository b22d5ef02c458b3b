"""Reports as targets: what ``mpi-queues report`` wrote is read as the snapshot with the diagnosis that it shows."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .._native import Diagnosis, Snapshot
from ..errors import UserError
from ..page import inside
from ..request import Request
from ..system.files import opened
from ..system.paths import shown
from . import recording
from .recording import Path, RecordingTarget
from .target import Answers

#: A larger file of JSON is none of ours, in bytes.
_LARGEST = 2 << 30


@dataclass(frozen=True)
class ReportTarget(RecordingTarget):
    """What a report shows, which was read before. For what else is asked it lacks the memory that recordings have."""

    def ask(self, request: Request, found: Answers) -> None:
        if request.action not in ("read", "stacks"):
            super().ask(request, found)
            return
        try:
            found.told.append((self.label, self.snapshot()))
        except UserError as error:
            found.failures.append(error)

    def snapshot(self) -> Snapshot:
        """The snapshot in it, with its diagnosis.

        Raises:
            UserError: where the report is damaged.
        """
        return inside.read(self.path)


def of_file(path: Path) -> RecordingTarget:
    """The target that a file is."""
    return (ReportTarget if inside.is_page(path) else RecordingTarget)(os.fspath(path))


def load(path: Path, request: Request) -> Snapshot:
    """What is in a recording or a report.

    Raises:
        UserError: as :func:`recording.load`, and where a report is damaged.
    """
    target = of_file(path)
    return target.snapshot() if isinstance(target, ReportTarget) else recording.load(path, request)


def diagnosis_in(path: str) -> Diagnosis:
    """The diagnosis in a file: the JSON of ``diagnose`` or ``show``, a report, or a recording.

    Raises:
        UserError: where it is none of these, or damaged.
    """
    snapshot = _json_in(path) if _is_json(path) else load(path, Request(stacks=True, tells_of_all=True))
    return snapshot.diagnosis or snapshot.diagnose()


def _is_json(path: str) -> bool:
    try:
        with opened(path) as file:
            return file.read(64).lstrip().startswith(b"{")
    except OSError:
        # Why it is not there, whoever opens it as a recording says.
        return False


def _json_in(path: str) -> Snapshot:
    try:
        with opened(path) as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise ValueError(f"it is larger than {_LARGEST >> 30} GiB")
        return Snapshot.from_json(content.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(
            f"{shown(path)}: {error}", help="make it with: mpi-queues diagnose TARGET... --format json", kind="json"
        ) from None
