"""Programs under the flight recorder do what they do without: what they print, write down and are told to be stuck in,
and how they end."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import pytest
from support import builds, diagnosis, handles, processes, recorder, script_maker, truths
from support.builds import LANGUAGES, MpiBuild, compile_with
from support.cli import mpi_queues, show
from support.compare import assert_equal
from support.diagnosis import C_FLAGS
from support.jobs import Job
from support.known import known_of
from support.paths import PROGRAMS
from support.python_jobs import PYTHON, PYTHON_PROGRAMS
from support.starters import Place
from support.under_recorder import ended, under

MPIS = {"openmpi": builds.DEBIAN, "mpich": builds.DEBIAN_MPICH}

#: Only keeps what hangs from hanging the tests.
GUARD = 300.0

#: A launcher that crashes itself has the job run again: mpirun of Open MPI 4.1.4 does now and then after MPI_Abort,
#: in PMIx_server_finalize of PMIx 4.2.2.
TRIES = 4

#: A diagnosis is asked for again until it is that of the job without the recorder, for so many seconds.
REST_TIMEOUT = 90.0


class Ended(NamedTuple):
    """What became of a job."""

    status: int
    #: What it printed, sorted: ranks print in any order.
    printed: List[str]
    #: What each rank wrote down.
    written: Dict[str, str]


def _ended(build: MpiBuild, ranks: int, command: Sequence[str], *, recorded: bool) -> Ended:
    """Runs a job to its end. ``{dir}`` in its command is a directory of its own."""
    place = Place()
    notes = place.directory / "notes"
    notes.mkdir()
    words = [str(build.mpirun), "-n", str(ranks), *(word.replace("{dir}", str(notes)) for word in command)]
    try:
        for _ in range(TRIES):
            done = ended(build, place, words, recorded=recorded, guard=GUARD)
            if done.returncode != -signal.SIGSEGV:
                break
        written = {path.name: path.read_bytes().decode(errors="replace") for path in sorted(notes.iterdir())}
        # Python writes the end of a line apart, and ranks' lines may stand in one.
        printed = re.findall(r"ready|[^\n]+", NUMBERS.sub("PID", done.stdout))
        return Ended(done.returncode, sorted(printed), written)
    finally:
        place.end()


def _assert_ends_the_same(build: MpiBuild, ranks: int, command: Sequence[str], status: Optional[int] = 0) -> None:
    recorder.library()
    without = _ended(build, ranks, command, recorded=False)
    assert _ended(build, ranks, command, recorded=True) == without
    assert status in (None, without.status)


def _compiled(build: MpiBuild, folder: str, name: str) -> str:
    return str(compile_with([str(build.mpicc)], build.id, [PROGRAMS / folder / f"{name}.c"], []))


#: How tests/programs/recorder/results.c ends, with the number it is given for that and the job's status; None: that is
#: the MPI's own.
ENDS = [("finalize", 0, 0), ("status", 3, 3), ("abort", 7, 7), ("error", 0, None)]

#: What Hydra prints where a rank has ended so.
NUMBERS = re.compile(r"PID \d+")


@pytest.mark.parametrize(("end", "number", "status"), ENDS, ids=[end for end, *_ in ENDS])
@pytest.mark.usual("debian-finalize")
def test_results_and_ends(any_mpi: MpiBuild, end: str, number: int, status: Optional[int]) -> None:
    program = str(recorder.compiled(any_mpi, "results.c"))
    _assert_ends_the_same(any_mpi, 3, [program, "{dir}", "1", "30", end, str(number)], status)


@pytest.mark.slow
def test_ranks_that_end_without_mpi(any_mpi: MpiBuild) -> None:
    """What launchers do with the others, and whose status they give, hangs on who is first."""
    recorder.library()
    command = [str(recorder.compiled(any_mpi, "results.c")), "{dir}", "1", "30", "exit", "5"]
    ends = [_ended(any_mpi, 3, command, recorded=recorded) for recorded in (False, True)]
    assert ends[0].written == ends[1].written
    assert 0 not in {end.status for end in ends}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_results_of_calls_in_random_order(any_mpi: MpiBuild, seed: int) -> None:
    program = str(recorder.compiled(any_mpi, "results.c"))
    _assert_ends_the_same(any_mpi, 2 + seed % 3, [program, "{dir}", str(seed), "80", "finalize"])


@pytest.mark.parametrize("binding", [1, 2, 3])
@pytest.mark.usual("mpich-debian-3")
def test_results_in_fortran(fortran_mpi: MpiBuild, binding: int) -> None:
    program = recorder.compiled(fortran_mpi, "results.F90", f"-DBINDING={binding}")
    _assert_ends_the_same(fortran_mpi, 3, [str(program)])


@pytest.fixture(params=MPIS)
def mpi(request: pytest.FixtureRequest, preflight: None) -> MpiBuild:
    """The distribution's two."""
    return _build(request.param)


