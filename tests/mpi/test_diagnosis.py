"""Why programs with known bugs are stuck, and that nothing of the kind is said of correct ones: live jobs.

All of these programs are in ``tests/recordings/corpus`` as well, on both MPIs of the distribution, and every test run
replays them (``tests/unit/test_corpus.py``). Live are here those in :data:`LIVE`, and with ``--all`` every program on
every MPI, whose recording must say the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from recordings import corpus
from support import builds, cores, diagnosis, processes
from support.builds import MpiBuild
from support.cli import mpi_queues
from support.installs import Missing
from support.paths import MPI_QUEUES, PROGRAMS
from test_cores import attached, in_debugger, shown_in

#: Ranks that have said that they are ready come to the place within this; only keeps a failing test from taking long.
REST_TIMEOUT = 60.0

MPIS = {"openmpi": builds.DEBIAN, "mpich": builds.DEBIAN_MPICH}

#: Live in every test run, by MPI. On the MPIs that the corpus has they are about what no recording holds: what moves
#: between two looks and what does not, signals, locks. Each other transport keeps other facts of what is sent.
LIVE = {
    "openmpi": (
        "wrong_tag",
        "stopped_rank",
        "in_critical_section",
        "file_lock",
        "polls_for_nothing",
        "one_computes",
        "file_lock_is_held",
    ),
    "mpich": ("pingpong_no_counter",),
    f"{builds.DEBIAN}+ucx": ("order_of_messages",),
}

#: How often a correct program is looked at, at moments that its own pace decides; and how often with ``pytest --all``.
LOOKS, ALL_LOOKS = 2, 10

#: Programs whose recordings are looked at too.
ELSEWHERE = (
    "head_to_head_recv.c",
    "wrong_tag.c",
    "waitall_before_sends.c",
    "two_communicators.c",
    "finalize_while_others_wait.c",
    "missing_in_barrier.c",
    "stuck_in_semaphore.c",
    "f_ring.f90",
)


#: The other MPIs, and what is looked at there with ``--all``; over :data:`builds.USUAL_OVER` it is everything.
OTHERS = [name for name in builds.MORE if name not in MPIS.values()]
ON_OTHERS = {
    "bugs": (
        "head_to_head_recv.c",
        "head_to_head_ssend.c",
        "intercomm_tags.c",
        "order_of_messages.c",
        "missing_in_barrier.c",
    ),
    "fine": ("pingpong_no_counter.c", "collectives_loop.c"),
}

#: Of Open MPI their heads say what ob1 keeps, datatypes of all that was posted; other transports keep what MPICH does.
OF_OB1 = ("datatypes.c", "truncation_ahead.c")

#: Of tags of neighbourhood collectives not all bits travel over pml ucx: they cannot be told from the program's.
LESS_CERTAIN = ("neighbour_collective.c",)

#: Programs of which is known what they wait for without debug information.
WITHOUT_DEBUG_INFORMATION = ("ring_ssend.c", "wrong_tag.c", "missing_in_barrier.c", "finalize_while_others_wait.c")


def _cases(folder: str) -> List[Any]:
    """Programs and MPIs; all but :data:`LIVE` are slow."""
    cases = []
    for name in (*MPIS, *OTHERS):
        for path in diagnosis.programs(folder):
            if not (name in (*MPIS, *builds.USUAL_OVER) or path.name in ON_OTHERS[folder]):
                continue
            # Wheels have no compiler of Fortran.
            if (path.suffix == ".f90" and "wheel" in name) or _loaded(path, name) is None:
                continue
            marks = () if path.stem in LIVE.get(name, ()) else (pytest.mark.slow,)
            cases.append(pytest.param(path, name, id=f"{name}-{path.stem}", marks=marks))
    return cases


def _loaded(path: Path, mpi: str) -> Optional[diagnosis.Program]:
    as_mpich = mpi in builds.OVER and path.name in OF_OB1
    program = diagnosis.load(path, mpi.startswith("mpich"), as_mpich)
    less = mpi in builds.OVER and path.name in LESS_CERTAIN
    return program.at_one_look() if less and program is not None else program


def _load(path: Path, mpi: str) -> diagnosis.Program:
    program = _loaded(path, mpi)
    assert program is not None
    return program


def _build(mpi: str) -> MpiBuild:
    try:
        return builds.BUILDS[MPIS.get(mpi, mpi)]()
    except Missing as missing:
        pytest.fail(str(missing))


def _diagnose(*target: str) -> Dict[str, Any]:
    """What is said of a target; of one of which nothing could be read that nothing is known."""
    result = mpi_queues("diagnose", *target, "--format", "json")
    assert result.status in (0, 1, 3), str(result)
    assert "Traceback" not in result.err, str(result)
    if result.status == 3:
        return {"diagnosis": [], "verdict": {"state": "unknown"}, "said": result.err}
    said: Dict[str, Any] = json.loads(result.out)
    return said


def _shown(said: Dict[str, Any]) -> str:
    calls = {one["rank"]: [(c["function"], c["line"]) for c in one["calls"]] for one in said.get("processes", [])}
    return json.dumps({"calls": calls, "verdict": said["verdict"], "findings": said["diagnosis"]}, indent=1)


def _assert_found(program: diagnosis.Program, *target: str) -> Dict[str, Any]:
    """Looks until what must be found is: the ranks may still be on their way to the place, for a while."""
    deadline = time.monotonic() + REST_TIMEOUT
    while True:
        said = _diagnose(*target)
        missing = program.missing(said)
        if not missing:
            return said
        assert time.monotonic() < deadline, "\n".join(missing) + "\n" + _shown(said)


@pytest.mark.parametrize(("path", "mpi"), _cases("bugs"))
@pytest.mark.usual("*")
def test_the_bug_is_found(path: Path, mpi: str, preflight: None, tmp_path: Path) -> None:
    program, build = _load(path, mpi), _build(mpi)
    with program.start(build) as job:
        target = ("--job", str(job.launcher_pid))
        _assert_found(program, *target)
        name = f"bugs/{path.stem}"
        if mpi in MPIS and corpus.read(mpi).mpi == build.id and name not in corpus.NOT_RECORDED:
            recording = tmp_path / "hang.mpirec"
            recording.write_bytes(corpus.read(mpi).data(name))
            _assert_as_recorded(_diagnose("--recording", str(recording)), *target)


def _assert_as_recorded(recorded: Dict[str, Any], *target: str) -> None:
    """One look at the job says what the recording does; ranks that poll are at the same place after a while."""

    def gist(said: Dict[str, Any]) -> Any:
        return said["verdict"]["state"], sorted((one["kind"], one["certain"]) for one in said["diagnosis"])

    deadline = time.monotonic() + REST_TIMEOUT
    while gist(said := _diagnose(*target, "--once")) != gist(recorded):
        assert time.monotonic() < deadline, f"recorded: {_shown(recorded)}\nlive: {_shown(said)}"


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("name", WITHOUT_DEBUG_INFORMATION)
@pytest.mark.usual("missing_in_barrier.c-openmpi")
def test_the_bug_is_found_without_debug_information(name: str, mpi: str, preflight: None) -> None:
    program = _load(PROGRAMS / "bugs" / name, mpi).without_lines()
    with program.start(_build(mpi), "-O2", "-g0") as job:
        _assert_found(program, "--job", str(job.launcher_pid))


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("name", ELSEWHERE)
@pytest.mark.slow
def test_the_bug_is_found_in_a_recording(name: str, mpi: str, preflight: None, tmp_path: Path) -> None:
    program = _load(PROGRAMS / "bugs" / name, mpi)
    recording = tmp_path / "hang.mpirec"
    with program.start(_build(mpi)) as job:
        target = ("--job", str(job.launcher_pid))
        _assert_found(program, *target)
        result = mpi_queues("record", *target, "-o", str(recording))
        assert result.status == 0, str(result)
    said = _diagnose("--recording", str(recording))
    assert program.at_one_look().missing(said) == [], _shown(said)


def test_who_has_what_a_rank_waits_for_is_told_in_gdb(preflight: None) -> None:
    program = _load(PROGRAMS / "bugs" / "file_lock.c", "openmpi")
    with program.start(_build("openmpi")) as job:
        _assert_found(program, "--job", str(job.launcher_pid))
        said = shown_in(in_debugger("gdb", [attached("gdb", pid) for pid in job.pids], "mpi diagnose -format json"))
        assert program.at_one_look().missing(said) == [], _shown(said)


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("name", ["head_to_head_recv.c", "wrong_tag.c", "waitall_before_sends.c"])
@pytest.mark.slow
def test_the_bug_is_found_in_cores(name: str, mpi: str, preflight: None, tmp_path: Path) -> None:
    program = _load(PROGRAMS / "bugs" / name, mpi)
    with program.start(_build(mpi)) as job:
        _assert_found(program, "--job", str(job.launcher_pid))
        dumped = [cores.gcore(pid, tmp_path / "core") for pid in job.pids]
        options = [part for core in dumped for part in ("--core", str(core), "--exe", job.program)]
        said = _diagnose(*options)
        assert program.at_one_look().missing(said) == [], _shown(said)


#: Programs in which locks and threads of libraries decide.
OF_THREADS = (
    "stuck_in_semaphore.c",
    "semaphore.c",
    "join_of_receiver.c",
    "head_to_head_recv.c",
    "omp_critical_in_itself.c",
    "omp_critical_answer.c",
    "omp_idle_workers.c",
)
#: The command line where no file has the symbols of libraries that are stripped.
WITHOUT_SYMBOLS = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /usr/lib/debug && exec "$0" "$@"']


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts something in place of the symbols")
@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("name", OF_THREADS)
def test_the_bug_is_found_without_symbols_of_the_c_library(name: str, mpi: str, preflight: None) -> None:
    program, said = _load(PROGRAMS / "bugs" / name, mpi), {}
    with program.start(_build(mpi)) as job:
        command = [*WITHOUT_SYMBOLS, MPI_QUEUES, "diagnose", "--job", str(job.launcher_pid), "--format", "json"]

        def found() -> bool:
            said.update(json.loads(subprocess.run(command, stdout=subprocess.PIPE).stdout))
            return not program.missing(said)

        processes.wait_until(found, "the bug to be found", timeout=REST_TIMEOUT)
    # The symbols were not there: no thread is in a function of the C library that only they name.
    innermost = [thread["function"] for process in said["processes"] for thread in process.get("outside", [])]
    named = [one for one in innermost if one and ("futex" in one or "syscall_cancel" in one)]
    assert named == [], innermost


@pytest.mark.parametrize(("path", "mpi"), _cases("fine"))
@pytest.mark.usual("*")
def test_nothing_is_wrong_with_a_correct_program(
    path: Path, mpi: str, request: pytest.FixtureRequest, preflight: None
) -> None:
    program = _load(path, mpi)
    wanted = ALL_LOOKS if request.config.getoption("--all") else LOOKS
    with program.start(_build(mpi)) as job:
        deadline, looks, missing = time.monotonic() + REST_TIMEOUT, 0, ["not looked at"]
        while looks < wanted or missing:
            said = _diagnose("--job", str(job.launcher_pid))
            looks += 1
            assert program.untrue(said) == [], _shown(said)
            missing = program.missing(said)
            assert not missing or time.monotonic() < deadline, "\n".join(missing) + "\n" + _shown(said)
        for pid in job.pids:
            processes.assert_running(pid)
