"""Looking up symbols while gdb handles an event of the program."""

from __future__ import annotations

import contextlib
from typing import Iterator, Optional

import gdb

from . import adapter as gdb_adapter

_depth = 0


@contextlib.contextmanager
def symbols_in_events() -> Iterator[None]:
    """Inside, no command of gdb is run that may fail.

    Where one does, gdb shows its prompt again although the program has not stopped (gdb 13, python/python.c,
    execute_gdb_command: async_enable_stdin), and a command that waits for the stop returns.
    """
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def symbol_address(name: str) -> Optional[int]:
    """Where a variable or function of the selected inferior is, None where it has none of that name; also in events."""
    if not _depth:
        return gdb_adapter.symbol_address(name)
    try:
        return int(gdb.parse_and_eval(f"&{name}"))
    except gdb.error:
        return None
