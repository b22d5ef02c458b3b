"""Drives a real gdb in batch mode, and debuggers on a terminal as a person does."""

from __future__ import annotations

import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time
from fcntl import ioctl
from typing import List, Optional, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOADER = ROOT / "gdb-scripts" / "mpi_queues.py"
PROMPT = "(gdb) "

QUIET = ("set debuginfod enabled off", "set auto-load off", "set confirm off")

#: gdb as a person starts it, without what the user's own settings would change.
GDB = ["gdb", "-nx", "-q", *(word for one in (*QUIET, "set style enabled off") for word in ("-iex", one))]

#: The same where it runs commands and ends.
BATCH = ["gdb", "-nx", "-q", "-batch", *(word for one in QUIET for word in ("-iex", one))]

#: Only keeps a hanging gdb from hanging the tests.
TIMEOUT = 120.0


def batch(commands: Sequence[str], *, load: bool = True, environment: Optional[dict[str, str]] = None) -> str:
    """What gdb prints for these commands; standard error is mixed in as on a terminal."""
    command = list(BATCH)
    if load:
        command += ["-ex", f"source {LOADER}"]
    for one in commands:
        command += ["-ex", one]
    # No pipe: a job that gdb has started and let go of still has it, and it would not end with gdb.
    with tempfile.TemporaryFile() as output:
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            env={**os.environ, **(environment or {})},
            check=False,
        )
        output.seek(0)
        return output.read().decode("utf-8", "replace").replace("\r\n", "\n")


class Terminal:
    """A debugger on a terminal of ``rows`` lines."""

    def __init__(
        self, *, rows: int = 50, columns: int = 120, command: Sequence[str] = GDB, prompt: str = PROMPT
    ) -> None:
        self._prompt = prompt
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm", INPUTRC="/dev/null", PS1="")
            os.execvp(command[0], list(command))
        ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.read_until(prompt)

    def send(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def run(self, command: str) -> str:
        """Types a command; what is printed up to the next prompt."""
        self.send(command + "\n")
        return self.read_until(self._prompt)

    def read_until(self, text: str, timeout: float = TIMEOUT, *, before: str = "") -> str:
        """What is printed up to and with ``text``, which may have begun with the end of what was read ``before``."""
        # A control sequence may come in two pieces.
        seen, raw = "", b""
        deadline = time.monotonic() + timeout
        while text not in before + seen:
            left = deadline - time.monotonic()
            assert left > 0, f"no {text!r} within {timeout} s after: {seen[-2000:]!r}"
            if select.select([self._terminal], [], [], left)[0]:
                try:
                    piece = os.read(self._terminal, 65536)
                except OSError:
                    piece = b""
                assert piece, f"the debugger ended after: {seen[-2000:]!r}"
                raw += piece
                seen = plain(raw.decode("utf-8", "replace"))
        return seen

    def read_quiet(self, quiet: float = 0.5) -> str:
        """What is printed until nothing comes for a while."""
        raw = b""
        while select.select([self._terminal], [], [], quiet)[0]:
            raw += os.read(self._terminal, 65536)
        return plain(raw.decode("utf-8", "replace"))

    def complete(self, typed: str) -> str:
        """What stands there after two tabs; the line is then given up."""
        self.send(typed + "\t\t")
        # The first answer may need all that is known of the process.
        seen = self.read_quiet(1.5)
        self.send("\x15")  # kill the line
        self.read_quiet(0.1)
        return seen

    def close(self) -> None:
        """Ends the debugger, which detaches."""
        try:
            os.kill(self.pid, signal.SIGTERM)
            deadline = time.monotonic() + 10
            while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
                if time.monotonic() > deadline:
                    os.kill(self.pid, signal.SIGKILL)
                time.sleep(0.01)
        except (ProcessLookupError, ChildProcessError):
            pass
        finally:
            os.close(self._terminal)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def plain(text: str) -> str:
    """Text without the terminal's control sequences."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return text.replace("\r", "").replace("\x07", "")


def lines_of(text: str) -> List[str]:
    return [line.rstrip() for line in text.splitlines()]
