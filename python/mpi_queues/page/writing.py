"""Writes a report into a file, by the end of its name."""

from __future__ import annotations

import os
from typing import Callable, Dict, Union

from .._native import Diagnosis
from ..errors import UsageError
from ..system.paths import shown
from ..system.written import new_file
from . import report

Path = Union[str, "os.PathLike[str]"]

#: What files may be called.
ENDINGS = (".html", ".svg", ".dot")


def ending_of(path: Path) -> str:
    """The end of its name, as one of :data:`ENDINGS`.

    Raises:
        UsageError: where it is another one.
    """
    ending = os.path.splitext(os.fspath(path))[1].lower()
    found = {".htm": ".html", ".gv": ".dot"}.get(ending, ending)
    if found not in ENDINGS:
        raise UsageError(
            f"{shown(os.fspath(path))}: reports are HTML, SVG or DOT, by the end of the file's name",
            help="such as hang.html, hang.svg, hang.dot",
        )
    return found


def write(diagnosis: Diagnosis, path: Path, *, source: bool = True) -> int:
    """Writes the report; returns its size in bytes.

    Args:
        path: where it goes; ``.html`` is the whole report, ``.svg`` and ``.dot`` are the wait-for graph alone.
        source: whether lines of the program's source around the calls of the cause are quoted, where it is here.

    Raises:
        UsageError: where the name has another end.
        UserError: where it cannot be written.
    """
    ending = ending_of(path)
    made: Dict[str, Callable[[], str]] = {
        ".html": lambda: report.html(diagnosis, source=source),
        ".svg": lambda: report.svg(diagnosis),
        ".dot": lambda: report.dot_of(diagnosis),
    }
    content = made[ending]().encode("utf-8", "backslashreplace")
    with new_file(path, "the report") as file:
        file.write(content)
    return len(content)
