"""The command that somebody wants to be run at an alarm (``--then``), and what it is told."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from typing import IO, Dict, Iterator, List, Union

from ..report.words import shorten
from ..system.output import in_a_line, in_lines
from ..system.paths import shown
from .files import duration
from .watcher import Alarm

#: Seconds for which it is waited for before the job is ended.
TIME = 60.0

#: Columns of the headline in its environment; whole it is in the JSON.
_MOST = 1000


def run(words: List[str], name: str, alarm: Alarm, directory: str) -> Iterator[str]:
    """Runs it, without a shell, and waits for its end for a while; what went wrong, in sentences.

    ``name`` is what the job is called, ``directory`` where the files are.
    """
    command = shown(words[0])
    try:
        with contextlib.ExitStack() as opened:
            file: Union[int, IO[bytes]] = subprocess.DEVNULL
            try:
                file = opened.enter_context(_given(alarm))
            except OSError as error:
                yield f"{command} cannot be given the JSON: {error.strerror}"
            process = subprocess.Popen(words, stdin=file, env=environment(name, alarm, directory))
    except OSError as error:
        yield f"{command}: {error.strerror}"
        return
    try:
        status = process.wait(TIME)
    except subprocess.TimeoutExpired:
        yield f"{command} has not ended after {duration(TIME)}; the watch does not wait for it"
        return
    if status:
        yield f"{command} ended with status {status}"


def environment(name: str, alarm: Alarm, directory: str) -> Dict[bytes, bytes]:
    """What it finds there: what strangers wrote is a value, and no control character is in it."""
    told = {
        "JOB_NAME": name,
        "STATE": alarm.diagnosis.state,
        "HEADLINE": shorten(alarm.diagnosis.headline, _MOST),
        "SINCE": f"{alarm.since:.0f}",
    }
    ours = {f"MPI_QUEUES_{key}".encode(): in_a_line(shown(value)).encode() for key, value in told.items()}
    return {**os.environb, **ours, b"MPI_QUEUES_DIR": os.fsencode(directory)}


def _given(alarm: Alarm) -> IO[bytes]:
    """The JSON, in a file without a name: nobody waits for a command that does not read it.

    Raises:
        OSError: where no file can be written.
    """
    with contextlib.ExitStack() as on_error:
        file = on_error.enter_context(tempfile.TemporaryFile())
        file.write(in_lines(alarm.diagnosis.to_json(indent=2)).encode("utf-8", "backslashreplace"))
        file.seek(0)
        on_error.pop_all()
        return file
