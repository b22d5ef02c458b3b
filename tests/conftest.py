"""Fixtures: the MPI builds, and jobs that are ended whatever happens to the test."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Sequence

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from support import builds, leftovers, preloaded, tiers, transports
from support.jobs import Job
from support.starters import Place
from support.watched import Launched

# A shell starts background jobs with SIGINT ignored, and so would be every program that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

TOOLS = {
    "cc": "gcc",
    "gdb": "gdb",
    "gdbserver": "gdbserver",
    "lldb-19": "lldb-19",
    "gfortran": "gfortran",
    "g++": "g++",
}

#: Fixtures of MPIs that only ``make test-all-mpis`` has.
OF_ALL_MPIS = {"intel_mpi", "older_shm"}


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """All that the tests have started ends with them."""
    yield
    preloaded.end()
    left = leftovers.left()
    assert not left, "\n".join(left)


@pytest.fixture(scope="session")
def preflight() -> None:
    """Names what is missing, and the command that installs it: nothing is skipped."""
    missing = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if missing:
        pytest.fail(f"the tests need programs that are not installed: sudo apt-get install {' '.join(missing)}")


def _build(name: str) -> builds.MpiBuild:
    try:
        return builds.BUILDS[name]()
    except builds.Missing as missing:
        pytest.fail(str(missing))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-mpis", action="store_true", help="every test, on every MPI that apt and pip install")
    parser.addoption("--all", action="store_true", help="every test; repetitions with seeds thousands of times")


def pytest_configure(config: pytest.Config) -> None:
    leftovers.guard()
    for mark in tiers.MARKS:
        config.addinivalue_line("markers", mark)


def _chosen_builds(config: pytest.Config) -> Sequence[str]:
    if config.getoption("--all-mpis"):
        return tuple(builds.BUILDS)
    return builds.MORE if config.getoption("--all") else builds.USUAL


def _fixture_of(name: str) -> str:
    if name in builds.OVER:
        return "transport_build"
    return "mpich_build" if name.startswith("mpich-") else "mpi_build"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The MPIs of ``mpi_build``, ``mpich_build`` and ``transport_build``."""
    for fixture in tiers.BUILD_FIXTURES:
        if fixture in metafunc.fixturenames:
            names = [name for name in _chosen_builds(metafunc.config) if _fixture_of(name) == fixture]
            metafunc.parametrize(fixture, names, indirect=True, scope="session")


def pytest_collection_modifyitems(config: pytest.Config, items: List[pytest.Item]) -> None:
    """Leaves out what takes long, and the tests of an MPI that only those of all MPIs have."""
    for item in items:
        tiers.add_marks(item)
    if config.getoption("--all-mpis"):
        return
    left_out = {item for item in items if not OF_ALL_MPIS.isdisjoint(getattr(item, "fixturenames", ()))}
    # A test that is named by its id is meant.
    if not config.getoption("--all") and not any("::" in argument for argument in config.args):
        left_out |= tiers.left_out(items)
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def mpi_build(request: pytest.FixtureRequest, preflight: None) -> builds.MpiBuild:
    """Each Open MPI that is tested."""
    return _build(request.param)


@pytest.fixture(scope="session")
def mpich_build(request: pytest.FixtureRequest, preflight: None) -> builds.MpiBuild:
    """Each MPICH that is tested."""
    return _build(request.param)


@pytest.fixture(scope="session")
def transport_build(request: pytest.FixtureRequest, preflight: None) -> builds.MpiBuild:
    """Each MPI over each transport that it does not choose for itself here."""
    return _build(request.param)


@pytest.fixture(scope="session")
def debian_mpi(preflight: None) -> builds.MpiBuild:
    """The distribution's Open MPI, the one that ships a vendor plug-in: 4.1.4 in Debian 12, 5.0.7 in Debian 13."""
    return _build(builds.DEBIAN)


@pytest.fixture(scope="session")
def mpir_mpi(preflight: None) -> builds.MpiBuild:
    """An Open MPI whose launcher speaks MPIR: the distribution's, or where that is of 5, which does not, another."""
    return _build(builds.OPENMPI_4)


@pytest.fixture(scope="session")
def debian_mpich(preflight: None) -> builds.MpiBuild:
    """The distribution's MPICH."""
    return _build(builds.DEBIAN_MPICH)


@pytest.fixture(scope="session")
def wheel_mpi(preflight: None) -> builds.MpiBuild:
    """Open MPI from the package index, which has no plug-in."""
    return _build(builds.WHEEL)


@pytest.fixture(scope="session", params=builds.OLDER_SHM.values(), ids=builds.OLDER_SHM)
def older_shm(request: pytest.FixtureRequest, preflight: None) -> builds.MpiBuild:
    """MPICH over libfabric's shm before 2.5."""
    try:
        return builds.over(request.param, transports.mpich_over_libfabric("shm"))
    except builds.Missing as missing:
        pytest.fail(str(missing))


@pytest.fixture(scope="session")
def intel_mpi(preflight: None) -> builds.MpiBuild:
    """Intel MPI, which is of a size for the tests of all MPIs only."""
    try:
        return builds.intel()
    except builds.Missing as missing:
        pytest.fail(str(missing))


@pytest.fixture
def start_job() -> Iterator[Callable[..., Job]]:
    """``start_job(build, program, *arguments, ranks=2, mca={…})``; ends the jobs after the test."""
    jobs: List[Job] = []

    def start(*arguments: object, **options: object) -> Job:
        job = Job(*arguments, **options)  # type: ignore[arg-type]
        jobs.append(job)
        return job

    yield start
    for job in reversed(jobs):
        job.end()


@pytest.fixture
def place() -> Iterator[Place]:
    """Where a job that somebody else starts writes; all that has its environment ends with the test."""
    made = Place()
    yield made
    made.end()


@pytest.fixture
def environment(place: Place) -> Dict[str, str]:
    """For jobs on this machine alone, which end with the test."""
    return {**os.environ, **place.environment, "MPIQ_DIRECTORY": str(place.directory)}


@pytest.fixture
def launched(environment: Dict[str, str]) -> Iterator[Launched]:
    """Starts jobs, each with a command, until so many lines say that ranks are ready; ended with the test."""
    runs: List[subprocess.Popen[str]] = []

    def launch(command: List[str], ready: int) -> subprocess.Popen[str]:
        run = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        runs.append(run)
        assert run.stdout is not None
        said = 0
        while said < ready:
            # Launchers may put the words of several ranks before the ends of their lines.
            line = run.stdout.readline()
            assert line and line.strip("ready\n") == "", line
            said += line.count("ready")
        return run

    yield launch
    for run in runs:
        # Its ranks end with their environment, where files that they wait for are there again.
        run.kill()
        run.wait()
        assert run.stdout is not None
        run.stdout.close()
