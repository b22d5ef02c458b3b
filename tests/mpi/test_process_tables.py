"""Process tables of real launchers, read through /proc while they run. Truth is which process said it is which rank."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import pytest
from mpi_queues import _native
from mpi_queues.launchers.table_types import ProcessTableDict
from support import processes
from support.builds import C_FLAGS, MpiBuild, compile_with
from support.jobs import Job
from support.paths import PROGRAMS

#: Without -g.
NO_TYPES = tuple(flag for flag in C_FLAGS if flag != "-g")
STRIPPED = ("-Wl,--strip-all",)


def ranks(job: Job) -> Dict[int, Optional[int]]:
    return {pid: rank for rank, pid in enumerate(job.pids)}


def assert_table(table: ProcessTableDict, job: Job) -> None:
    assert [entry["pid"] for entry in table["entries"]] == job.pids
    # jobs.Job starts each rank through Python.
    assert {entry["executable"] for entry in table["entries"]} == {sys.executable}
    assert {entry["host"] for entry in table["entries"]} == {socket.gethostname()}
    assert {entry["problem"] for entry in table["entries"]} == {None}
    assert table["size"] == job.ranks and table["problems"] == []
    processes.assert_running(job.launcher_pid)
    job.assert_running()


def test_open_mpi(mpi_build: MpiBuild, start_job: Callable[..., Job]) -> None:
    job = start_job(mpi_build, "truth_comms", ranks=3)
    table = _native.process_table(job.launcher_pid, ranks(job))
    if mpi_build.series.startswith("4."):
        assert_table(table, job)
        assert (table["found"], table["layout"]) == ("symbols", "built-in layout")
        assert (table["debug_state"], table["being_debugged"]) == (1, 0)
        assert table["is_starter"] and table["partial_attach_ok"] and not table["has_gate"]
        assert table["attach_fifo"] is not None and str(job.launcher_pid) in table["attach_fifo"]
    else:
        # The launcher of Open MPI 5 has no MPIR, and nothing that looks like it is taken for it.
        assert (table["found"], table["entries"], table["size"], table["is_starter"]) == (None, [], None, None)
        assert "no variable MPIR_proctable" in table["problems"][0]
        assert "searched for in memory" in table["problems"][1]


def test_a_rank_is_no_launcher(debian_mpi: MpiBuild, start_job: Callable[..., Job]) -> None:
    job = start_job(debian_mpi, "truth_probe")
    table = _native.process_table(job.pids[0])
    assert table["entries"] == [] and table["size"] in (0, None)
    assert table["has_gate"] is True and table["dll_name"] is not None
    assert table["dll_name"].endswith("libompi_dbg_msgq.so")


@pytest.mark.usual("mpich-debian", "mpich-wheel-*")
def test_mpich(mpich_build: MpiBuild, start_job: Callable[..., Job]) -> None:
    job = start_job(mpich_build, "truth_comms", ranks=3)
    table = _native.process_table(job.launcher_pid, ranks(job))
    assert_table(table, job)
    if mpich_build.id.startswith(("mpich-ch3", "mpich-ofi")):
        assert (table["found"], table["layout"]) == ("symbols", "types of debug information")
        assert (table["debug_state"], table["is_starter"]) == (1, True)
    else:
        # Stripped, as all packages are.
        assert (table["found"], table["layout"]) == ("memory", "built-in layout")
        assert (table["debug_state"], table["is_starter"], table["symbols"]) == (None, None, {})
        assert _native.process_table(job.launcher_pid)["found"] is None


def test_a_stripped_launcher_whose_ranks_are_said_to_be_others_is_refused(
    debian_mpich: MpiBuild, start_job: Callable[..., Job]
) -> None:
    job = start_job(debian_mpich, "truth_probe", ranks=2)
    swapped: Dict[int, Optional[int]] = {job.pids[0]: 1, job.pids[1]: 0}
    for wrong in (swapped, {job.pids[0]: 1}, {job.pids[1]: None}, {os.getpid(): 0}):
        table = _native.process_table(job.launcher_pid, wrong)
        assert (table["found"], table["entries"]) == (None, [])
        assert "searched for in memory" in table["problems"][-1]


def test_the_scripts_around_programs_stand_in_the_table(debian_mpich: MpiBuild, tmp_path: Path) -> None:
    from mpi_queues import jobs

    script = tmp_path / "around.sh"
    script.write_text("#!/bin/sh\necho ready\nsleep 1000 &\nwait\n")
    script.chmod(0o755)
    with jobs.Job(script, ranks=2, launcher=debian_mpich.mpirun) as job:
        # The program below has the rank in its environment as well.
        below = _children(job.pids)
        both: Dict[int, Optional[int]] = {pid: rank for rank, pid in enumerate(job.pids)}
        both.update({pid: job.pids.index(parent) for pid, parent in below.items()})
        assert len(both) == 4
        table = _native.process_table(job.launcher_pid, both)
        assert [entry["pid"] for entry in table["entries"]] == job.pids


def _children(parents: Sequence[int]) -> Dict[int, int]:
    """The children of processes that have one each, by process id."""
    found: Dict[int, int] = {}

    def each_has_one() -> bool:
        for parent in parents:
            text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
            found.update({int(child): parent for child in text.split()})
        return len(found) == len(parents)

    processes.wait_until(each_has_one, "a child of each rank")
    return found


@pytest.fixture
def launch() -> Iterator[Callable[..., Tuple[int, List[int]]]]:
    """Starts mpir_table.c as it was compiled: its process id and those of its ranks, which end with it."""
    started: List[subprocess.Popen[str]] = []

    def start(*flags: str, types: bool = False) -> Tuple[int, List[int]]:
        language = C_FLAGS if types else NO_TYPES
        program = compile_with(["cc"], "plain", [PROGRAMS / "mpir_table.c"], flags, language=language)
        started.append(subprocess.Popen([program], stdout=subprocess.PIPE, text=True))
        output = started[-1].stdout
        assert output is not None
        return started[-1].pid, [int(pid) for pid in output.readline().split()]

    yield start
    for one in started:
        one.kill()
        one.communicate()


#: How executables are linked, which says where their variables are and whether a dynamic linker knows of them.
LINKED = (("-pie", "-fPIE"), ("-no-pie",), ("-static",), ("-static-pie", "-fPIE"))


def _rows(pids: Sequence[int]) -> List[Dict[str, object]]:
    hosts = ("here.example", "here.example", "there.example")
    return [{"host": host, "executable": "./solver", "pid": pid, "problem": None} for host, pid in zip(hosts, pids)]


@pytest.mark.parametrize("linked", LINKED, ids=lambda flags: flags[0])
@pytest.mark.usual("-static-pie")
def test_a_launcher_of_any_linkage(launch: Callable[..., Tuple[int, List[int]]], linked: Tuple[str, ...]) -> None:
    launcher, pids = launch(*linked)
    table = _native.process_table(launcher)
    assert (table["found"], table["layout"], table["problems"]) == ("symbols", "built-in layout", [])
    assert list(map(dict, table["entries"])) == _rows(pids)
    assert table["server_arguments"] == ["-x", "a b"]
    assert (table["ignore_queues"], table["is_starter"], table["force_to_main"]) == (True, True, False)

    launcher, pids = launch(*linked, *STRIPPED)
    assert _native.process_table(launcher)["found"] is None
    # That of the third is not known, as that of a process which has cleared its environment.
    table = _native.process_table(launcher, {pids[0]: 0, pids[1]: 1, pids[2]: None})
    assert (table["found"], table["problems"]) == ("memory", [])
    assert list(map(dict, table["entries"])) == _rows(pids)


def test_debug_information_says_where_the_fields_are(launch: Callable[..., Tuple[int, List[int]]]) -> None:
    launcher, pids = launch("-DWIDE", types=True)
    table = _native.process_table(launcher)
    assert (table["layout"], table["problems"]) == ("types of debug information", [])
    assert list(map(dict, table["entries"])) == _rows(pids)


def test_a_table_of_another_layout_is_not_found_in_memory(launch: Callable[..., Tuple[int, List[int]]]) -> None:
    launcher, pids = launch("-DWIDE", *STRIPPED)
    table = _native.process_table(launcher, {pid: rank for rank, pid in enumerate(pids)})
    assert (table["found"], table["entries"]) == (None, [])


def test_processes_that_are_none_and_those_of_others() -> None:
    ended = subprocess.Popen(["true"])
    processes.wait_until(lambda: processes.state(ended.pid) == "Z", "the end of a process")
    for pid in (ended.pid, 0, -1, 1 << 40):
        with pytest.raises(_native.NativeError, match=f"there is no process {pid}") as caught:
            _native.process_table(pid)
        assert caught.value.kind == "gone"
    ended.wait()
    with pytest.raises(TypeError):
        _native.process_table("1")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _native.process_table(True)
    assert _kind_for_nobody(os.getpid()) == "denied"


def _kind_for_nobody(pid: int) -> str:
    """What a user without rights is told of a process of ours."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
            else:
                pid = 1
            _native.process_table(pid)
        except _native.NativeError as error:
            os.write(send, error.kind.encode())
        finally:
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as answer:
        kind = answer.read()
    os.waitpid(child, 0)
    return kind
