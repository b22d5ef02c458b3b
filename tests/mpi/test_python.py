"""Python's frames: what is told of mpi4py programs, against what these say of themselves."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import pytest
from support import builds, cli, processes
from support.builds import MpiBuild
from support.python_jobs import PYTHON, PythonJob, is_at, marked, mpi4py_of_wheel
from support.python_places import ours, py_spys

Json = Dict[str, Any]
StartPython = Callable[..., PythonJob]

#: Program, ranks.
PROGRAMS = {
    "recv_without_send": 3,
    "wrong_tag": 2,
    "head_to_head": 2,
    "barrier_missed": 3,
    "bcast_roots": 2,
    "exception_finalize": 2,
    "exception_handled": 2,
    "exception_atexit": 2,
    "exception_gives_up": 3,
    "exception_usual": 2,
    "exception_sleeps": 2,
    "generator": 2,
    "coroutines": 2,
    "threads": 2,
    "pickled": 2,
    "collectives": 3,
    "request_wait": 2,
    "split_missed": 3,
    "callback": 2,
    "names": 2,
    "holds_the_gil": 2,
    "holds_an_rlock": 2,
}
#: In these a rank runs no Python any more.
ENDED = ("exception_finalize", "exception_atexit")


@pytest.fixture
def start_python() -> Iterator[StartPython]:
    jobs: List[PythonJob] = []

    def start(*arguments: Any, **options: Any) -> PythonJob:
        jobs.append(PythonJob(*arguments, **options))
        return jobs[-1]

    yield start
    for job in jobs:
        job.end()


def problems(program: str, found: Dict[int, Json]) -> List[str]:
    """What is not told as the program says it."""
    wrong = []
    for rank, places in marked(program).items():
        calls = found[rank]["calls"]
        if len(calls) != len(places) or not all(any(is_at(call, place) for call in calls) for place in places):
            wrong.append(
                f"rank {rank}: {[(c['function'], c['caller'], c['file'], c['line']) for c in calls]}: {places}"
            )
    return wrong


def stuck(job: PythonJob, program: str) -> Dict[int, Json]:
    """By rank: its process, once all are where the program says."""
    found: Dict[int, Json] = {}

    def all_there() -> bool:
        found.clear()
        found.update({one["rank"]: one for one in cli.show(job.pids).values()})
        return not problems(program, found)

    try:
        processes.wait_until(all_there, "every rank in its call", timeout=60)
    except AssertionError:
        raise AssertionError("\n".join(problems(program, found))) from None
    return found


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.usual("recv_without_send", "head_to_head", "exception_handled", "threads", "names")
def test_calls_have_the_lines_of_python(debian_mpi: MpiBuild, start_python: StartPython, program: str) -> None:
    job = start_python(debian_mpi, program, ranks=PROGRAMS[program])
    for process in stuck(job, program).values():
        assert not [note for note in process["notes"] if "Python" in note]


@pytest.mark.parametrize("program", [program for program in PROGRAMS if program not in ENDED])
@pytest.mark.usual("coroutines")
def test_stacks_are_those_of_py_spy(debian_mpi: MpiBuild, start_python: StartPython, program: str) -> None:
    """At the waiting calls of mpi4py; random programs are in tests/debugger/test_python_places.py."""
    job = start_python(debian_mpi, program, ranks=PROGRAMS[program])
    stuck(job, program)
    found, _, notes = ours(job.pids)
    assert all(found.values()) and not notes
    assert found == py_spys(job.pids)


#: Program, ranks, and how rank 0 has the exception that the headline names.
CAUSES = {
    "exception_atexit": (2, "unhandled"),
    "exception_gives_up": (3, "handled"),
    "exception_handled": (2, "handled"),
}


def diagnosis_of(job: PythonJob) -> Json:
    result = cli.mpi_queues("diagnose", *cli.pid_options(job.pids), "--format", "json")
    assert result.status == 0, str(result)
    return json.loads(result.out)  # type: ignore[no-any-return]


@pytest.mark.parametrize("program", CAUSES)
@pytest.mark.usual("exception_gives_up")
def test_an_exception_is_told_as_the_cause(debian_mpi: MpiBuild, start_python: StartPython, program: str) -> None:
    job = start_python(debian_mpi, program, ranks=CAUSES[program][0])
    stuck(job, program)
    assert_is_cause(job, program)


def assert_is_cause(job: PythonJob, program: str) -> None:
    _, state = CAUSES[program]
    ((raised,),) = marked(program, "raised").values()
    (kind,), (function,), base = raised.functions, raised.callers, Path(raised.file).name
    told = diagnosis_of(job)
    verdict = told["verdict"]
    verb = "handles" if state == "handled" else "has an unhandled"
    assert verdict["state"] == "deadlock"
    assert f"{verb} {kind} from {function} at {base}:{raised.line}" in verdict["headline"]
    first = told["diagnosis"][verdict["finding"]]
    (exception,) = first["exceptions"]
    assert (exception["ranks"], exception["state"], exception["name"]) == ([0], state, kind)
    assert (exception["function"], exception["file"], exception["line"]) == (function, raised.file, raised.line)
    place = first["blamed"][0]
    assert (place["ranks"], place["file"], place["line"]) == ([0], raised.file, raised.line)
    # That a handler is the reason is a guess; which one it is and where it came from are none.
    assert place["certain"] == (state == "unhandled")


def test_an_exception_of_all_ranks_is_no_cause(debian_mpi: MpiBuild, start_python: StartPython) -> None:
    job = start_python(debian_mpi, "exception_usual", ranks=2)
    found = stuck(job, "exception_usual")
    assert all(process["exceptions"] for process in found.values())
    told = diagnosis_of(job)
    assert not [finding for finding in told["diagnosis"] if finding.get("exceptions")]
    assert "ModuleNotFoundError" not in told["verdict"]["headline"]


@pytest.mark.slow
def test_a_rank_that_sleeps_in_a_handler(debian_mpi: MpiBuild, start_python: StartPython) -> None:
    program = "exception_sleeps"
    job = start_python(debian_mpi, program, ranks=2)
    stuck(job, program)
    ((raised,),) = marked(program, "raised").values()
    told = diagnosis_of(job)
    assert told["verdict"]["state"] == "waiting"
    assert f"handles OSError from read at {program}.py:{raised.line}" in told["verdict"]["headline"]


@pytest.mark.parametrize("which", ["openmpi", "mpich"])
@pytest.mark.usual("*")
def test_who_has_the_interpreter_is_told(which: str, start_python: StartPython, preflight: None) -> None:
    build = builds.debian() if which == "openmpi" else builds.debian_mpich()
    python, env = (PYTHON, None) if which == "openmpi" else mpi4py_of_wheel(build)
    job = start_python(build, "holds_the_gil", ranks=2, python=python, env=env)
    processes.wait_until(
        lambda: diagnosis_of(job)["verdict"]["state"] == "deadlock", "the threads to wait for one another", timeout=60
    )
    # The same at each look, whatever the thread that waits does in its five milliseconds.
    for _ in range(5):
        told = diagnosis_of(job)["verdict"]
        assert told["state"] == "deadlock", told
        assert "thread 1 of rank 1 waits for Python's interpreter lock (GIL), which thread" in told["headline"], told
        assert "holds in MPI_Comm_dup" in told["headline"], told


def test_who_has_a_recursive_lock_is_told(debian_mpi: MpiBuild, start_python: StartPython) -> None:
    job = start_python(debian_mpi, "holds_an_rlock", ranks=2)
    processes.wait_until(
        lambda: diagnosis_of(job)["verdict"]["state"] == "deadlock", "the threads to wait for one another", timeout=60
    )
    told = diagnosis_of(job)["verdict"]["headline"]
    assert "thread 1 of rank 1 waits for a threading.RLock, which thread" in told, told
    assert "holds in MPI_Recv" in told, told


def test_of_a_python_that_has_ended_nothing_is_made_up(debian_mpi: MpiBuild, start_python: StartPython) -> None:
    """mpi4py calls MPI_Finalize when the interpreter is gone, and with it the exception."""
    job = start_python(debian_mpi, "exception_finalize", ranks=2)
    processes.wait_until(lambda: cli.show(job.pids)[job.pids[0]].get("python_ended"), "the end of Python", timeout=60)
    told = diagnosis_of(job)
    first = told["diagnosis"][told["verdict"]["finding"]]
    assert (first["kind"], first["certain"], first["ranks"]) == ("finished rank", True, [0, 1])
    assert [(one["state"], one["name"], one["ranks"]) for one in first["exceptions"]] == [("ended", "", [0])]
    assert [one for one in first["evidence"] if one.startswith("Python has ended in rank 0.")]
    assert [(one["function"], one["ranks"]) for one in first["blamed"]] == [("MPI_Recv", [1]), ("MPI_Finalize", [0])]


@pytest.mark.slow
def test_strange_names_are_cleaned_and_cut(debian_mpi: MpiBuild, start_python: StartPython, tmp_path: Path) -> None:
    job = start_python(debian_mpi, "strange_names", ranks=2)
    pids = cli.pid_options(job.pids)

    def stopped() -> bool:
        found = cli.show(job.pids).values()
        return all([call["function"] for call in one["calls"]] == ["MPI_Recv"] for one in found)

    processes.wait_until(stopped, "both ranks in MPI_Recv", timeout=60)
    recording = tmp_path / "strange.mpirec"
    assert cli.mpi_queues("record", *pids, "-o", str(recording)).status == 0
    for target in (pids, ["--recording", str(recording)]):
        for command in (["diagnose"], ["diagnose", "-v"], ["stacks"], ["stacks", "--internal"], ["show"]):
            result = cli.mpi_queues(*command, *target)
            assert result.status == 0 and len(result.out) < 100_000, str(result)[:4000]
            harmful = [c for c in result.out + result.err if c not in "\n …│├└─" and not c.isprintable()]
            assert not harmful, (command, harmful)
        told = json.loads(cli.mpi_queues("diagnose", *target, "--format", "json").out)
        first, second = sorted(told["processes"], key=lambda one: one["rank"])
        frames = [[one for one in of["stacks"][0]["frames"] if one.get("language")] for of in (first, second)]
        names = [[one["function"] for one in of] for of in frames]
        assert names[0][:1] == ["wait"] and names[0][1].startswith("outer\x1b[2J")
        assert frames[0][1]["file"].endswith("\\xff\\xfe\ufffd.py")
        assert names[1][1] == "outer" + 4091 * "n" + "…" and len(frames[1][1]["file"]) == 4097
        assert [len(of["exceptions"]) for of in (first, second)] == [1, 1]
        assert first["exceptions"][0]["name"].startswith("Bad\x1b[2J")


def test_what_calls_were_given(debian_mpi: MpiBuild, start_python: StartPython) -> None:
    """No debug information tells it; what the program says it gave is what the library keeps."""
    job = start_python(debian_mpi, "wrong_tag", ranks=2)
    for rank, process in stuck(job, "wrong_tag").items():
        said = json.loads(Path(job.directory, f"truth.{rank}.json").read_text())
        (call,) = process["calls"]
        assert {one["name"]: one["value"] for one in call["arguments"]} == said
        assert {one["origin"] for one in call["arguments"]} == {"queue"}
        world = next(one for one in process["communicators"] if one["name"] == "MPI_COMM_WORLD")
        assert call["communicator"] == world["unique_id"] and "arguments_unknown" not in call
    text = " ".join(cli.mpi_queues("show", *cli.pid_options(job.pids)).out.split())
    assert 'in MPI_Recv(from 1, tag 7, on "MPI_COMM_WORLD"), called by Halo.receive at wrong_tag.py:' in text
    assert 'in MPI_Ssend(to 0, tag 8, on "MPI_COMM_WORLD"), called by Halo.send at wrong_tag.py:' in text


WHEELS: Dict[str, Callable[[], MpiBuild]] = {
    "mpich-debian": builds.debian_mpich,
    "mpich-wheel": lambda: builds.mpich_wheel("5.0.2"),
    "openmpi-wheel": lambda: builds.wheel("5.0.11"),
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("which", WHEELS)
@pytest.mark.usual("mpich-debian-recv_without_send")
def test_the_wheel_of_mpi4py(start_python: StartPython, which: str, program: str, preflight: None) -> None:
    build = WHEELS[which]()
    python, env = mpi4py_of_wheel(build)
    job = start_python(build, program, ranks=PROGRAMS[program], python=python, env=env)
    for process in stuck(job, program).values():
        assert not [note for note in process["notes"] if "Python" in note]
    if program in CAUSES:
        assert_is_cause(job, program)


def told(process: Json) -> List[Any]:
    """What of Python is told of a process on every kind of target."""
    calls = [(one["function"], one["caller"], one["file"], one["line"]) for one in process["calls"]]
    raised = [(one["name"], one["state"], one["function"], one["file"], one["line"]) for one in process["exceptions"]]
    return [calls, raised]


def of_target(*target: str) -> Dict[int, Json]:
    result = cli.mpi_queues("show", *target, "--format", "json")
    assert result.status == 0, str(result)
    return {one["rank"]: {"exceptions": [], **one} for one in json.loads(result.out)["processes"]}


@pytest.mark.slow
def test_every_kind_of_target_tells_of_python(debian_mpi: MpiBuild, start_python: StartPython, tmp_path: Path) -> None:
    program = "exception_handled"
    job = start_python(debian_mpi, program, ranks=2)
    stuck(job, program)
    live = of_target(*cli.pid_options(job.pids))
    ((raised,),) = marked(program, "raised").values()
    (exception,) = live[0]["exceptions"]
    place = (exception["function"], exception["file"], exception["line"])
    assert (exception["name"], exception["state"]) == ("ValueError", "handled")
    assert place == (next(iter(raised.callers)), raised.file, raised.line)
    assert not live[1]["exceptions"]
    recording = tmp_path / "python.mpirec"
    result = cli.mpi_queues("record", *cli.pid_options(job.pids), "-o", str(recording))
    assert result.status == 0, str(result)
    cores: List[str] = []
    for pid in job.pids:
        core = tmp_path / f"core.{pid}"
        dump = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-p", str(pid)]
        dump += ["-ex", f"generate-core-file {core}", "-ex", "detach"]
        subprocess.run(dump, stdin=subprocess.DEVNULL, capture_output=True, timeout=180, check=False)
        cores += ["--core", str(core), "--exe", str(PYTHON)]
    for found in (of_target("--recording", str(recording)), of_target(*cores)):
        assert {rank: told(process) for rank, process in found.items()} == {
            rank: told(process) for rank, process in live.items()
        }
    text = cli.mpi_queues("diagnose", "--recording", str(recording))
    at = f"rank 0 handling ValueError, raised in parse at {program}.py:{raised.line}"
    assert at in text.out, str(text)