def _scripts(seed: int) -> List[str]:
    return [" ".join(map(str, script)) for script in script_maker.ending_scripts(seed)]


#: Random programs, of which the first run in every test run.
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 10))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.usual("openmpi-0")
def test_random_programs_that_end(mpi: MpiBuild, seed: int) -> None:
    """What each rank writes down are its calls, by their lines."""
    language, made = [*LANGUAGES[".c"][1], *C_FLAGS], _scripts(seed)
    program = compile_with([str(mpi.mpicc)], mpi.id, [PROGRAMS / "scripted.c"], [], language=language)
    _assert_ends_the_same(mpi, len(made), [str(program), "{dir}", *made])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.usual("1")
def test_random_programs_in_python_that_end(debian_mpi: MpiBuild, seed: int) -> None:
    made = _scripts(seed)
    _assert_ends_the_same(debian_mpi, len(made), [str(PYTHON), str(PYTHON_PROGRAMS / "scripted.py"), "{dir}", *made])


#: Those of tests/programs/watched that end, with arguments and how.
WATCHED = [
    ("status", ("status", "0"), 0),
    ("status", ("status", "3"), 3),
    ("status", ("signal", "11"), None),
    ("sleeps", ("1", "1"), 0),
    *(
        ("works", (work, "1", "0.3"), 0)
        for work in ("computes", "imbalance", "sleeps", "disk", "pipe", "polls", "probes", "window", "file")
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "status"),
    WATCHED,
    ids=lambda part: "-".join(map(str, part)) if isinstance(part, tuple) else str(part),
)
def test_programs_that_are_watched(mpi: MpiBuild, name: str, arguments: Tuple[str, ...], status: Optional[int]) -> None:
    recorder.library()
    command = [_compiled(mpi, "watched", name), *arguments]
    ranks = 3 if name == "works" else 2
    without = _ended(mpi, ranks, command, recorded=False)
    with_recorder = _ended(mpi, ranks, command, recorded=True)
    assert with_recorder.status == without.status
    assert status in (None, without.status)
    if "signal" in arguments:
        # What others print before they are ended hangs on who is first.
        return
    # One of them says what is preloaded.
    shown = [line for line in without.printed if not line.startswith("preloaded ")]
    assert [line for line in with_recorder.printed if not line.startswith("preloaded ")] == shown


def _cases(folder: str, *few: str) -> List[Any]:
    """Programs of a folder on both MPIs; those that every test run has are named."""
    return [
        pytest.param(
            program,
            mpi,
            id=f"{mpi}-{path.stem}",
            marks=() if mpi == "openmpi" and path.stem in few else (pytest.mark.slow,),
        )
        for mpi in MPIS
        for path in diagnosis.programs(folder)
        if (program := diagnosis.load(path, mpi == "mpich")) is not None
    ]


def _build(mpi: str) -> MpiBuild:
    try:
        return builds.BUILDS[MPIS[mpi]]()
    except builds.Missing as missing:
        pytest.fail(str(missing))


def _said(job: Any) -> Optional[Dict[str, Any]]:
    """None: no rank has begun MPI, or is far enough in it to be read."""
    result = mpi_queues("diagnose", "--job", str(job.launcher_pid), "--format", "json")
    said: Dict[str, Any] = json.loads(result.out)
    if result.status == 3 and "MPI_Init has not been called or has not finished" in result.err:
        assert said["processes"] == [] and said["verdict"]["state"] == "unknown", str(result)
        return None
    assert result.status in (0, 1), str(result)
    return said


def _at_rest(program: diagnosis.Program, build: MpiBuild) -> Iterator[Tuple[Optional[Dict[str, Any]], str]]:
    """What is said of a job as long as it is asked for, and what it has printed."""
    with program.start(build) as job:
        deadline = time.monotonic() + REST_TIMEOUT
        while time.monotonic() < deadline:
            yield _said(job), job.output
        for pid in job.pids:
            processes.assert_running(pid)


def _first(said: Dict[str, Any]) -> Tuple[str, str]:
    verdict = said["verdict"]
    return verdict["state"], verdict["headline"]


