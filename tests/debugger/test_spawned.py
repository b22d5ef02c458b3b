"""What a plug-in for MPI-2 tells of spawned processes, in gdb."""

from __future__ import annotations

from driver import batch
from support.builds import MpiBuild, compile_with
from support.paths import PROGRAMS
from support.worlds import WorldsJob


def test_the_plugin_names_spawned_processes_and_where_to_stop(debian_mpi: MpiBuild) -> None:
    plugin = compile_with(["cc"], "plugins", [PROGRAMS / "plugins" / "worlds.c"], ["-shared", "-fPIC"])
    with WorldsJob(debian_mpi, "truth_spawn", sizes=(2, 3, 1)) as job:
        pids = job.all_pids
        output = batch([f"attach {pids[2]}", f"mpi plugin load {plugin}", "echo \\n==\\n", "mpi plugin info"])
        job.assert_running()
    assert "Traceback" not in output
    info = output.split("\n==\n")[1]
    assert "spawn breakpoint: truth_have_spawned" in info
    assert f"pid: {pids[5]}" in info
    assert "executable: truth_spawn" in info
