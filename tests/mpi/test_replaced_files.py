"""Programs and libraries that were deleted or replaced while a job runs, or that another mount namespace has: what is
said of the ranks is true of what runs, not of what stands at the paths now."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from mpi_queues import jobs
from support import builds, priority, processes
from support.cli import mpi_queues

SOURCE = """\
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
{shift}
static void exchange(int rank)
{{
    int value = 0;
    MPI_{call}; /* CALL */
}}

int main(int argc, char **argv)
{{
    int rank;
    alarm(900);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    puts("ready");
    fflush(stdout);
    exchange(rank);
    MPI_Finalize();
    return 0;
}}
"""
RECEIVE = "Recv(&value, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)"
BARRIER = "Barrier(MPI_COMM_WORLD), (void)value, (void)rank"

#: A library of other functions, whose names are those of MPI.
WRONG_LIBRARY = "".join(
    f"int MPI_Wrong_{number}(int a) {{ volatile int x[64] = {{a}}; {'x[a & 63] += a * 3; ' * 20} return x[0]; }}\n"
    for number in range(1500)
)

MPIS = ("openmpi", "mpich")


def _source(folder: Path, name: str, call: str, lines: int) -> Tuple[Path, int]:
    path = folder / f"{name}.c"
    path.write_text(SOURCE.format(call=call, shift="\n" * lines))
    return path, 1 + path.read_text().split("/* CALL */")[0].count("\n")


def _compiled(build: builds.MpiBuild, source: Path, result: Path) -> Path:
    subprocess.run([str(build.mpicc), "-g", "-O0", "-o", str(result), str(source)], check=True, capture_output=True)
    return result


@pytest.fixture(params=MPIS)
def build(request: pytest.FixtureRequest) -> builds.MpiBuild:
    found: builds.MpiBuild = request.getfixturevalue("debian_mpi" if request.param == "openmpi" else "debian_mpich")
    return found


class Stuck:
    """Two ranks that receive from one another, each running a file of its own; and what is said of them."""

    def __init__(self, build: builds.MpiBuild, folder: Path, env: Dict[str, str]) -> None:
        self.folder = folder
        source, self.line = _source(folder, "solver", RECEIVE, 0)
        self.first = _compiled(build, source, folder / "solver-0")
        second = folder / "solver-1"
        shutil.copy2(self.first, second)
        chosen = folder / "solver"
        chosen.write_text(f'#!/bin/sh\nexec "{folder}/solver-${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}"\n')
        chosen.chmod(0o755)
        self.job = priority.Job(chosen, ranks=2, launcher=build.mpirun, env=env, timeout=180.0)
        # Ranks say that they are ready before they are in the call.
        try:
            processes.wait_until(lambda: self.lines(self.diagnosed()) == [self.line] * 2, "the ranks in their call")
        except BaseException:
            self.job.end()
            raise

    def diagnosed(self) -> Dict[str, Any]:
        result = mpi_queues("diagnose", "--job", str(self.job.launcher_pid), "--format", "json")
        assert result.status in (0, 1), str(result)
        answer: Dict[str, Any] = json.loads(result.out)
        return answer

    def check(self) -> None:
        """The deadlock is found, where it is in the program that runs."""
        said = self.diagnosed()
        findings = said["diagnosis"]
        assert any(one["kind"] == "deadlock" and one["certain"] for one in findings), json.dumps(said)[:3000]
        assert self.lines(said) == [self.line, self.line], json.dumps(said)[:3000]

    @staticmethod
    def lines(said: Dict[str, Any]) -> List[Any]:
        """Where the ranks are in the program."""
        calls = [call for process in said["processes"] for call in process["calls"]]
        return [call["line"] for call in calls if call["function"].endswith("MPI_Recv")]


@pytest.fixture
def stuck(build: builds.MpiBuild, tmp_path: Path) -> Iterator[Stuck]:
    made = Stuck(build, tmp_path, {})
    yield made
    made.job.end()


@pytest.mark.slow
def test_a_program_that_was_deleted_or_built_anew(stuck: Stuck, build: builds.MpiBuild) -> None:
    stuck.first.unlink()
    stuck.check()
    # Another program at the same path, with another call at another line.
    source, _ = _source(stuck.folder, "other", BARRIER, 7)
    _compiled(build, source, stuck.first)
    stuck.check()


def _library(program: Path, name: str) -> Path:
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    return Path(next(line.split()[2] for line in listed.splitlines() if line.split()[0].startswith(name)))


#: Without these the kernel's links to mapped files cannot be followed, as for ordinary users.
WITHOUT_LINKS = ["setpriv", "--bounding-set=-sys_admin,-checkpoint_restore"]


@contextlib.contextmanager
def _with_a_library_of_its_own(build: builds.MpiBuild, folder: Path) -> Iterator[Tuple[Stuck, Path]]:
    """Ranks that run a copy of the MPI's library, and its path; they are ended afterwards."""
    private = folder / "lib"
    private.mkdir()
    source, _ = _source(folder, "probe", RECEIVE, 0)
    original = _library(_compiled(build, source, folder / "probe"), "libmpi")
    copy = private / original.name
    shutil.copy(original, copy)
    stuck = Stuck(build, folder, {"LD_LIBRARY_PATH": str(private)})
    try:
        yield stuck, copy
    finally:
        stuck.job.end()