def _is_as(said: Dict[str, Any], plain: Dict[str, Any], program: diagnosis.Program) -> bool:
    """Whether the same is told with the recorder as without. With it, it is certain which call started a request, and
    the first collective that differs is told, with the lines of its calls."""
    (state, headline), (state_of_plain, headline_of_plain) = _first(said), _first(plain)
    if state != state_of_plain:
        return False
    first = _told_first(said)
    if first is not None and re.match(r"in collective \d+ of ", first["summary"]):
        lines = {line for _, line in diagnosis.lines_named(first)}
        return first["certain"] and any(
            {line for _, line in wanted.calls} <= lines for alternatives in program.expected for wanted in alternatives
        )
    # Which of several threads outside MPI is named is chance. What started a request is certain now, so that fewer
    # lines are named.
    unsure = (headline.count(", perhaps"), headline_of_plain.count(", perhaps"))
    return _claim(first) == _claim(_told_first(plain)) and unsure[0] <= unsure[1] and program.missing(said) == []


def _told_first(said: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """The finding that the headline tells."""
    findings: List[Dict[str, Any]] = said["diagnosis"]
    return findings[said["verdict"].get("finding") or 0] if findings else None


def _claim(finding: Optional[Dict[str, Any]]) -> Any:
    """What a finding says of whom, without the lines of requests that were perhaps started there."""
    if finding is None:
        return None
    inside = sorted((one["rank"], one["function"], one["line"]) for one in finding["calls"] if one["function"])
    return finding["kind"], sorted(finding["ranks"]), finding["certain"], inside


@pytest.mark.parametrize(("program", "mpi"), _cases("bugs", "head_to_head_recv", "bcast_against_reduce"))
@pytest.mark.usual("openmpi-bcast_against_reduce")
def test_what_hangs_hangs_in_the_same(program: diagnosis.Program, mpi: str, preflight: None, tmp_path: Path) -> None:
    build = _build(mpi)
    looks = ((said, output) for said, output in _at_rest(program, build) if said is not None)
    plain, printed = next((one for one in looks if program.missing(one[0]) == []), ({}, ""))
    assert plain, "not found without the recorder"
    told = []
    for said, output in _at_rest(program, under(build, tmp_path)):
        if said is None:
            continue
        assert output == printed
        told.append(said)
        if _is_as(said, plain, program):
            return
    raise AssertionError("\n".join([*program.missing(told[-1]), *_first(told[-1]), "but without:", *_first(plain)]))


@pytest.mark.slow
@pytest.mark.parametrize(("program", "mpi"), _cases("fine", "request_array_loop"))
def test_what_goes_on_goes_on(program: diagnosis.Program, mpi: str, preflight: None, tmp_path: Path) -> None:
    printed = set()
    for build in (_build(mpi), under(_build(mpi), tmp_path)):
        for looks, (said, output) in enumerate(_at_rest(program, build)):
            assert said is None or program.untrue(said) == [], said
            if looks > 1 and (said is None or program.missing(said) == []):
                printed.add(output)
                break
    assert len(printed) == 1, printed


@pytest.mark.parametrize("program", truths.PROGRAMS, ids=truths.name_of)
@pytest.mark.usual("mpich-modes-2ranks")
def test_what_is_posted_is_posted(program: truths.Program, mpi: MpiBuild, tmp_path: Path) -> None:
    """Against what the programs write down, as it is compared without the recorder."""
    name, arguments, ranks = program
    with Job(under(mpi, tmp_path), name, *arguments, ranks=ranks) as job:
        shown = show(job.pids)
        for rank, truth in sorted(job.truth.items()):
            assert shown[job.pids[rank]]["history"] is not None
            assert_equal(truth, shown[job.pids[rank]], known=known_of(mpi.id))
        job.assert_running()


#: Programs that write down what they know of their handles, with arguments and ranks.
HANDLES: List[truths.Program] = [
    ("handles_values", (), 2),
    ("handles_misc", (), 2),
    ("handles_files", ("{dir}", "romio"), 2),
    ("handles_windows", ("sm",), 3),
    ("handles_comms", (), 3),
    ("handles_topologies", (), 4),
    ("handles_groups", (), 3),
    ("handles_requests", ("{dir}",), 3),
    ("handles_types", (), 2),
    ("handles_one_sided", (), 2),
]

#: What Open MPI needs so that these do what they write down (tests/mpi/test_handles.py).
SETTINGS = {"handles_files": {"io": "^ompio"}, "handles_windows": {"osc": "sm"}, "handles_one_sided": {"osc": "rdma"}}


@pytest.mark.parametrize("program", HANDLES, ids=truths.name_of)
@pytest.mark.usual("openmpi-handles_requests-{dir}-3ranks")
def test_handles_are_what_they_are(program: truths.Program, mpi: MpiBuild, tmp_path: Path) -> None:
    name, arguments, ranks = program
    given = [argument.replace("{dir}", str(tmp_path)) for argument in arguments]
    settings = {} if mpi.is_mpich else SETTINGS.get(name, {})
    with Job(under(mpi, tmp_path), name, *given, ranks=ranks, mca=settings) as job:
        handles.compare_live(job)
        job.assert_running()
