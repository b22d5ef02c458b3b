"""The commands in both debuggers: what must be the same in them."""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Dict, List

import pytest
from debuggers import DEBUGGERS, Gdb
from mpi_queues.commands import all_commands
from support import processes
from support.builds import MpiBuild, version_of_debian
from support.compare import lasting
from support.jobs import Job


@pytest.fixture(params=DEBUGGERS, ids=[debugger.name for debugger in DEBUGGERS])
def debugger(request: pytest.FixtureRequest, preflight: None) -> Gdb:
    found: Gdb = request.param
    return found


def test_queues_as_text_and_as_json(debugger: Gdb, comms_job: Job) -> None:
    output, text = debugger.at(comms_job, 0, "mpi queues", "mpi queues -format json")
    assert output.startswith(f"Rank 0 of 2, pid {comms_job.pids[0]} on ")
    assert f"Open MPI {version_of_debian()}, transport ob1" in output
    assert re.search(r"^1 process, \d+ communicators: ", output, re.MULTILINE)
    assert max(map(len, output.splitlines())) <= 100
    snapshot = json.loads(text)
    assert snapshot["schema"] == "mpi-queues/1"
    assert snapshot["processes"][0]["source"]["via"] == debugger.name
    assert snapshot["processes"][0]["pid"] == comms_job.pids[0]


@pytest.mark.parametrize("option", ["-format json", "--format json", "--format=json", "-f json"])
@pytest.mark.usual("gdb--f json", "lldb---format=json")
def test_spellings_of_an_option(debugger: Gdb, comms_job: Job, option: str) -> None:
    assert json.loads(debugger.at_rank(comms_job, 0, f"mpi comms {option}"))["schema"] == "mpi-queues/1"


def test_errors_are_sentences(debugger: Gdb, comms_job: Job) -> None:
    wrong = {
        "mpi queues -rank x": "mpi queues: -rank x: not a number\ntype: help mpi queues",
        "mpi queues -rank 7": "no process of rank 7 was read (read: rank 0)",
        "mpi queues -format x": "mpi queues: -format x: not one of text, json\ntype: help mpi queues",
        "mpi queues -source plugin=/nix.so": "/nix.so: no such plug-in\ntype: mpi plugin info",
        "mpi queues -compare -format json": "mpi queues: -compare writes text only",
        "mpi plugin load": "mpi plugin load: needs the path of a plug-in\ntype: help mpi plugin",
        "mpi plugin load /nix.so": "/nix.so: no such plug-in\ntype: mpi plugin info",
        "mpi plugin load a b": "mpi plugin: does not take the argument 'b'\ntype: help mpi plugin",
        "mpi help nix": "mpi help: there is no command 'nix'\ntype: mpi help",
    }
    for message, output in zip(wrong.values(), debugger.at(comms_job, 0, *wrong)):
        assert output.strip().removeprefix("error: ").startswith(message)


def test_an_unknown_communicator_names_those_there_are(debugger: Gdb, comms_job: Job) -> None:
    output = debugger.at_rank(comms_job, 0, "mpi queues -comm nix").removeprefix("error: ")
    assert output.startswith("no communicator is named 'nix': there are MPI_COMM_WORLD, MPI_COMM_SELF")


def test_without_a_process(debugger: Gdb) -> None:
    commands = ["mpi queues", "mpi comms", "mpi info", "mpi plugin", "mpi queues -selected"]
    for output in debugger.run(*commands):
        assert output.strip().removeprefix("error: ") == (
            f"no process: nothing is being debugged here\nstart the program with 'run', or type: {debugger.no_process}"
        )


def test_a_process_that_is_not_mpi(debugger: Gdb) -> None:
    with processes.asleep() as child:
        attach = debugger.attach(child.pid)
        queues, info = debugger.run(*attach, "mpi queues", "mpi info")[len(attach) :]
        assert "is not an MPI process" in queues
        assert "is not an MPI process" in " ".join(info.split())


def test_the_help_of_every_command(debugger: Gdb) -> None:
    names = [command.name for command in all_commands()]
    outputs = debugger.run("help mpi", "mpi help", *(f"mpi help {name}" for name in names))
    for command, text in zip(all_commands(), outputs[2:]):
        assert f"{command.name} " in outputs[0]
        assert f"{command.full_name} " in outputs[1]
        assert text.startswith(command.summary)
        assert all(typed in text for typed, _ in command.examples)
        assert "{" not in text.replace("{command}", "")
        assert max(map(len, text.splitlines())) <= 110
    assert debugger.setting in outputs[1]


