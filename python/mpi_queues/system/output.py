"""What leaves for people: standard output and standard error of the command line, and texts in debuggers.

Whatever a target, its files or a recording say is text of strangers. Here, and not where it is put together, every
character that would steer a terminal or hide what follows becomes an escape; which ones these are, the core says
(``crates/target/src/text.rs``). JSON has escapes of its own.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from typing import Any, Iterator, List, Optional, TextIO, cast

from .._native import printable, printable_json

#: Stands before and after what we ourselves tell a terminal; nobody else knows it.
_OURS = "\x1b" + os.urandom(8).hex()


def ours(sequence: str) -> str:
    """A control sequence of our own, which reaches the terminal as it is: emphasis, a cleared line."""
    return f"{_OURS}{sequence}{_OURS}"


def in_lines(text: str) -> str:
    """Text that has been made into lines, without other control characters than newlines and tabs."""
    pieces = text.split(_OURS)
    if len(pieces) == 1:
        return printable(text, lines=True)
    return "".join(piece if number % 2 else printable(piece, lines=True) for number, piece in enumerate(pieces))


def in_a_line(text: str) -> str:
    """One line at most: newlines are escapes, too."""
    return printable(text)


def json_text(value: Any) -> str:
    """The value as JSON in lines; characters that a terminal must not see are escapes."""
    return printable_json(json.dumps(value, indent=2)) + "\n"


class OutputError(OSError):
    """Standard output cannot be written to."""


class Stream:
    """A standard stream whose text is clean, and that knows whether it could be written to. The rest is as it was.

    Standard error that cannot be written to has nobody to tell: what is written to it is lost, and that is no error.
    """

    def __init__(self, stream: Optional[TextIO], *, needed: bool) -> None:
        self._stream = stream
        self._needed = needed
        #: Why it could not be written to, the first time.
        self.failure: Optional[OSError] = None

    def write(self, text: str) -> int:
        """Writes it, clean."""
        if self._stream is None:
            self._failed(OSError(errno.EBADF, "it is closed"))
        elif self.failure is None:
            try:
                self._stream.write(in_lines(text))
            except (OSError, ValueError) as error:
                self._failed(error)
        return len(text)

    def writelines(self, lines: List[str]) -> None:
        """Writes each."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """What was written goes on now."""
        if self._stream is None or self.failure is not None:
            return
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._failed(error)

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream is not None and self._stream.isatty()

    def _failed(self, error: Exception) -> None:
        failure = error if isinstance(error, OSError) else OSError(errno.EBADF, "it is closed")
        if self.failure is None:
            self.failure = failure
            self._discard()
        if not self._needed:
            return
        if isinstance(failure, BrokenPipeError):
            raise failure
        raise OutputError(failure.errno, failure.strerror)

    def _discard(self) -> None:
        """Python writes once more what it could not write when it ends, and complains: that goes nowhere."""
        if self._stream is None:
            return
        with contextlib.suppress(AttributeError, OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def clean_streams() -> Iterator[Stream]:
    """Makes the standard streams clean ones; standard output is returned."""
    before = sys.stdout, sys.stderr
    out = Stream(before[0], needed=True)
    error = Stream(before[1], needed=False)
    sys.stdout, sys.stderr = cast(TextIO, out), cast(TextIO, error)
    try:
        yield out
    finally:
        error.flush()
        sys.stdout, sys.stderr = before
