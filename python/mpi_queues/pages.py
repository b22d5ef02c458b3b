"""Reports as targets: what ``mpi-queues report`` wrote is read as the snapshot with the diagnosis that it shows."""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

from . import recordings
from ._native import Diagnosis, Snapshot
from .errors import UserError
from .page import inside
from .request import Request
from .system.files import opened
from .system.paths import shown
from .targets import RecordingTarget, Target

#: A larger file of JSON is none of ours, in bytes.
_LARGEST = 2 << 30


def diagnosis_of(wanted: Sequence[Target]) -> Optional[Diagnosis]:
    """The diagnosis that is in a report, where that is all that is named: what two looks have told stands in it, and no
    later look can.

    Raises:
        UserError: where the report is damaged.
    """
    if len(wanted) != 1 or not isinstance(wanted[0], RecordingTarget) or not inside.is_page(wanted[0].path):
        return None
    return inside.read(wanted[0].path).diagnosis


def apart(wanted: Sequence[Target]) -> Tuple[List[Target], List[Snapshot], List[UserError]]:
    """The targets but reports, what the reports hold, and why others could not be read."""
    others: List[Target] = []
    snapshots: List[Snapshot] = []
    failures: List[UserError] = []
    for target in wanted:
        if not isinstance(target, RecordingTarget) or not inside.is_page(target.path):
            others.append(target)
            continue
        try:
            snapshots.append(inside.read(target.path))
        except UserError as error:
            failures.append(error)
    return others, snapshots, failures


def diagnosis_in(path: str) -> Diagnosis:
    """The diagnosis in a file: the JSON of ``diagnose`` or ``show``, a report, or a recording.

    Raises:
        UserError: where it is none of these, or damaged.
    """
    if not inside.is_page(path) and not _is_json(path):
        return recordings.load(path, Request(stacks=True, tells_of_all=True)).diagnose()
    snapshot = inside.read(path) if inside.is_page(path) else _json_in(path)
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
