"""What to type where this package lacks the agent or one of its libraries."""

from __future__ import annotations

import json
import pathlib
import shlex
import sys
from importlib import metadata

#: The source tree, where the package is used in place.
_ROOT = pathlib.Path(__file__).resolve().parents[3]


def how_to_build(target: str) -> str:
    """``target`` is that of the Makefile. What is missing on this machine pip shows with -v, and where it builds."""
    if (_ROOT / "tools" / "build-agent").is_file():
        return f"in the source tree, type: make {target} (or make wheel, for one that has it)"
    again = ["-m", "pip", "install", "-v", "--force-reinstall", "--no-deps", "--no-cache-dir", _origin()]
    return f"to build it, or to see what is missing for that, type: {shlex.join([sys.executable, *again])}"


def _origin() -> str:
    """What pip installed this package from, as pip takes it: a directory, an archive, a repository, or its name."""
    try:
        # Absent for packages of an index (PEP 610).
        told = json.loads(metadata.distribution("mpi-queues").read_text("direct_url.json") or "{}")
        url, version_control = told.get("url", "mpi-queues"), told.get("vcs_info", {}).get("vcs")
    except (metadata.PackageNotFoundError, OSError, ValueError):
        return "mpi-queues"
    return f"{version_control}+{url}" if version_control else str(url)
