"""libmpi_queues_mqs.so on real jobs, in our own host and in a strict one: it gives what the built-in reader reads."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

import pytest
from support.builds import MpiBuild, compile_program
from support.cli import mpi_queues, show
from support.jobs import Job
from support.mqs_hosts import LIBRARY, strict_host, symbols
from support.truths import name_of

StartJob = Callable[..., Job]
Program = Tuple[str, Tuple[str, ...], int]

#: Facts of a queue's operations that the interface carries, in its members or in the lines of text.
MEMBERS = (
    "status",
    "desired_local_rank",
    "desired_global_rank",
    "any_source",
    "tag_wild",
    "desired_tag",
    "desired_length",
    "system_buffer",
    "buffer",
    "datatype",
    "count",
    "request",
    "persistent",
)
#: How the built-in reader tells that a blocking send of UCX lies on a stack, of which the interface tells nothing.
ON_STACK = "on the stack of the thread that sends"
#: Those that count for sends and what has been matched only.
ACTUAL = ("actual_local_rank", "actual_global_rank", "actual_tag", "actual_length")
PROGRAM_LIST: List[Program] = [
    ("truth_modes", (), 2),
    ("truth_comms", (), 3),
    ("truth_persistent", (), 2),
    ("truth_probe", (), 2),
    ("truth_in_transit", ("2", "12", "100000", "40"), 2),
    ("truth_tvtest", ("posted",), 2),
    ("truth_random", ("7", "300"), 3),
]


def facts(queue: Dict[str, Any], *, is_receive: bool) -> Iterator[Dict[str, Any]]:
    """What the interface carries of each operation that is the application's and does not lie on a stack."""
    for operation in queue["operations"]:
        if operation["internal"] or (operation.get("evidence") or "").startswith(ON_STACK):
            continue
        matters = not is_receive or operation["status"] in ("matched", "complete")
        yield {name: operation[name] for name in (*MEMBERS, *(ACTUAL if matters else ()))}


def compare(ours: Dict[str, Any], theirs: Dict[str, Any], counted: Dict[str, int]) -> None:
    """All facts of all communicators of a process."""
    names = ("name", "unique_id", "local_rank", "size", "group", "remote_group")
    assert [[one[name] for name in names] for one in ours["communicators"]] == [
        [one[name] for name in names] for one in theirs["communicators"]
    ]
    for our, their in zip(ours["communicators"], theirs["communicators"]):
        for queue in ("pending_sends", "pending_receives", "unexpected_messages"):
            place = f"{our['name']}, {queue}"
            may_lie_on_stacks = queue != "unexpected_messages" and ours["mpi"]["transport"] == "ucx"
            expected = "no_information" if may_lie_on_stacks else our[queue]["state"]
            assert (our[queue]["state"], their[queue]["state"]) == ("ok", expected), (place, their[queue]["detail"])
            is_receive = queue == "pending_receives"
            pairs = [list(facts(one[queue], is_receive=is_receive)) for one in (our, their)]
            assert pairs[0] == pairs[1], place
            counted[queue] = counted.get(queue, 0) + len(pairs[0])


def _equal_in_our_host(build: MpiBuild, start_job: StartJob, program: Program) -> None:
    name, arguments, ranks = program
    job = start_job(build, name, *arguments, ranks=ranks)
    counted: Dict[str, int] = {}
    for pid in job.pids:
        # One by one: what other ranks tell of a rank's operations no debugger asks for.
        ours = show([pid])
        theirs = show([pid], "--source", f"plugin={LIBRARY}")
        assert theirs[pid]["source"]["plugin"] == str(LIBRARY)
        compare(ours[pid], theirs[pid], counted)
    assert sum(counted.values()) > 0, counted
    job.assert_running()


@pytest.mark.parametrize("program", PROGRAM_LIST, ids=name_of)
@pytest.mark.usual("*comms*", "*random*")
def test_our_host_shows_what_the_reader_reads(mpi_build: MpiBuild, start_job: StartJob, program: Program) -> None:
    _equal_in_our_host(mpi_build, start_job, program)


