"""What pip builds a wheel with: the tools of the agent and the libraries, then maturin, all of the profile `source` in
Cargo.toml, unless another is asked for. Where this machine cannot compile one of them, the wheel is without it, and a
line says why."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, List, Mapping, NamedTuple, Optional

import maturin
from maturin import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).resolve().parents[1]


class Part(NamedTuple):
    """What is beside the module: its name, what makes it, where the wheel has it, what needs it, and whether it has a
    profile of its own."""

    name: str
    tool: str
    place: str
    needed: str
    alone: bool = False


PARTS = (
    Part("the agent", "build-agent", "bin/mpi-queues-agent", "jobs on other nodes need"),
    Part("the flight recorder", "build-recorder", "lib/libmpi_queues_recorder.so", "'mpi-queues run' needs", True),
    Part("the library for other debuggers", "build-mqs-library", "lib/libmpi_queues_mqs.so", "TotalView and padb need"),
)


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Mapping[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    """The wheel's name. What it lacks is said last, where it is read."""
    arguments = maturin.get_maturin_pep517_args(config_settings)
    profile = _profile(arguments)
    if profile is None:
        profile = "source"
        arguments = [*arguments, "--profile", profile]
    _make_executable()
    lacks = [line for part in PARTS for line in _build(part, profile)]
    settings = {**(config_settings or {}), "maturin.build-args": shlex.join(arguments)}
    wheel = maturin.build_wheel(wheel_directory, settings, metadata_directory)
    for line in lacks:
        print(line, file=sys.stderr, flush=True)
    return wheel


def _profile(arguments: List[str]) -> Optional[str]:
    """That of Cargo which maturin is asked for."""
    for name, value in zip(arguments, [*arguments[1:], ""]):
        if name == "--profile":
            return value
        if name.startswith("--profile="):
            return name.partition("=")[2]
    return "release" if {"--release", "-r"} & set(arguments) else None


def _make_executable() -> None:
    """The tools call one another, and the archive that maturin makes of the sources keeps no modes."""
    for tool in (ROOT / "tools").iterdir():
        if not tool.suffix and tool.is_file() and not os.access(tool, os.X_OK):
            tool.chmod(0o755)


def _build(part: Part, profile: str) -> List[str]:
    """Puts it into the package; else a line that says why not. cargo knows what has to be compiled again."""
    development = profile == "dev"
    options = ["--development"] if development else [] if part.alone else ["--profile", profile]
    command = ["sh", str(ROOT / "tools" / part.tool), *options]
    place = ROOT / "python" / "mpi_queues" / part.place
    last = ""
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, errors="replace") as tool:
        for line in tool.stderr or ():
            sys.stderr.write(line)
            last = line.strip() or last
    if tool.returncode != 0:
        # One of an earlier version would not fit the module.
        place.unlink(missing_ok=True)
        return [f"mpi-queues is built without {part.name}, which {part.needed}: {last or f'status {tool.returncode}'}"]
    if not development:
        # The targets of the Makefile that have others there make theirs again: to them this is from 2000.
        os.utime(place, (946684800, 946684800))
        (ROOT / ".venv" / ".optimised").unlink(missing_ok=True)
    return []
