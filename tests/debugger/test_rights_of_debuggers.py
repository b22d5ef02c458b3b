"""With whose rights a plug-in runs, and what of others passes for a part of a job.

As root, jobs run as users that nobody has; as anybody else all is one user's, and the same must hold.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, Callable, Iterator, List

import pytest
from debuggers import DEBUGGERS, Gdb
from support import cores, processes
from support.builds import MpiBuild
from support.cli import mpi_queues
from support.jobs import Job
from support.paths import PROGRAMS
from support.users import AM_ROOT, GROUPS, OTHER, Process, UsersJob, identities

#: Of a plug-in: notes in its directory with which rights it is loaded.
NOTING = """
#include <stdio.h>
__attribute__((constructor)) static void note(void)
{
    FILE *from = fopen("/proc/self/status", "r"), *to = fopen(NOTED, "a");
    for (int c; from && to && (c = getc(from)) != EOF;)
        putc(c, to);
    if (to)
        fclose(to);
}
"""


@pytest.fixture(scope="module")
def users_job(debian_mpi: MpiBuild) -> Iterator[UsersJob]:
    job = UsersJob(debian_mpi, "truth_probe")
    yield job
    job.end()


@pytest.mark.parametrize("of", ["process", "core"])
def test_a_plugin_runs_with_the_rights_of_whose_process_it_is(users_job: UsersJob, tmp_path: Path, of: str) -> None:
    (tmp_path / "noting.c").write_text(NOTING)
    plugin, noted = users_job.directory / f"{of}.so", users_job.directory / f"noted-{of}"
    sources = [tmp_path / "noting.c", PROGRAMS / "plugins" / "plugin.c"]
    flags = ["-shared", "-fPIC", f'-DNOTED="{noted}"', "-I", PROGRAMS / "plugins"]
    subprocess.run(["cc", *flags, *sources, "-o", plugin], check=True)
    plugin.chmod(0o755)
    target = ["--pid", str(users_job.pids[0])]
    if of == "core":
        core = cores.gcore(users_job.pids[0], users_job.directory / "core")
        core.chmod(0o600)
        os.chown(core, OTHER, OTHER if AM_ROOT else os.getgid())
        target = ["--core", str(core)]
    # It knows no real MPI.
    said = mpi_queues("show", *target, "--source", f"plugin={plugin}")
    assert said.status == 3 and str(plugin) in said.err, str(said)
    text = noted.read_text()
    had = identities(text)
    assert had["Uid"] == [OTHER] * 4, text
    if AM_ROOT:
        # The file of one who has no account tells no group.
        group, groups = (OTHER, GROUPS) if of == "process" else (65534, [])
        assert (had["Gid"], sorted(had["Groups"])) == ([group] * 4, groups)
        assert len(re.findall(r"^Cap(?:Prm|Eff):\t0+$", text, re.M)) == 2
    processes.assert_running(users_job.pids[0])


@pytest.fixture
def false_rank(debian_mpich: MpiBuild, start_job: Callable[..., Job]) -> Iterator[List[Any]]:
    """A job of ours, and what says to be its proxy: the port of a job stands in ``ps``."""
    job = start_job(debian_mpich, "truth_probe", ranks=2)
    commands = [
        Path(f"/proc/{one.pid}/cmdline").read_bytes().split(b"\0") for one in processes.descendants(job.launcher_pid)
    ]
    port = next(words[words.index(b"--control-port") + 1] for words in commands if b"--control-port" in words)
    command = ["hydra_x", "--control-port", port.decode()]
    process = Process(command, {"PMI_RANK": "2", "PMI_SIZE": "3", "PMI_FD": "99"}, user=OTHER)
    processes.wait_until(lambda: processes.state(process.child) == "S", "the false rank")
    yield [job, process]
    process.end()


def test_the_false_rank_of_another_user_is_not_read_and_named(false_rank: List[Any], tmp_path: Path) -> None:
    job, process = false_rank
    told = rf"pid {process.child} \(sleep\) of uid {OTHER} is left out: the job is root \(uid 0\)'s"
    listed = mpi_queues("ranks", str(job.launcher_pid), "--format", "json")
    pids = [one["pid"] for one in json.loads(listed.out)["processes"]]
    if not AM_ROOT:
        # Of the same user it is taken, as a rank of a world of three: nothing but the user tells it from one.
        assert pids == [*job.pids, None, None, process.child]
        return
    assert pids == job.pids
    assert any(re.search(told, problem) for problem in json.loads(listed.out)["problems"]), str(listed)
    file = tmp_path / "job.mpirec"
    for words in (
        ["ranks", str(job.launcher_pid)],
        ["show", "--job", str(job.launcher_pid), "--format", "json"],
        ["diagnose", "--job", str(job.launcher_pid)],
        ["record", "--job", str(job.launcher_pid), "-o", str(file)],
    ):
        said = mpi_queues(*words)
        assert said.status == 1, str(said)
        assert re.search(told, re.sub(r"\s+", " ", said.err)), str(said)
        if "json" in words:
            assert [one["pid"] for one in json.loads(said.out)["processes"]] == job.pids
    shown = mpi_queues("show", "--recording", str(file), "--format", "json")
    assert [one["pid"] for one in json.loads(shown.out)["processes"]] == job.pids
    # It belongs to no job.
    assert "not an MPI launcher" in mpi_queues("ranks", str(process.child)).err
    processes.assert_running(process.child)


@pytest.mark.parametrize("inside", DEBUGGERS, ids=lambda debugger: str(debugger.name))
@pytest.mark.slow
def test_a_debugger_does_not_attach_to_the_false_rank(false_rank: List[Any], inside: Gdb) -> None:
    job, process = false_rank
    said = " ".join(inside.run(f"mpi attach {job.launcher_pid}", "mpi detach"))
    said = re.sub(r"\s+", " ", said)
    if AM_ROOT:
        assert f"pid {process.child} (sleep) of uid {OTHER} is left out: the job is root (uid 0)'s" in said
        assert "attached to ranks 0 and 1." in said, said
    else:
        assert "attached to ranks 0-2." in said, said
    processes.assert_running(process.child)


def test_anothers_mpirun_costs_its_own_line(false_rank: List[Any]) -> None:
    job, _ = false_rank
    pretender = Process(["mpirun", "-n", "2"], {}, user=OTHER)
    try:
        said = mpi_queues("ranks")
        assert f"pid {pretender.pid}: mpirun -c" in said.err, str(said)
        assert f"pid {job.launcher_pid}: " in said.err
        if AM_ROOT:
            lines = said.err.splitlines()
            (at,) = [number for number, line in enumerate(lines) if f"pid {pretender.pid}: " in line]
            (mine,) = [number for number, line in enumerate(lines) if f"pid {job.launcher_pid}: " in line]
            assert mine < at
            assert lines[at].endswith(f"(uid {OTHER})")
    finally:
        pretender.end()
