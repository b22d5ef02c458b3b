"""Jobs that ``mpi-queues run`` starts, or ``watch`` looks at."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Callable, Iterator, List

import pytest
from support import builds
from support.paths import PROGRAMS
from support.starters import Place
from support.watched import Started, starts


@pytest.fixture
def started(place: Place) -> Iterator[Started]:
    """Starts ``mpi-queues``; it ends with the test, and so does what it has started."""
    runs: List[subprocess.Popen[str]] = []

    def start(*arguments: object, **options: object) -> subprocess.Popen[str]:
        runs.append(starts(*arguments, **options))  # type: ignore[arg-type]
        return runs[-1]

    yield start
    place.end()
    for run in runs:
        run.kill()
        run.wait()
        for stream in (run.stdin, run.stdout, run.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def library() -> str:
    """A library that stands in for the recorder: what is done with it is the same."""
    return str(builds.compile_with(["cc"], "plain", [PROGRAMS / "watched" / "preloaded.c"], ["-shared", "-fPIC"]))


@pytest.fixture
def program(debian_mpi: builds.MpiBuild, debian_mpich: builds.MpiBuild) -> Callable[[str, builds.MpiBuild], Path]:
    """Compiles one of ``tests/programs/watched``."""

    def compiled(name: str, build: builds.MpiBuild) -> Path:
        return builds.compile_with([str(build.mpicc)], build.id, [PROGRAMS / "watched" / f"{name}.c"], [])

    return compiled


def mpi(request: pytest.FixtureRequest) -> builds.MpiBuild:
    """The build of that name."""
    found: builds.MpiBuild = request.getfixturevalue(request.param)
    return found


launcher = pytest.fixture(params=["debian_mpi", "debian_mpich"], ids=["openmpi", "mpich"], name="build")(mpi)
