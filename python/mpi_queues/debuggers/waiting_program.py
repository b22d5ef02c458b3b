"""A program that is started but waits, so that a debugger has it before its first instruction."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import threading
from typing import Mapping, Optional

from ..errors import UserError

#: The shell reads a line before it becomes the program; where the debugger has ended instead, it ends, too.
_SCRIPT = "read go <&{pipe} || exit 1; exec {pipe}<&-; exec {program} {arguments}"


class WaitingProgram:
    """A shell that becomes a program when it is let go.

    It is a child of this process, but in a session of its own: Ctrl-C on the terminal is for the debugger. Its output
    is the debugger's; its input is empty, because the terminal's is the debugger's.
    """

    def __init__(self, program: str, arguments: str, environment: Mapping[str, str], directory: Optional[str]) -> None:
        """``arguments`` are as they were typed: the shell expands them, and knows redirections.

        Raises:
            UserError: where there is no such program.
        """
        path = _found(program, environment, directory)
        held, self._gate = os.pipe()
        script = _SCRIPT.format(pipe=held, program=shlex.quote(path), arguments=arguments)
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", script],
                stdin=subprocess.DEVNULL,
                pass_fds=[held],
                env=dict(environment),
                cwd=directory,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(self._gate)
            raise UserError(f"cannot start {program}: {error}", kind="no_launcher") from None
        finally:
            os.close(held)
        self.pid = self._process.pid
        # It must not stay a zombie, whoever looks at the machine's processes.
        threading.Thread(target=self._process.wait, daemon=True).start()

    def let_go(self) -> None:
        """It may become the program, as soon as it runs."""
        gate, self._gate = self._gate, -1
        if gate >= 0:
            with contextlib.suppress(OSError):
                os.write(gate, b"go\n")
            os.close(gate)

    def end(self) -> None:
        """Ends it, whatever it has become."""
        if self._gate >= 0:
            os.close(self._gate)
            self._gate = -1
        # Popen takes no pid for its process's that has been waited for.
        self._process.kill()

    def exit_status(self, seconds: float) -> Optional[int]:
        """How it has ended, as :attr:`subprocess.Popen.returncode` tells; None where it has not, within this time."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None


def _found(program: str, environment: Mapping[str, str], directory: Optional[str]) -> str:
    if "/" in program:
        path = os.path.join(directory or os.curdir, os.path.expanduser(program))
        if not os.path.isfile(path) or not os.access(path, os.X_OK):
            why = "is not executable" if os.path.exists(path) else "does not exist"
            raise UserError(f"cannot start {program}: it {why}", help="type the path of a launcher, such as mpirun")
        return os.path.abspath(path)
    path_found = shutil.which(program, path=environment.get("PATH", os.defpath))
    if path_found is None:
        raise UserError(
            f"cannot start {program}: no directory of PATH has such a program",
            help="type the path of a launcher, such as /usr/bin/mpirun",
            kind="no_launcher",
        )
    # A relative directory of PATH is one below the program's.
    return os.path.join(directory or os.getcwd(), path_found)