@pytest.mark.parametrize("program", PROGRAM_LIST, ids=name_of)
@pytest.mark.usual("*comms*", "*random*")
def test_our_host_shows_what_the_reader_reads_of_mpich(
    mpich_build: MpiBuild, start_job: StartJob, program: Program
) -> None:
    _equal_in_our_host(mpich_build, start_job, program)


@pytest.mark.parametrize("program", [one for one in PROGRAM_LIST if one[0] != "truth_in_transit"], ids=name_of)
@pytest.mark.usual("*comms*", "*random*")
def test_our_host_shows_what_the_reader_reads_over_transports(
    transport_build: MpiBuild, start_job: StartJob, program: Program
) -> None:
    _equal_in_our_host(transport_build, start_job, program)


def _strictly(pids: Sequence[int], tmp_path: Path, *options: str) -> str:
    """What the strict host says of the first of them; the others are stopped, too."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        command = [str(strict_host()), str(LIBRARY), str(pids[0]), str(symbols(pids[0], tmp_path / "symbols"))]
        run = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120, check=False)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert run.returncode == 0 and run.stderr == "", f"[{run.returncode}] {run.stderr}\n{run.stdout}"
    return run.stdout


def _equal_in_strict_host(build: MpiBuild, start_job: StartJob, tmp_path: Path) -> None:
    job = start_job(build, "truth_comms", ranks=3)
    shown = show(job.pids)
    for pid in job.pids:
        said = _strictly([pid], tmp_path)
        names = re.findall(r'^communicator id=(\d+) rank=\S+ size=\S+ name="(.*)" group=', said, re.MULTILINE)
        assert [one[0] for one in names] == [str(one["unique_id"]) for one in shown[pid]["communicators"]]
        for (_, name), one in zip(names, shown[pid]["communicators"]):
            # There is room for 63 bytes.
            assert name == one["name"][:63]
        counts = [int(count) for count in re.findall(r"^queue class=\d count=(\d+)", said, re.MULTILINE)]
        queues = ("pending_sends", "pending_receives", "unexpected_messages")
        expected = [one[queue]["operations"] for one in shown[pid]["communicators"] for queue in queues]
        assert counts == [sum(not operation["internal"] for operation in queue) for queue in expected]
    job.assert_running()


def test_a_host_to_the_letter_gets_all(mpi_build: MpiBuild, start_job: StartJob, tmp_path: Path) -> None:
    _equal_in_strict_host(mpi_build, start_job, tmp_path)


def test_a_host_to_the_letter_gets_all_of_mpich(mpich_build: MpiBuild, start_job: StartJob, tmp_path: Path) -> None:
    _equal_in_strict_host(mpich_build, start_job, tmp_path)


#: What the strict host calls the first process of a job.
FIRST_IDENTITY = 100


def _named_by_the_debugger(build: MpiBuild, start_job: StartJob, tmp_path: Path) -> None:
    """The functions for MPI-2: what the debugger calls processes stands where ranks in MPI_COMM_WORLD do elsewhere."""
    job = start_job(build, "truth_comms", ranks=3)
    others = [part for pid in job.pids[1:] for part in (str(pid), str(symbols(pid, tmp_path / f"symbols.{pid}")))]
    said = _strictly(job.pids, tmp_path, "mpi2", *others)
    read = show([job.pids[0]])[job.pids[0]]
    identity = {None: -1, **{rank: FIRST_IDENTITY + rank for rank in range(3)}}
    groups = re.findall(r"^communicator .* group=(\S*)$", said, re.MULTILINE)
    expected = [one["group"] for one in read["communicators"]]
    assert groups == [",".join(str(identity[rank]) for rank in group) for group in expected]
    receives = re.findall(r"^operation class=1 .* desired=(-?\d+)/(-?\d+) ", said, re.MULTILINE)
    operations = [one for comm in read["communicators"] for one in comm["pending_receives"]["operations"]]
    shown = [one for one in operations if not one["internal"]]
    assert len(shown) > 3
    assert [int(desired) for _, desired in receives] == [identity[one["desired_global_rank"]] for one in shown]
    assert re.search(r"^new processes setup=2 count=0$", said, re.MULTILINE), said
    job.assert_running()


def test_a_host_of_mpi_2_names_the_processes(debian_mpi: MpiBuild, start_job: StartJob, tmp_path: Path) -> None:
    _named_by_the_debugger(debian_mpi, start_job, tmp_path)


def test_a_host_of_mpi_2_names_the_processes_of_mpich(
    debian_mpich: MpiBuild, start_job: StartJob, tmp_path: Path
) -> None:
    _named_by_the_debugger(debian_mpich, start_job, tmp_path)


def test_a_process_without_mpi_is_told(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "1000"]) as process:
        try:
            Path(f"/proc/{process.pid}/exe").resolve(strict=True)
            command = [
                str(strict_host()),
                str(LIBRARY),
                str(process.pid),
                str(symbols(process.pid, tmp_path / "symbols")),
            ]
            run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        finally:
            process.kill()
    assert run.returncode == 0 and "is not an MPI process" in run.stdout, str(run)


def test_a_rank_that_has_preloaded_it_names_it(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    job = start_job(debian_mpi, "truth_comms", ranks=2, env={"LD_PRELOAD": str(LIBRARY)})
    shown = mpi_queues("show", "--pid", str(job.pids[0]), "--source", "plugin", "--format", "json")
    assert str(LIBRARY) in shown.out + shown.err, str(shown)
    job.assert_running()


def _named_before_main(build: MpiBuild) -> None:
    """A debugger that stops the program at its beginning finds the variable with the library's path in it."""
    command = [
        "gdb",
        "-nx",
        "-batch",
        "-ex",
        f"set environment LD_PRELOAD={LIBRARY}",
        "-ex",
        "break main",
        "-ex",
        "run",
    ]
    command += ["-ex", "print (char *) &MPIR_dll_name", str(compile_program(build, "truth_comms"))]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "Breakpoint 1, main " in run.stdout, str(run)
    assert run.stdout.rstrip().endswith(f'<MPIR_dll_name> "{LIBRARY}"'), str(run)


