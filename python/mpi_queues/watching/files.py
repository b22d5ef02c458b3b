"""What a watch writes into its directory: the diagnosis as text and JSON, and a recording of all ranks."""

from __future__ import annotations

import os
import shlex
import time
from dataclasses import dataclass, field
from typing import List, Optional

from .._native import Diagnosis, unanswered
from ..errors import UserError
from ..nodes import reading as nodes
from ..page.report import html
from ..report import diagnosis as report
from ..report.words import WIDTH, counted, wrapped
from ..system.output import in_lines
from ..system.paths import shown
from ..system.written import new_file
from ..targets import asking
from ..targets.nodes import NodesTarget
from ..targets.record import record
from .looks import Looks, Nothing

_TEXT, _JSON, _PAGE, _RECORDING = "diagnosis.txt", "diagnosis.json", "diagnosis.html", "job.mpirec"


@dataclass
class Written:
    """What was written."""

    directory: str
    #: The names of the files.
    files: List[str] = field(default_factory=list)
    #: What could not be, in sentences.
    problems: List[str] = field(default_factory=list)


class Directory:
    """Where a watch writes. Nothing that is there is replaced: later files have a number in their names."""

    def __init__(self, path: str) -> None:
        """Makes the directory where it is not there.

        Raises:
            UserError: where nothing can be written there.
        """
        self.path = os.path.abspath(path)
        try:
            os.makedirs(self.path, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"cannot write into the directory {shown(path)}: {error.strerror}",
                help="name another one",
                kind="not_written",
            ) from None
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise UserError(
                f"cannot write into the directory {shown(path)}: you may not",
                help="name another one",
                kind="not_written",
            )

    def _free(self) -> str:
        """What stands behind the names of the next files."""
        number = 1
        while True:
            suffix = "" if number == 1 else f"-{number}"
            names = [_named(name, suffix) for name in (_TEXT, _JSON, _PAGE, _RECORDING)]
            places = [*(os.path.join(self.path, name) for name in names), *([self.path + suffix] if suffix else [])]
            if not any(os.path.lexists(place) for place in places):
                return suffix
            number += 1

    def write(self, diagnosis: Optional[Diagnosis], head: List[str], looks: Looks, *, ended: bool = False) -> Written:
        """Writes the diagnosis, then records all ranks, which are there still unless they have ``ended``; ``head``
        stands above the text."""
        suffix = self._free()
        written = Written(self.path)
        text, json, page, recording = (_named(name, suffix) for name in (_TEXT, _JSON, _PAGE, _RECORDING))
        # What the ranks' own problems say as well, in the JSON.
        head = [*head, *(f"Problem: {sentence}." for sentence in unanswered())]
        if diagnosis is not None:
            self._write(written, text, _text(diagnosis, head, os.path.join(self.path, recording)))
            self._write(written, json, in_lines(diagnosis.to_json(indent=2)) + "\n")
            self._write(written, page, html(diagnosis))
        else:
            self._write(written, text, in_lines("".join(wrapped(line, "", "  ") for line in head)))
        if not ended:
            self._record(written, recording, suffix, looks)
        return written

    def _write(self, written: Written, name: str, text: str) -> None:
        try:
            with new_file(os.path.join(self.path, name), "the diagnosis") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
        except UserError as error:
            written.problems.append(_sentence(error))
        else:
            written.files.append(name)

    def _record(self, written: Written, name: str, suffix: str, looks: Looks) -> None:
        try:
            wanted = looks.find()
        except (Nothing, UserError) as error:
            written.problems.append(f"nothing was recorded: {error.args[0]}")
            return
        elsewhere = asking.on_nodes(wanted)
        here = [target for target in wanted if target not in elsewhere]
        if here:
            try:
                found = record(here, looks.request, os.path.join(self.path, name), quiet=True)
            except UserError as error:
                written.problems.append(_sentence(error))
            else:
                written.files.append(name)
                # What is the same for many ranks is told once.
                failures = dict.fromkeys(map(_sentence, found.failures))
                written.problems += [*found.problems, *failures]
        for target in elsewhere:
            # Nodes may not have this directory, and make one of that path, each for its own file.
            self._record_on_nodes(written, self.path + suffix, target, looks)

    def _record_on_nodes(self, written: Written, directory: str, target: NodesTarget, looks: Looks) -> None:
        try:
            files, problems, failures = nodes.record(
                target.job, directory, looks.request.timeout, lambda *_: None, target.engine
            )
        except UserError as error:
            written.problems.append(f"{target.label}: nothing was recorded: {error.args[0]}")
            return
        finally:
            nodes.close_all()
        for file in files:
            here = os.path.exists(file.path)
            where = os.path.relpath(file.path, self.path) if here else f"{file.node}:{file.path}"
            written.files.append(where)
        written.problems += [*problems, *(str(failure.args[0]) for failure in failures)]


def _sentence(error: UserError) -> str:
    """What is wrong, with what to do, in one line: a watch has nobody who reads its lines at once."""
    return "; ".join([str(error.args[0]), *(line for line in error.help.splitlines() if line)]).replace("\n", "; ")


def _named(name: str, suffix: str) -> str:
    stem, extension = os.path.splitext(name)
    return f"{stem}{suffix}{extension}"


def _text(diagnosis: Diagnosis, head: List[str], recording: str) -> str:
    pieces = [*(wrapped(line, "", "  ") for line in head), "\n"]
    options = report.Options(
        width=WIDTH, verbose=False, more=f"mpi-queues diagnose --recording {shlex.quote(recording)} -v"
    )
    report.write_diagnosis(diagnosis, pieces.append, options)
    return in_lines("".join(pieces))


def clock(seconds: float) -> str:
    """A time for people, with where it is so."""
    return time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(seconds))


def duration(seconds: float) -> str:
    """How long something is so, in words."""
    whole = round(seconds)
    if whole < 120:
        return counted(whole, "second")
    minutes, rest = divmod(whole, 60)
    if minutes < 120:
        return counted(minutes, "minute") + (f" {rest} s" if rest and minutes < 10 else "")
    return f"{minutes // 60} hours" + (f" {minutes % 60} min" if minutes % 60 else "")
