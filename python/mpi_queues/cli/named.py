"""What a word on the command line names, and the job that is meant where there is no word at all."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from dataclasses import dataclass
from typing import Union

from ..errors import UserError
from ..launchers.model import Job
from ..launchers.tree import ProcessTree
from ..nodes.engines import PREFIXES
from ..report.words import counted
from ..system import files, processes
from ..system.paths import shown
from ..targets.core import CoreTarget
from ..targets.jobs import found_job
from ..targets.process import PidTarget
from ..targets.recording import RecordingTarget

#: The first bytes of files that are compressed, as core files are by those who keep them (crates/target,
#: ``cores/packed.rs``), of files of ELF, and of scripts.
_PACKED = (b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"\xfd7zXZ\0", b"\x1f\x8b\x08")
_ELF, _SCRIPT = b"\x7fELF", b"#!"

#: Where a file of ELF says how its numbers are written and what it is (elf(5)).
_ORDER, _TYPE, _CORE = 5, slice(16, 18), 4

#: How files are called that commands read.
_ENDINGS = (".mpirec", ".html", ".json")


@dataclass(frozen=True)
class JobTarget:
    """All ranks of a job, by its launcher: a process id or a name."""

    job: str
    #: Whether it was an option that said that it is a job.
    sure: bool = True


@dataclass(frozen=True)
class Word:
    """A word that names a target, of whatever kind."""

    text: str


#: What a word may name.
Named = Union[JobTarget, PidTarget, CoreTarget, RecordingTarget]


def target_of(word: str, timeout: float) -> Named:
    """What a word names.

    Raises:
        UserError: for what looks like a file, and is none.
    """
    if word.startswith(PREFIXES):
        return JobTarget(word)
    if word.isascii() and word.isdecimal():
        return _of_number(word, timeout)
    if _is_file(word):
        return _of_file(word)
    if os.sep in word or word.endswith(_ENDINGS) or _is_called_core(word):
        there = shown(shlex.quote(os.path.dirname(word) or "."))
        raise UserError(
            f"{shown(word)}: no such file", help=f"to see the files there, type: ls {there}", kind="no_file"
        )
    return JobTarget(word, sure=False)


def _of_number(word: str, timeout: float) -> Named:
    """The job of a launcher, or of what has started it; any other process alone."""
    pid = int(word) if len(word) <= 10 else 0
    if not 0 < pid < 1 << 31:
        raise UserError(f"{word[:20]}: not a process id", kind="no_process")
    try:
        launcher = found_job(word, timeout).pid
    except UserError as error:
        # Of several jobs below it one is to be named; what is no part of a job may be read all the same.
        if error.kind == "several_jobs":
            raise
        return PidTarget(pid)
    return JobTarget(word) if pid == launcher or pid in ProcessTree().ancestors(launcher) else PidTarget(pid)


def _is_file(path: str) -> bool:
    try:
        return not stat.S_ISDIR(files.about(path).mode)
    except (OSError, ValueError):
        return False


def _of_file(path: str) -> Named:
    first = _first_bytes(path)
    if first.startswith(_PACKED):
        return CoreTarget(path)
    if first.startswith(_ELF):
        order = "big" if first[_ORDER : _ORDER + 1] == b"\x02" else "little"
        if int.from_bytes(first[_TYPE], order) == _CORE:  # type: ignore[arg-type]
            return CoreTarget(path)
    if first.startswith((_ELF, _SCRIPT)):
        # A program: the launcher that was started from it.
        return JobTarget(path, sure=False)
    return RecordingTarget(path)


def _first_bytes(path: str) -> bytes:
    try:
        with files.opened(path) as file:
            return file.read(32)
    except (OSError, ValueError):
        # Why it cannot be read, whoever reads it says.
        return b""


def _is_called_core(word: str) -> bool:
    return word == "core" or (word.startswith("core.") and not word.endswith("."))


def not_there(job: JobTarget, error: UserError) -> UserError:
    """Why there is no such job, where it was not said that it is one."""
    if job.sure or error.kind != "no_job":
        return error
    what = (
        "it is not the name of a running launcher"
        if files.is_there(job.job)
        else "there is no such file, and no such job"
    )
    return UserError(f"{shown(job.job)}: {what}\n{error.args[0]}", help=error.help, kind=error.kind)


def only_job(timeout: float) -> Job:
    """The only job that the user may look at, which is said in a line on standard error.

    Raises:
        UserError: where there is none, or more than one, with what to type.
    """
    job = found_job(None, timeout)
    owner = processes.owner(job.pid)
    whose = f" of {processes.user_name(owner)}" if owner is not None and owner != os.geteuid() else ""
    name = f"{shown(job.launcher)} (pid {job.pid}){whose}"
    print(f"mpi-queues: the only job here: {name}, {counted(len(job.ranks), 'rank')}", file=sys.stderr, flush=True)
    return job
