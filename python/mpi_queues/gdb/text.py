"""Text that gdb tells, whatever bytes it has.

gdb makes Python's text of names and of what it prints by its character set, and fails where a path has bytes that this
has not; the exception has them.
"""

from __future__ import annotations

from typing import Any, Callable

import gdb


def text(ask: Callable[[], Any]) -> str:
    """What ``ask`` returns as text, with bytes that are no UTF-8 as Python has them in paths; empty for None."""
    try:
        told = ask()
    except UnicodeDecodeError as error:
        return bytes(error.object).decode("utf-8", "surrogateescape")
    return "" if told is None else str(told)


def execute(command: str) -> str:
    """What a command of gdb prints.

    Raises:
        gdb.error: where it fails.
    """
    return text(lambda: gdb.execute(command, to_string=True))
