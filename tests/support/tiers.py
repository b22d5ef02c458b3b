"""Which tests ``make test`` leaves to ``make test-all``. It stands on the test:

- ``@pytest.mark.slow``: all of it;
- ``@pytest.mark.usual("gdb-2", "lldb-*")``: of its parameters all but these; a star stands for any text;
- of a test of a live job or debugger that has neither mark: all but the first of its parameters, on an MPI of the
  distribution;
- of other tests on several MPIs or browsers: all but the distribution's MPIs and Chromium.
"""

from __future__ import annotations

import re
from typing import Dict, List, Sequence, Set, Tuple

import pytest

from . import builds

MARKS = (
    "slow: only make test-all runs it",
    "usual(*ids): make test runs it with these parameters alone",
    "mpi: needs an MPI",
    "debugger: needs gdb or lldb",
    "nodes: needs several machines, or Slurm, or Flux: they are made up of namespaces",
    "browser: needs a browser",
)

#: Fixtures whose parameters are MPIs, and the MPIs that every run has.
BUILD_FIXTURES = ("mpi_build", "mpich_build", "transport_build")
EVERYWHERE = (builds.DEBIAN, builds.DEBIAN_MPICH, f"{builds.DEBIAN}+ucx")

BROWSER = "chromium"

#: What tests of a folder need.
FOLDERS = {"mpi": "mpi", "debugger": "debugger", "nodes": "nodes", "recorder": "mpi", "watch": "mpi"}


def left_out(items: Sequence[pytest.Item]) -> Set[pytest.Item]:
    """Those of the tests that only ``make test-all`` runs.

    Raises:
        pytest.UsageError: where a mark names parameters that its test does not have: they have another name by now.
    """
    found = set()
    met: Set[str] = set()
    named: Dict[Tuple[str, str], bool] = {}
    for item in items:
        usual = item.get_closest_marker("usual")
        if usual is not None:
            name = item.name.partition("[")[2][:-1]
            fitting = [pattern for pattern in usual.args if _fits(pattern, name)]
            function = item.nodeid.partition("[")[0]
            for pattern in usual.args:
                named[function, pattern] = named.get((function, pattern), False) or pattern in fitting
        is_out = not fitting if usual is not None else _is_elsewhere(item) or _is_repeated(item, met)
        if item.get_closest_marker("slow") is not None or is_out:
            found.add(item)
    if unused := [f"{function}: {pattern}" for (function, pattern), is_used in named.items() if not is_used]:
        raise pytest.UsageError(f"no parameters fit what is usual: {'; '.join(unused)}")
    return found


def _is_elsewhere(item: pytest.Item) -> bool:
    """Whether it is on an MPI, or in a browser, that not every run has."""
    parameters: Dict[str, object] = getattr(getattr(item, "callspec", None), "params", {})
    chosen: List[object] = [parameters[fixture] for fixture in BUILD_FIXTURES if fixture in parameters]
    return any(build not in EVERYWHERE for build in chosen) or parameters.get("page", BROWSER) != BROWSER


def _is_repeated(item: pytest.Item, met: Set[str]) -> bool:
    """Whether it is a test of a live job that is there already with other parameters."""
    function, _, name = item.nodeid.partition("[")
    folder = item.nodeid.removeprefix("tests/").partition("/")[0]
    marked = any(mark.name == "slow" for mark in item.iter_markers())
    if not name or folder not in FOLDERS or marked:
        return False
    is_there = function in met
    met.add(function)
    return is_there


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def add_marks(item: pytest.Item) -> None:
    """What a test needs, by its folder and its fixtures."""
    folder = item.nodeid.removeprefix("tests/").partition("/")[0]
    if folder in FOLDERS:
        item.add_marker(FOLDERS[folder])
    if "page" in getattr(item, "fixturenames", ()):
        item.add_marker("browser")
