"""What pip builds a wheel with: the tools of the agent and the libraries, then maturin. Where this machine cannot
compile one of them, the wheel is without it, and a line says why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, List, Mapping, NamedTuple, Optional, Tuple

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
    """What is beside the module: its name, what makes it, where the wheel has it, and what needs it."""

    name: str
    tool: Tuple[str, ...]
    place: str
    needed: str


PARTS = (
    Part("the agent", ("build-agent", "--release"), "bin/mpi-queues-agent", "jobs on other nodes need"),
    Part("the flight recorder", ("build-recorder",), "lib/libmpi_queues_recorder.so", "'mpi-queues run' needs"),
    Part(
        "the library for other debuggers",
        ("build-mqs-library", "--release"),
        "lib/libmpi_queues_mqs.so",
        "TotalView and padb need",
    ),
)


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Mapping[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    """The wheel's name. What it lacks is said last, where it is read."""
    development = "dev" in maturin.get_maturin_pep517_args(config_settings)
    _make_executable()
    lacks = [line for part in PARTS for line in _build(part, development)]
    wheel = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    for line in lacks:
        print(line, file=sys.stderr, flush=True)
    return wheel


def _make_executable() -> None:
    """The tools call one another, and the archive that maturin makes of the sources keeps no modes."""
    for tool in (ROOT / "tools").iterdir():
        if not tool.suffix and tool.is_file() and not os.access(tool, os.X_OK):
            tool.chmod(0o755)


def _build(part: Part, development: bool) -> List[str]:
    """Puts it into the package; else a line that says why not. cargo knows what has to be compiled again."""
    name, *options = part.tool
    command = ["sh", str(ROOT / "tools" / name), *(["--development"] if development else options)]
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