@pytest.mark.usual("gdb")
def test_settings_take_effect(debugger: Gdb, many_job: Job) -> None:
    setting = debugger.setting
    output = debugger.at_rank(many_job, 0, f"{setting} limit 3", "mpi queues -comm MPI_COMM_WORLD")
    assert f"… and 4,997 more (to see them: {setting} limit unlimited)" in output
    output = debugger.at_rank(many_job, 0, f"{setting} limit unlimited", "mpi queues -comm MPI_COMM_WORLD")
    assert output.count("MPI_INT") == 5000


def test_internal_operations_are_shown_when_asked(debugger: Gdb, blocked_job: Job) -> None:
    hidden, shown = debugger.at(blocked_job, 0, "mpi queues", "mpi queues -internal")
    assert "of MPI itself not shown (to see them: mpi queues -internal)" in hidden
    assert "internal" in shown
    assert shown.splitlines()[-1] != hidden.splitlines()[-1]
    assert debugger.at_rank(blocked_job, 0, f"{debugger.setting} internal on", "mpi queues") == shown


def test_the_call_of_a_blocked_rank(debugger: Gdb, blocked_job: Job) -> None:
    process = json.loads(debugger.at_rank(blocked_job, 0, "mpi queues -format json"))["processes"][0]
    (call,) = process["calls"]
    assert call["function"] == "MPI_Barrier"
    assert call["thread"] == 1
    assert call["file"].endswith("truth_collective.c")
    assert call["line"] > 0
    assert call["caller"]


def test_several_processes(debugger: Gdb, comms_job: Job) -> None:
    first, second = comms_job.pids
    commands = [*debugger.attach(first), *debugger.attach(second, 1)]
    every, selected, rank, info = debugger.run(
        *commands, "mpi queues", "mpi queues -selected", "mpi queues -rank 0", "mpi info"
    )[len(commands) :]
    comms_job.assert_running()
    assert every.startswith(f"Rank 0 of 2, pid {first}")
    assert f"Rank 1 of 2, pid {second}" in every
    assert re.search(r"^2 processes, ", every, re.MULTILINE)
    assert selected.startswith(f"Rank 1 of 2, pid {second}")
    assert rank.startswith("Rank 0 of 2")
    assert info.startswith(debugger.label(first))
    assert debugger.label(second, 1) in info


def test_a_program_beside_the_job_is_left_out_unless_all_are_asked_for(debugger: Gdb, comms_job: Job) -> None:
    with processes.asleep() as child:
        commands = [*debugger.attach(child.pid), *debugger.attach(comms_job.pids[0], 1)]
        some, every = debugger.run(*commands, "mpi queues", "mpi queues -all")[len(commands) :]
        assert some.startswith("Rank 0 of 2")
        assert "not an MPI process" not in some
        assert f"Problem: {debugger.label(child.pid)}: " in every
        assert "not an MPI process" in " ".join(every.split())


def same(text: str) -> Dict[str, Any]:
    """The JSON without what may differ between debuggers: they number threads as they like, gdb 16 the newest first."""
    snapshot: Dict[str, Any] = json.loads(text)
    del snapshot["captured_at"]
    snapshot["processes"] = [lasting(process) for process in snapshot["processes"]]
    for process in snapshot["processes"]:
        for place in ("calls", "outside"):
            threads = [{**one, "thread": None} for one in process[place]]
            process[place] = sorted(threads, key=lambda one: json.dumps(one, sort_keys=True))
    return snapshot


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("truth_modes", ()),
        ("truth_comms", ()),
        ("truth_persistent", ()),
        ("truth_collective", ("barrier",)),
        ("truth_threads", ()),
        ("truth_probe", ()),
        ("truth_random", ("7", "300")),
    ],
)
@pytest.mark.usual("debian-truth_comms-arguments1")
def test_the_same_json_in_both(
    mpi_build: MpiBuild, start_job: Callable[..., Job], program: str, arguments: List[str]
) -> None:
    job = start_job(mpi_build, program, *arguments, ranks=2)
    for rank in range(2):
        commands = ("mpi queues -internal -format json", "mpi comms -format json")
        gdb, lldb = [[same(text) for text in one.at(job, rank, *commands)] for one in DEBUGGERS]
        assert gdb == lldb
        assert all(snapshot["processes"][0]["communicators"] for snapshot in gdb)