def test_it_names_itself_before_main(debian_mpi: MpiBuild) -> None:
    _named_before_main(debian_mpi)


def test_it_names_itself_before_main_in_mpich(debian_mpich: MpiBuild) -> None:
    _named_before_main(debian_mpich)


def _handles(pid: int, kind: str, *options: str) -> Dict[str, Any]:
    """The live objects of a kind by their handles."""
    result = mpi_queues("handles", "--pid", str(pid), kind, "--format", "json", *options)
    assert result.status == 0, str(result)
    lists = json.loads(result.out)["processes"][0]["handles"]
    return {handle["handle"]: handle for handle in lists[0]["handles"] if handle["state"] == "live"}


def _equal_handles(build: MpiBuild, start_job: StartJob) -> None:
    """What the draft for handles has of communicators and error handlers."""
    job = start_job(build, "truth_comms", ranks=3)
    pid = job.pids[0]
    for kind, names in (("comm", ("rank", "size", "inter", "group", "remote_group")), ("errhandler", ())):
        ours, theirs = _handles(pid, kind), _handles(pid, kind, f"--source=plugin={LIBRARY}")
        assert set(ours) <= set(theirs) and ours
        for value, handle in ours.items():
            known = [name for name in names if handle["facts"].get(name) is not None]
            for name in known:
                assert theirs[value]["facts"][name] == handle["facts"][name], (value, name)
            # For the draft a negative INTEGER is none.
            members = ("name", "predefined", *(["fortran"] if (handle["fortran"] or 0) >= 0 else []))
            # There is room for 63 bytes of a name.
            expected = {**handle, "name": handle["name"] and handle["name"][:63]}
            assert [theirs[value][name] for name in members] == [expected[name] for name in members], value
    job.assert_running()


def test_handles_are_those_of_the_reader(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    _equal_handles(debian_mpi, start_job)


def test_handles_are_those_of_the_reader_of_mpich(debian_mpich: MpiBuild, start_job: StartJob) -> None:
    _equal_handles(debian_mpich, start_job)
