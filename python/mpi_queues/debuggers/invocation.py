"""How each debugger is found and started to read one target for the command line."""

from __future__ import annotations

import copy
import os
import pathlib
import pwd
import re
import shutil
import signal
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Dict, List, Optional, Tuple

from ..errors import UserError
from ..system import advice

_DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
#: All that a debugger with a user's rights gets of root's environment; what else is there may be for root's eyes.
_HARMLESS = re.compile(r"PATH|LD_LIBRARY_PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|MPI_QUEUES_LIMITS")


@dataclass(frozen=True)
class Rights:
    """Those of a user of this machine."""

    user: int
    group: int
    #: The groups beside that one.
    groups: Tuple[int, ...]

    def of_child(self) -> Dict[str, Any]:
        """The arguments with which ``subprocess.Popen`` starts a program that has these alone. It works where nobody
        needs rights: not in a directory of root's."""
        return {"user": self.user, "group": self.group, "extra_groups": list(self.groups), "cwd": "/"}


class Launcher(ABC):
    """One debugger that is installed here."""

    #: As ``--via`` names it.
    name: ClassVar[str]
    #: Debian's package of it.
    package: ClassVar[str]
    #: What it says where it was built without Python, and what to know of the package that has it.
    no_python: ClassVar[Tuple[str, ...]]
    package_note: ClassVar[str] = ""
    #: What it is sent, one after the other, until it has ended.
    signals_to_end: ClassVar[Tuple[signal.Signals, ...]] = (signal.SIGTERM, signal.SIGKILL)

    def __init__(self, program: str) -> None:
        self.program = os.path.abspath(program)
        #: Those with which it runs; None for ours.
        self.rights: Optional[Rights] = None

    def with_rights(self, rights: Rights) -> Launcher:
        """The same, with the rights of a user."""
        other = copy.copy(self)
        other.rights = rights
        return other

    @classmethod
    @abstractmethod
    def find(cls) -> str:
        """The path of its program, empty where it is not installed."""

    @property
    @abstractmethod
    def command(self) -> List[str]:
        """Runs the child's script: nothing of the user's settings, nothing from the network, no code of the target's
        choice."""

    @property
    def files(self) -> List[str]:
        """What it is to read of ours."""
        package = pathlib.Path(__file__).resolve()
        return [str(_DATA / f"{self.name}-scripts" / "read_process.py"), str(package)]

    def environment(self) -> Dict[str, str]:
        """Ours, without what would change the debugger's Python: it is the distribution's. With a user's rights nothing
        of ours but the words for languages and places of programs: that user can read it."""
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        if self.rights is not None:
            environment = {name: value for name, value in environment.items() if _HARMLESS.fullmatch(name)}
            environment.update(PYTHONDONTWRITEBYTECODE="1", PYTHONNOUSERSITE="1", HOME="/nonexistent")
            try:
                login = pwd.getpwuid(self.rights.user).pw_name
            except KeyError:
                return environment
            environment.update(USER=login, LOGNAME=login)
        for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "DEBUGINFOD_URLS"):
            environment.pop(name, None)
        return environment


class GdbLauncher(Launcher):
    """gdb."""

    name = "gdb"
    package = "gdb"
    # A SIGTERM while gdb attaches makes gdb pass a Ctrl-C on to the process (default_quit_handler), and its SIGINT ends
    # the rank. Where gdb is killed the kernel detaches.
    signals_to_end = (signal.SIGKILL,)
    no_python = ("Python scripting is not supported", "not supported in this copy of GDB")
    package_note = " (gdb-minimal has no Python)"

    _SETTINGS = (
        "set debuginfod enabled off",
        "set auto-load off",
        "set confirm off",
        "set pagination off",
        "set print thread-events off",
        "set print inferior-events off",
    )

    @classmethod
    def find(cls) -> str:
        return shutil.which("gdb") or ""

    @property
    def command(self) -> List[str]:
        settings = [part for setting in self._SETTINGS for part in ("-iex", setting)]
        return [self.program, "-nx", "-nh", "-q", "-batch", *settings, "-x", self.files[0]]


class LldbLauncher(Launcher):
    """lldb; Debian installs it with its version in the name."""

    name = "lldb"
    package = "lldb-19 python3-lldb-19"
    no_python = ("scripting is not supported", "there is no embedded script interpreter")

    _SETTINGS = (
        "settings set target.load-script-from-symbol-file false",
        "settings set target.load-cwd-lldbinit false",
    )

    @classmethod
    def find(cls) -> str:
        plain = shutil.which("lldb")
        if plain:
            return plain
        found: Dict[int, str] = {}
        for directory in os.get_exec_path():
            for program in pathlib.Path(directory).glob("lldb-[0-9]*"):
                version = re.fullmatch(r"lldb-(\d+)", program.name)
                if version and os.access(program, os.X_OK):
                    found.setdefault(int(version[1]), str(program))
        return found[max(found)] if found else ""

    @property
    def command(self) -> List[str]:
        settings = [part for setting in self._SETTINGS for part in ("-O", setting)]
        quoted = '"' + self.files[0].replace("\\", "\\\\").replace('"', '\\"') + '"'
        return [self.program, "--no-lldbinit", "--batch", *settings, "-o", f"command script import {quoted}"]


_LAUNCHERS = {launcher.name: launcher for launcher in (GdbLauncher, LldbLauncher)}


def launcher(via: str) -> Launcher:
    """The debugger that ``--via`` names.

    Raises:
        UserError: where it is not installed.
    """
    kind = _LAUNCHERS[via]
    program = kind.find()
    if not program:
        raise UserError(f"{via} is not installed", help=advice.install(kind.package), kind=f"no_{via}")
    return kind(program)


def installed() -> List[str]:
    """The debuggers that are installed here, as ``--via`` names them, gdb first."""
    return [name for name, kind in _LAUNCHERS.items() if kind.find()]