@pytest.mark.slow
def test_a_library_that_was_deleted_or_replaced(build: builds.MpiBuild, tmp_path: Path) -> None:
    with _with_a_library_of_its_own(build, tmp_path) as (stuck, copy):
        maps = [Path(f"/proc/{pid}/maps").read_text() for pid in stuck.job.pids]
        assert all(str(copy) in text for text in maps)
        copy.unlink()
        without_links(stuck)
        (tmp_path / "wrong.c").write_text(WRONG_LIBRARY)
        subprocess.run(["cc", "-g", "-shared", "-fPIC", "-o", str(copy), str(tmp_path / "wrong.c")], check=True)
        stuck.check()
        without_links(stuck)


def without_links(stuck: Stuck) -> None:
    """What is not to be had as a file is had from memory."""
    command = [*(WITHOUT_LINKS if os.geteuid() == 0 else []), *mpi_queues("--version").command[:1], "diagnose"]
    said = subprocess.run([*command, "--job", str(stuck.job.launcher_pid)], capture_output=True, text=True)
    assert "Deadlock" in said.stdout and f"solver.c:{stuck.line}" in said.stdout and "Wrong" not in said.stdout, said


@pytest.mark.slow
def test_a_namesake_outside_the_mount_namespace(build: builds.MpiBuild, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir(), outside.mkdir()
    source, line = _source(tmp_path, "solver", RECEIVE, 0)
    _compiled(build, source, inside / "solver")
    other, _ = _source(tmp_path, "other", BARRIER, 5)
    _compiled(build, other, outside / "solver")
    script = tmp_path / "solver"
    script.write_text(f'#!/bin/sh\nmount --bind "{inside}" "{outside}" && exec "{outside}/solver"\n')
    unshare = tmp_path / "apart"
    flags = "-m" if os.geteuid() == 0 else "-rm"
    unshare.write_text(f'#!/bin/sh\nexec unshare {flags} "{script}"\n')
    for path in (script, unshare):
        path.chmod(0o755)
    with jobs.Job(unshare, ranks=2, launcher=build.mpirun, timeout=180.0) as job:
        for before in ([], WITHOUT_LINKS if os.geteuid() == 0 else []):
            command = [*before, *mpi_queues("--version").command[:1], "diagnose", "--job", str(job.launcher_pid)]
            said = subprocess.run(command, capture_output=True, text=True).stdout
            stands = f"MPI_Recv  exchange at solver.c:{line}  "
            assert "Deadlock" in said and said.count(stands) == 2 and "Barrier" not in said, said


@pytest.mark.slow
def test_a_debugger_with_the_wrong_file_is_not_believed(debian_mpich: builds.MpiBuild, tmp_path: Path) -> None:
    """In a session of the user's own: our commands tell what runs, whatever the debugger shows."""
    stuck = Stuck(debian_mpich, tmp_path, {})
    try:
        pid = stuck.job.pids[0]
        wrong = tmp_path / "wrong"
        source, _ = _source(tmp_path, "other", BARRIER, 7)
        _compiled(debian_mpich, source, wrong)
        root = Path(__file__).resolve().parents[2]
        ask = ["mpi queues", "mpi diagnose", "detach"]
        gdb = [
            "set exec-file-mismatch off",
            f"file {wrong}",
            f"attach {pid}",
            f"source {root}/gdb-scripts/mpi_queues.py",
        ]
        os.replace(wrong, stuck.first)
        gdb[1] = f"file {stuck.first}"
        lldb = [f"process attach -p {pid}", f"command script import {root}/lldb-scripts/mpi_queues.py"]
        for command in (
            ["gdb", "-nx", "-batch", *(part for one in [*gdb, *ask] for part in ("-ex", one))],
            ["lldb-19", "--no-lldbinit", "--batch", *(part for one in [*lldb, *ask] for part in ("-o", one))],
        ):
            run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            # Long paths break lines.
            said = " ".join((run.stdout + run.stderr).split())
            assert f"exchange at solver.c:{stuck.line}" in said and "MPI_Barrier(" not in said, said
    finally:
        stuck.job.end()
