"""How each debugger is found and started to read one target for the command line."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
from abc import ABC, abstractmethod
from typing import ClassVar, Dict, List, Tuple

from ..errors import UserError

_DATA = pathlib.Path(__file__).resolve().parents[1] / "data"


class Launcher(ABC):
    """One debugger that is installed here."""

    #: As ``--via`` names it.
    name: ClassVar[str]
    #: Debian's package of it.
    package: ClassVar[str]
    #: What it says where it was built without Python, and what to do then.
    no_python: ClassVar[Tuple[str, ...]]
    with_python: ClassVar[str]

    def __init__(self, program: str) -> None:
        self.program = program

    @classmethod
    @abstractmethod
    def find(cls) -> str:
        """The path of its program, empty where it is not installed."""

    @property
    @abstractmethod
    def command(self) -> List[str]:
        """Runs the child's script: nothing of the user's settings, nothing from the network, no code of the target's
        choice."""

    def environment(self) -> Dict[str, str]:
        """Ours, without what would change the debugger's Python: it is the distribution's."""
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "DEBUGINFOD_URLS"):
            environment.pop(name, None)
        return environment


class GdbLauncher(Launcher):
    """gdb."""

    name = "gdb"
    package = "gdb"
    no_python = ("Python scripting is not supported", "not supported in this copy of GDB")
    with_python = "type: sudo apt install gdb (gdb-minimal has no Python)"

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
        script = _DATA / "gdb-scripts" / "read_process.py"
        return [self.program, "-nx", "-nh", "-q", "-batch", *settings, "-x", str(script)]


class LldbLauncher(Launcher):
    """lldb; Debian installs it with its version in the name."""

    name = "lldb"
    package = "lldb-19 python3-lldb-19"
    no_python = ("scripting is not supported", "there is no embedded script interpreter")
    with_python = "type: sudo apt install lldb-19 python3-lldb-19"

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
        script = str(_DATA / "lldb-scripts" / "read_process.py")
        quoted = '"' + script.replace("\\", "\\\\").replace('"', '\\"') + '"'
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
        raise UserError(f"{via} is not installed", help=f"type: sudo apt install {kind.package}", kind=f"no_{via}")
    return kind(program)


def installed() -> List[str]:
    """The debuggers that are installed here, as ``--via`` names them, gdb first."""
    return [name for name, kind in _LAUNCHERS.items() if kind.find()]
