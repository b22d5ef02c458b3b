"""The vendor's plug-in through the commands of gdb and the command line."""

from __future__ import annotations

import json
import pathlib
import re

import pytest
from driver import batch
from support import builds
from support.builds import MpiBuild
from support.cli import mpi_queues
from support.jobs import Job


@pytest.fixture(scope="module")
def plugin() -> str:
    return str(builds.debian_plugin())


def at_rank(job: Job, rank: int, *commands: str) -> str:
    output = batch([f"attach {job.pids[rank]}", "echo \\n==\\n", *commands])
    job.assert_running()
    assert "Traceback" not in output
    assert "Python Exception" not in output
    return output.split("\n==\n", 1)[1].rsplit("\n[Inferior 1", 1)[0]


def source_of(text: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(text)["processes"][0]["source"]
    return found


@pytest.mark.slow
def test_the_plugin_that_the_program_names(comms_job: Job, plugin: str) -> None:
    output = at_rank(comms_job, 0, "mpi plugin info")
    assert f"path: {plugin}" in output
    assert "compatibility: 2" in output
    assert at_rank(comms_job, 0, "mpi plugin") == output


def test_reading_with_the_plugin(comms_job: Job, plugin: str) -> None:
    assert source_of(at_rank(comms_job, 0, "mpi queues -source plugin -format json"))["plugin"] == plugin
    output = at_rank(comms_job, 0, "set mpi source plugin", "mpi queues")
    assert "read by the plug-in" in output
    assert "unexpected messages: not known in any communicator: " in output
    assert max(map(len, output.splitlines())) <= 100


def test_a_plugin_by_name(comms_job: Job, plugin: str, tmp_path: pathlib.Path) -> None:
    copy = tmp_path / "libompi_dbg_msgq.so"
    copy.write_bytes(pathlib.Path(plugin).read_bytes())
    for commands in (
        (f"mpi queues -source plugin={copy} -format json",),
        (f"set mpi plugin-path {tmp_path}", "mpi queues -source plugin -format json"),
        (f"set mpi plugin-path /nix:{copy}", "mpi queues -source plugin -format json"),
    ):
        assert source_of(at_rank(comms_job, 0, *commands))["plugin"] == str(copy)
    output = at_rank(comms_job, 0, f"mpi plugin load {copy}", "echo ==\\n", "mpi queues -source plugin -format json")
    said, text = output.split("==\n")
    assert f"loaded {copy}" in " ".join(said.split())
    assert "mpi queues -source plugin" in said
    assert source_of(text)["plugin"] == str(copy)


@pytest.mark.slow
def test_a_file_that_is_no_plugin(comms_job: Job, tmp_path: pathlib.Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("no library\n")
    for command in (f"mpi plugin load {text}", f"mpi queues -source plugin={text}"):
        assert f"{text}: it is not an ELF file" in at_rank(comms_job, 0, command)
    result = mpi_queues("show", "--pid", str(comms_job.pids[0]), "--source", f"plugin={text}")
    assert result.status == 3
    assert str(text) in result.err
    assert "mpi plugin info" not in mpi_queues("show", "--pid", "1", "--source", "plugin=/nix.so").err


def test_comparing(comms_job: Job) -> None:
    output = at_rank(comms_job, 0, "mpi queues -compare")
    assert re.match(r"inferior 1 \(pid \d+\): \d+ differences between built-in reader and plug-in", output)
    assert max(map(len, output.splitlines())) <= 100
    result = mpi_queues("show", "--pid", str(comms_job.pids[0]), "--compare")
    assert result.status == 0, str(result)
    assert "differences between built-in reader and plug-in" in result.out


@pytest.fixture(scope="module")
def handle_plugin(debian_mpi: MpiBuild) -> str:
    return str(builds.handle_plugin(debian_mpi))


@pytest.mark.slow
def test_plugins_of_both_interfaces_on_one_path(comms_job: Job, handle_plugin: str, plugin: str) -> None:
    for first, second in ((handle_plugin, plugin), (plugin, handle_plugin)):
        path = f"set mpi plugin-path {first}:{second}"
        assert source_of(at_rank(comms_job, 0, path, "mpi queues -source plugin -format json"))["plugin"] == plugin
        assert source_of(at_rank(comms_job, 0, path, "mpi handles comm -source plugin -format json"))["plugin"] == (
            handle_plugin
        )


def test_handles_told_by_a_plugin(comms_job: Job, handle_plugin: str) -> None:
    world = "MPI_COMM_WORLD, rank 1 of 2"
    listed = at_rank(comms_job, 1, f"mpi handles comm -source plugin={handle_plugin}")
    assert world in listed
    whole = at_rank(
        comms_job,
        1,
        f"mpi plugin load {handle_plugin}",
        "mpi print -kind comm -source plugin &ompi_mpi_comm_world",
    )
    for words in (f"loaded {handle_plugin}", "interface: 1", "type: mpi handles comm -source plugin", world):
        assert " ".join(words.split()) in " ".join(whole.split())
    assert "told by" in whole
    assert "errhandler not known: plug-ins cannot give it" in " ".join(whole.split())
    info = at_rank(comms_job, 1, f"mpi plugin load {handle_plugin}", "mpi plugin info")
    assert "MPI_Comm, ompi_communicator_t" in info.split("for handles:")[1]


def test_no_plugin_for_handles_says_where_it_was_looked_for(comms_job: Job) -> None:
    output = at_rank(comms_job, 0, "mpi handles comm -source plugin", "mpi plugin info")
    assert "no plug-in for handles was found for this MPI library" in output
    assert "mpidbg_dll_locations of the MPI library is NULL" in output.split("for handles:")[1]
    assert max(map(len, output.split("\n", 2)[2].splitlines())) <= 100


@pytest.mark.slow
def test_a_plugin_for_handles_that_loops_is_ended_in_time(debian_mpi: MpiBuild, comms_job: Job) -> None:
    plugin = builds.handle_plugin(debian_mpi, "loop:mpidbg_comm_query")
    output = at_rank(
        comms_job, 0, "set mpi timeout 1", f"mpi handles comm -source plugin={plugin}", "mpi handles comm 0"
    )
    assert f"the plug-in {plugin} did not finish within 1 s and was stopped in mpidbg_comm_query" in output
    assert "leave out the source" in output
    # gdb goes on.
    assert "MPI_COMM_WORLD, rank 0 of 2" in output
