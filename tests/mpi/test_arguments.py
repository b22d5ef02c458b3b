"""What MPI functions were given, against what the programs say of themselves."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Sequence, Tuple

import pytest
from mpi_queues import jobs
from mpi_queues.system.watching import watch
from support import cli, priority, processes
from support.builds import LANGUAGES, PROGRAMS, MpiBuild
from test_cores import DEBUGGERS, attached, in_debugger, shown_in


class Said(NamedTuple):
    """What a rank says before its call."""

    function: str
    line: int
    given: Dict[str, List[int]]
    means: Dict[str, str]


def said(output: str) -> Said:
    given: Dict[str, List[int]] = {}
    means: Dict[str, str] = {}
    call = ("", 0)
    for line in output.splitlines():
        word, *rest = line.split()
        if word == "given":
            given[rest[0]] = [int(number) for number in rest[1:]]
        elif word == "means":
            means[rest[0]] = rest[1]
        elif word == "call":
            call = (rest[0], int(rest[1]))
    return Said(*call, given, means)


StartCalls = Callable[..., jobs.Job]


@pytest.fixture
def start_calls(tmp_path: pathlib.Path) -> Iterator[StartCalls]:
    """``start_calls(build, source, *flags, ranks=4)``: compiled here, so that its source is older."""
    with jobs_ended() as running:

        def start(build: MpiBuild, source: str, *flags: str, ranks: int = 4, arguments: Sequence[str] = ()) -> jobs.Job:
            for file in PROGRAMS.glob("calls*"):
                shutil.copyfile(file, tmp_path / file.name)
            compiler, language = LANGUAGES[pathlib.Path(source).suffix]
            command = build.mpicc.with_name(build.mpicc.name.replace("mpicc", compiler))
            environment = {
                name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "MPICH_"))
            }
            subprocess.run(
                [command, *language, "-I", PROGRAMS, *flags, source, "-o", "program"],
                check=True,
                cwd=tmp_path,
                env=environment,
            )
            running.append(priority.Job(tmp_path / "program", ranks=ranks, args=arguments, launcher=build.mpirun))
            return running[-1]

        yield start


class jobs_ended:
    """The jobs of a test, which end with it."""

    def __enter__(self) -> List[jobs.Job]:
        self._jobs: List[jobs.Job] = []
        return self._jobs

    def __exit__(self, *_: object) -> None:
        for job in self._jobs:
            job.end()


def calls_of(job: jobs.Job) -> List[Dict[str, Any]]:
    """The call of each rank, once all are in theirs."""
    found: List[Dict[str, Any]] = []

    def all_there() -> bool:
        found.clear()
        shown = cli.show(job.pids)
        found.extend(call for pid in job.pids for call in shown[pid]["calls"])
        return len(found) == len(job.pids)

    processes.wait_until(all_there, "every rank in its call")
    return found


def rank_output(job: jobs.Job, rank: int) -> str:
    return (job.directory / f"stdout.{rank}").read_text()


def agree(call: Dict[str, Any], truth: Said) -> None:
    """A call is what its rank says of it, whatever more is told of it."""
    assert call["function"] == truth.function
    # 0: the compiler tells another one.
    assert truth.line in (call["line"], 0)
    arguments = {one["name"]: one for one in call["arguments"]}
    for name, value in truth.given.items():
        argument = arguments[name]
        assert argument.get("values", [argument["value"]]) == value, argument
        assert "unknown" not in argument
    for name, meaning in truth.means.items():
        assert arguments[name]["meaning"] == meaning


FLAGS: List[Tuple[str, ...]] = [("-O0",), ("-O0", "-g3")]


@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
@pytest.mark.usual("debian--O0 -g3")
def test_arguments_of_c(mpi_build: MpiBuild, start_calls: StartCalls, flags: Tuple[str, ...]) -> None:
    check_c(start_calls(mpi_build, "calls.c", *flags))


@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
@pytest.mark.usual("mpich-debian--O0 -g3")
def test_arguments_of_c_in_mpich(mpich_build: MpiBuild, start_calls: StartCalls, flags: Tuple[str, ...]) -> None:
    check_c(start_calls(mpich_build, "calls.c", *flags))


def check_c(job: jobs.Job) -> None:
    calls = calls_of(job)
    for rank, call in enumerate(calls):
        agree(call, said(rank_output(job, rank)))
    world = {one["name"]: one for one in calls[0]["arguments"]}["comm"]
    # The handle of the constant is a number that is known.
    assert world["value"] is not None and world["expression"] == "WORLD"


@pytest.mark.parametrize("debugger", DEBUGGERS)
def test_a_debugger_tells_the_same(debian_mpi: MpiBuild, start_calls: StartCalls, debugger: str) -> None:
    job = start_calls(debian_mpi, "calls.c", "-O0", "-g3")
    # Each debugger counts threads in an order of its own.
    wanted = [{**call, "thread": None} for call in calls_of(job)]
    said = in_debugger(debugger, [attached(debugger, pid) for pid in job.pids], "mpi queues -format json")
    calls = [call for process in shown_in(said)["processes"] for call in process["calls"]]
    assert [{**call, "thread": None} for call in calls] == wanted


@pytest.mark.slow
def test_variables_of_other_units_and_of_libraries(
    mpi_build: MpiBuild, start_calls: StartCalls, tmp_path: pathlib.Path
) -> None:
    sources = [PROGRAMS / f"calls_globals_{part}.c" for part in ("unit", "library")]
    library = [mpi_build.mpicc, "-g", "-fPIC", "-shared", sources[1], "-o", tmp_path / "libglobals.so"]
    subprocess.run(library, check=True)
    flags = ["-g", f"-Wl,-rpath,{tmp_path},--no-as-needed", str(sources[0]), str(tmp_path / "libglobals.so")]
    job = start_calls(mpi_build, "calls_globals.c", *flags)
    for rank, call in enumerate(calls_of(job)):
        truth = said(rank_output(job, rank))
        if rank % 2:
            assert call["caller"] == "receive"
            truth.given["source"] = [-1]
        agree(call, truth)


def test_arguments_of_cxx(debian_mpi: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(debian_mpi, "calls.cc", "-O0")
    for rank, call in enumerate(calls_of(job)):
        agree(call, said(rank_output(job, rank)))


@pytest.mark.parametrize(
    ("source", "ranks", "flags"), [("calls.f90", 3, "-O0"), ("calls.f90", 3, "-O2"), ("calls_integers.f90", 2, "-O0")]
)
@pytest.mark.usual("calls.f90-3--O0")
def test_arguments_of_fortran(
    debian_mpi: MpiBuild, start_calls: StartCalls, source: str, ranks: int, flags: str
) -> None:
    check_fortran(start_calls(debian_mpi, source, flags, ranks=ranks))


@pytest.mark.parametrize(("source", "ranks"), [("calls.f90", 3), ("calls_integers.f90", 2)])
@pytest.mark.slow
def test_arguments_of_fortran_in_mpich(
    debian_mpich: MpiBuild, start_calls: StartCalls, source: str, ranks: int
) -> None:
    check_fortran(start_calls(debian_mpich, source, "-O0", ranks=ranks))


def check_fortran(job: jobs.Job) -> None:
    for rank, call in enumerate(calls_of(job)):
        # mpi_recv_, mpi_recv__, mpi_recv_f08_ or mpi_recv_f08ts_.
        function = call["function"].rstrip("_").removesuffix("_f08ts").removesuffix("_f08")
        agree({**call, "function": function}, said(rank_output(job, rank)))


@pytest.mark.slow
def test_a_recording_tells_the_same(debian_mpich: MpiBuild, start_calls: StartCalls, tmp_path: pathlib.Path) -> None:
    job = start_calls(debian_mpich, "calls.c", "-O2")
    live = calls_of(job)
    path = str(tmp_path / "calls.mpirec")
    recorded = cli.mpi_queues("record", *cli.pid_options(job.pids), "-o", path)
    assert recorded.status == 0, str(recorded)
    shown = cli.mpi_queues("show", "--recording", path, "--format", "json")
    calls = [call for process in json.loads(shown.out)["processes"] for call in process["calls"]]
    assert [call["arguments"] for call in calls] == [call["arguments"] for call in live]
    # Nothing has moved.
    assert [call["fingerprint"] for call in calls] == [call["fingerprint"] for call in live]


@pytest.mark.slow
def test_a_core_file_tells_the_same(debian_mpich: MpiBuild, start_calls: StartCalls, tmp_path: pathlib.Path) -> None:
    job = start_calls(debian_mpich, "calls.c", "-O0")
    calls_of(job)
    core = f"{tmp_path}/core.{job.pids[1]}"
    subprocess.run(["gcore", "-o", f"{tmp_path}/core", str(job.pids[1])], check=True, capture_output=True)
    shown = cli.mpi_queues("show", "--core", core, "--exe", str(job.program), "--format", "json")
    ((call,),) = [process["calls"] for process in json.loads(shown.out)["processes"]]
    agree(call, said(rank_output(job, 1)))


def test_a_source_that_changed_is_not_believed(debian_mpi: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(debian_mpi, "calls.c", "-O0")
    source = pathlib.Path(job.program).with_name("calls.c")
    source.write_text("\n" + source.read_text())
    for call in calls_of(job):
        assert "arguments" not in call
        assert "changed after the program was built" in call["arguments_unknown"]


@pytest.mark.slow
def test_without_its_source_an_unoptimised_program_tells_why(debian_mpi: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(debian_mpi, "calls.c", "-O0")
    source = pathlib.Path(job.program).with_name("calls.c")
    source.unlink()
    for call in calls_of(job):
        assert "arguments" not in call
        reason = call["arguments_unknown"]
        assert f"the source file {source} is not on this machine" in reason
        assert "with -O1 and higher" in reason


#: A loop without anything of its own that changes is told from a wait by what the MPI's shared memory has.
@pytest.mark.parametrize("flags", ["-O2", "-O0"])
@pytest.mark.slow
def test_a_fingerprint_tells_a_loop_from_a_wait(mpi_build: MpiBuild, start_calls: StartCalls, flags: str) -> None:
    check_fingerprints(mpi_build, start_calls, flags)


@pytest.mark.parametrize("flags", ["-O2", "-O0"])
@pytest.mark.slow
def test_a_fingerprint_tells_a_loop_from_a_wait_in_mpich(
    mpich_build: MpiBuild, start_calls: StartCalls, flags: str
) -> None:
    check_fingerprints(mpich_build, start_calls, flags)


def check_fingerprints(build: MpiBuild, start_calls: StartCalls, flags: str) -> None:
    waiting = start_calls(build, "calls_pingpong.c", flags, ranks=2, arguments=["wait"])
    first, second = [calls_of(waiting) for _ in range(2)]
    assert first == second
    assert all(call["fingerprint"] for call in first)
    assert watch(waiting.pids, time.monotonic() + 0.5).moving == set()
    waiting.end()
    running = start_calls(build, "calls_pingpong.c", flags, ranks=2)
    # MPICH's ch4 has rings of cells, which two looks find with the same content one time in a hundred.
    looks = []
    for _ in range(3):
        looks.append([call["fingerprint"] for call in calls_of(running)])
        go_round(running.pids)
    assert all(None not in words and len(set(words)) > 1 for words in zip(*looks)), looks
    assert watch(running.pids, time.monotonic() + 0.5).moving == set(running.pids)


def go_round(pids: Sequence[int]) -> None:
    """Waits until the ranks of calls_pingpong.c have moved: on a busy machine they may have no processor for long."""
    before = {pid: rounds(pid) for pid in pids}
    processes.wait_until(lambda: all(rounds(pid) > before[pid] + 1 for pid in pids), "every rank going round")


def rounds(pid: int) -> int:
    """How often a rank of calls_pingpong.c has gone round its loop, which it has told the kernel alone."""
    of_process = pathlib.Path(f"/proc/{pid}")
    (file,) = [fd.name for fd in (of_process / "fd").iterdir() if os.readlink(fd).endswith("/rounds (deleted)")]
    told = dict(line.split(":", 1) for line in (of_process / "fdinfo" / file).read_text().splitlines())
    return int(told["pos"])
