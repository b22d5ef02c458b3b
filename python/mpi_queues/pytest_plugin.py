"""The pytest plug-in: recordings and running jobs as fixtures. ``pytest -p no:mpi_queues`` leaves it out.

pytest imports this at every start, so everything that takes time is imported where it is used.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import re
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Tuple, Union

import pytest

if TYPE_CHECKING:
    from ._native import Diagnosis, Snapshot
    from .jobs import Job, StartJob
    from .watching.slow_tests import SlowTests

    #: What a report is written of, or why it cannot be.
    Shown = Union[Snapshot, Job, Diagnosis, Exception]

_MARKER = "mpi_recording"

#: The recording that was read last: the tests of a module mostly share one. A snapshot cannot be changed.
_Key = Tuple[str, int, int, Tuple[str, ...]]
_last_read = pytest.StashKey["Tuple[_Key, Snapshot]"]()


#: What a report is written of, where the test fails: snapshots, and jobs that it started.
_shown = pytest.StashKey["List[Shown]"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--mpi-report``, and what is for tests that run under ``mpiexec``."""
    group = parser.getgroup("mpi-queues")
    group.addoption(
        "--mpi-report",
        metavar="DIR",
        help="writes a report (HTML) of the recording or the job of each failed test that uses mpi_session or mpi_job, "
        "and of the job that --mpi-hang-after diagnoses",
    )
    group.addoption(
        "--mpi-hang-after",
        metavar="SECONDS",
        help="under mpiexec: if a test takes longer in any rank, says once why the whole job is stuck",
    )
    group.addoption("--mpi-hang-end", action="store_true", help="ends the job then (default: it goes on)")
    parser.addini("mpi_hang_after", "the seconds of --mpi-hang-after")
    parser.addini("mpi_hang_end", "whether --mpi-hang-end is given", "bool", False)


class _UnderMpiexec:
    """Hooks of a rank: each test is told to the process beside it."""

    def __init__(self, slow_tests: SlowTests) -> None:
        self._slow_tests = slow_tests

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._slow_tests.begin(item.nodeid)
        yield
        self._slow_tests.end()

    def pytest_unconfigure(self) -> None:
        self._slow_tests.close()


def _watch_slow_tests(config: pytest.Config) -> None:
    given = config.getoption("--mpi-hang-after") or config.getini("mpi_hang_after")
    if not given:
        return
    from .watching import slow_tests

    try:
        after = float(given)
    except ValueError:
        after = 0.0
    if not 0 < after < 1e9:
        raise pytest.UsageError(f"--mpi-hang-after {given}: not a number of seconds, such as 60")
    rank = slow_tests.rank()
    if rank is None:
        return
    report = config.getoption("--mpi-report")
    directory = None if report is None else str(config.invocation_params.dir / report)
    end = config.getoption("--mpi-hang-end") or config.getini("mpi_hang_end")
    watch = slow_tests.SlowTests(rank, after, directory, end=bool(end))
    config.pluginmanager.register(_UnderMpiexec(watch), "mpi_queues_under_mpiexec")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Writes reports while the jobs of a failed test are still there, and says where."""
    # What pluggy hands to a wrapper has no type there.
    outcome: Any = yield
    directory = item.config.getoption("--mpi-report")
    shown = item.stash.get(_shown, [])
    if directory is None or call.when != "call" or call.excinfo is None or not shown:
        return
    if call.excinfo.errisinstance(pytest.skip.Exception):
        return
    told = [_report(item, one, number, pathlib.Path(directory)) for number, one in enumerate(shown, 1)]
    outcome.get_result().sections.append(("mpi-queues", "\n".join(told)))


def _report(item: pytest.Item, of: Shown, number: int, directory: pathlib.Path) -> str:
    """Writes one; returns what to say of it."""
    from ._native import Diagnosis, NativeError
    from .errors import UserError

    name = re.sub(r"[^A-Za-z0-9._-]+", "-", item.nodeid).strip("-.")[-150:]
    path = directory / f"{name}{f'-{number}' if number > 1 else ''}.html"
    try:
        if isinstance(of, Exception):
            raise of
        diagnosis = of if isinstance(of, Diagnosis) else of.diagnose()
        directory.mkdir(parents=True, exist_ok=True)
        diagnosis.report(path)
    except (UserError, NativeError, OSError) as error:
        return f"no report: {error}"
    return f"report: {path}"


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known, also to ``--strict-markers``, and has slow tests watched."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(file, ..., handles=[]): the recording that the fixture mpi_session reads, relative to the test's "
        "file or the root directory; with several, the test runs once for each; handles: kinds to read besides the "
        "queues",
    )
    _watch_slow_tests(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each recording, where a marker names several."""
    if "mpi_session" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker(_MARKER)
    if marker is not None and len(marker.args) > 1:
        ids = [str(os.fspath(file)) if isinstance(file, (str, os.PathLike)) else None for file in marker.args]
        metafunc.parametrize("mpi_session", marker.args, ids=ids, indirect=True)


