"""A debugger that is started once and answers the questions of many tests."""

from __future__ import annotations

import json
import os
import pathlib
import re
import select
import subprocess
import tempfile
from typing import Any, Mapping, Optional, Sequence, Tuple

SCRIPT = pathlib.Path(__file__).with_name("in_debugger.py")

#: What changes nothing of the debugger, but for one process. Whatever else a test types has a debugger of its own: gdb
#: would number further inferiors on.
_ONLY_ASKS = re.compile(
    r"(attach \d|process attach -p \d|detach|process detach"
    r"|mpi (queues|comms|info|handles?|comm|request|stacks|help)\b|help\b"
    r"|(print|output|frame|up|down|thread|bt|backtrace|info|show|image|ptype)\b)"
)


def only_asks(commands: Sequence[str]) -> bool:
    """Whether the commands leave a debugger as it was, but for what it debugs."""
    return all(_ONLY_ASKS.match(command) and " | " not in command for command in commands)


class Kept:
    """A debugger that runs ``in_debugger.py``."""

    def __init__(self, command: Sequence[str], timeout: float, environment: Optional[Mapping[str, str]] = None) -> None:
        self._timeout = timeout
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed in close
        asked, self._ask = os.pipe()
        self._told, told = os.pipe()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {}), "ASKED": str(asked), "TOLD": str(told)},
            pass_fds=(asked, told),
        )
        os.close(asked)
        os.close(told)

    def run(self, commands: Sequence[str]) -> Tuple[str, Any]:
        """What the commands print, and what the debugger answers."""
        before = self._output.tell()
        os.write(self._ask, json.dumps(commands).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            is_there, _, _ = select.select([self._told], [], [], self._timeout)
            piece = os.read(self._told, 1 << 20) if is_there else b""
            answer += piece
            if not piece:
                said = self._read(before)
                self.close()
                raise AssertionError(f"the debugger {'has ended' if is_there else 'does not answer'}: {said[-4000:]}")
        return self._read(before), json.loads(answer)

    def _read(self, start: int) -> str:
        """What was printed from a place on."""
        self._output.seek(start)
        return self._output.read().decode("utf-8", "replace").replace("\r\n", "\n")

    def close(self) -> None:
        """Ends the debugger, which debugs nothing."""
        os.close(self._ask)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._told)
        self._output.close()
