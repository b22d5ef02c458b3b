"""``mpi-queues --version``: the version of each part, because a source tree may have parts of different builds."""

from __future__ import annotations

import argparse
import re
import subprocess
from typing import Any, Dict, Iterator, List

from .. import _native
from ..errors import UserError
from ..system import agent, commands, recorder
from ..system.paths import shown

#: A program that says its version takes milliseconds (seconds).
_PATIENCE = 10.0
#: Bytes that are read of that.
_MOST = 4096


class VersionAction(argparse.Action):
    """Prints it, and ends."""

    def __init__(self, option_strings: List[str], dest: str, **given: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=given.get("help"))

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        for line in lines():
            print(line)
        parser.exit()


def lines() -> Iterator[str]:
    """The version, and a line for each part."""
    yield f"mpi-queues {_native.__version__}"
    yield f"core: {_native.__version__}, JSON mpi-queues/1, {shown(_native.__file__)}"
    yield f"layouts: {_layouts()}"
    yield f"agent: {_agent()}"
    yield f"recorder: {_recorder()}"


def _layouts() -> str:
    """``51 profiles: MPICH 3.4 to 5.0, …``."""
    fits: Dict[str, List[str]] = {}
    profiles = _native.layouts_list()
    for profile in profiles:
        fits.setdefault(str(profile["implementation"]), []).extend(profile["fits"])
    ranges = (f"{name} {min(found, key=_number)} to {max(found, key=_number)}" for name, found in fits.items())
    return f"{len(profiles)} profiles: {', '.join(ranges)}"


def _number(version: str) -> List[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def _agent() -> str:
    try:
        path = str(agent.path())
    except UserError as error:
        return _none(error)
    try:
        told = commands.said([path, "--version"], _PATIENCE, _MOST)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{shown(path)} does not run here: {error}"
    if told.status != 0:
        return f"{shown(path)} does not run here: it ended with status {told.status}"
    version = told.out.decode(errors="replace").strip().rpartition(" ")[2]
    return f"{version}, protocol {_native.AGENT_PROTOCOL}, {shown(path)}"


def _recorder() -> str:
    try:
        return shown(recorder.path())
    except UserError as error:
        return _none(error)


def _none(error: UserError) -> str:
    return f"none; {error.args[0]}; {error.help}"