@pytest.fixture
def mpi_session(request: pytest.FixtureRequest) -> Snapshot:
    """The snapshot of the recording that ``@pytest.mark.mpi_recording("FILE")`` names."""
    __tracebackhide__ = True
    path = _recording(request)
    handles = _handles(request)
    stat = path.stat()
    key = (str(path), stat.st_mtime_ns, stat.st_size, handles)
    kept = request.config.stash.get(_last_read, None)
    snapshot = kept[1] if kept is not None and kept[0] == key else _load(path, handles)
    request.config.stash[_last_read] = (key, snapshot)
    _keep(request, snapshot)
    return snapshot


def _keep(request: pytest.FixtureRequest, one: Shown) -> None:
    node: pytest.Item = request.node
    node.stash.setdefault(_shown, []).append(one)


def _keep_late(request: pytest.FixtureRequest, job: Job) -> None:
    """Diagnoses a job whose ranks hang before they are ready: it is ended before the test fails."""
    from ._native import NativeError
    from .errors import UserError

    try:
        _keep(request, job.diagnose())
    except (UserError, NativeError) as error:
        _keep(request, error)


@pytest.fixture
def mpi_job(request: pytest.FixtureRequest) -> Iterator[StartJob]:
    """Starts MPI programs that are ended with the test: ``job = mpi_job("./program", ranks=4)``.

    A relative path is searched for beside the test's file, then below the root directory.
    """
    from .jobs import Job

    started: List[Job] = []
    with contextlib.ExitStack() as jobs:

        def start(program: str | os.PathLike[str], **options: object) -> Job:
            found = _search(request, program) if os.sep in os.fspath(program) else None
            if options.get("hang_after") is not None:
                options.setdefault("hang_directory", request.getfixturevalue("tmp_path") / "hang")
                options["hang_error"] = _hangs
            if request.config.getoption("--mpi-report") is not None:
                options["late"] = functools.partial(_keep_late, request)
            started.append(jobs.enter_context(Job(found or program, **options)))  # type: ignore[arg-type]
            _keep(request, started[-1])
            return started[-1]

        yield start
    # Where it came too late to interrupt the test.
    for job in started:
        job.check_hang()


def _hangs(message: str) -> BaseException:
    return pytest.fail.Exception(message, pytrace=False)


def _recording(request: pytest.FixtureRequest) -> pathlib.Path:
    """The file that is asked for; ends the test with what is wrong where there is none."""
    __tracebackhide__ = True
    marker = request.node.get_closest_marker(_MARKER)
    example = f'@pytest.mark.{_MARKER}("hang.mpirec")'
    if hasattr(request, "param"):
        named = (request.param,)
    elif marker is None:
        pytest.fail(f"the fixture mpi_session needs the name of a recording: {example}", pytrace=False)
    else:
        named = marker.args
    if (
        len(named) != 1
        or not isinstance(named[0], (str, os.PathLike))
        or (marker is not None and set(marker.kwargs) - {"handles"})
    ):
        pytest.fail(f"the marker {_MARKER} takes the path of a recording: {example}", pytrace=False)
    found = _search(request, named[0])
    if found is None or not found.is_file():
        places = " or ".join(str(place) for place in _places(request))
        problem = "not a file" if found is not None else "no such file"
        pytest.fail(
            f"the recording {os.fspath(named[0])}: {problem} in {places}\n"
            f"make one: mpi-queues record --pid PID -o {os.fspath(named[0])}",
            pytrace=False,
        )
    return found


def _handles(request: pytest.FixtureRequest) -> Tuple[str, ...]:
    """The kinds of handles that are asked for."""
    __tracebackhide__ = True
    from .errors import UsageError
    from .handle_types import kinds_of

    marker = request.node.get_closest_marker(_MARKER)
    named = marker.kwargs.get("handles", ()) if marker is not None else ()
    if isinstance(named, str) or not all(isinstance(word, str) for word in named):
        pytest.fail(f"the marker {_MARKER}: handles={named!r} is not a list of kinds: handles=['comm']", pytrace=False)
    try:
        return kinds_of(named)
    except UsageError as error:
        pytest.fail(f"the marker {_MARKER}: {error}", pytrace=False)


def _places(request: pytest.FixtureRequest) -> List[pathlib.Path]:
    return list(dict.fromkeys([request.path.parent, request.config.rootpath]))


def _search(request: pytest.FixtureRequest, name: str | os.PathLike[str]) -> Optional[pathlib.Path]:
    candidates = (place / os.fspath(name) for place in _places(request))
    return next((path for path in candidates if path.exists()), None)


def _load(path: pathlib.Path, handles: Tuple[str, ...]) -> Snapshot:
    __tracebackhide__ = True
    from ._native import NativeError
    from .errors import UserError, as_user_error
    from .request import Request
    from .targets.report import load

    try:
        snapshot = load(path, Request(wanted=tuple((kind, None) for kind in handles)))
    except (UserError, NativeError, OSError) as error:
        pytest.fail(f"the recording {path} cannot be read: {as_user_error(error)}", pytrace=False)
    if snapshot.problems:
        # A test that passes on half of what it was written for would tell nothing.
        problems = "\n".join(f"  {problem}" for problem in snapshot.problems)
        pytest.fail(f"the recording {path} could not be read completely:\n{problems}", pytrace=False)
    return snapshot
