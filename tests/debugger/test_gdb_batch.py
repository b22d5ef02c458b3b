"""The commands, settings and functions in a real gdb, in batch mode."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess

import pytest
from debuggers import Gdb
from driver import LOADER, batch
from mpi_queues.commands import all_commands
from support import processes
from support.builds import MpiBuild, compile_plain
from support.jobs import Job


def at_rank(job: Job, rank: int, *commands: str) -> str:
    output = batch([f"attach {job.pids[rank]}", "echo \\n==\\n", *commands])
    job.assert_running()
    assert "Traceback" not in output
    assert "Python Exception" not in output
    return output.split("\n==\n", 1)[1].rsplit("\n[Inferior 1", 1)[0]


def test_communicators_and_their_handles(comms_job: Job) -> None:
    handles = {
        comm["name"]: int(comm["handle"], 16)
        for comm in json.loads(at_rank(comms_job, 0, "mpi comms -format json"))["processes"][0]["communicators"]
    }
    output = at_rank(
        comms_job,
        0,
        "mpi comms",
        'print $_mpi_comm("MPI_COMM_WORLD")',
        'print/r $_mpi_comm("MPI_COMM_WORLD")',
        'print (long)$_mpi_comm("MPI_COMM_WORLD")',
    )
    assert "MPI_COMM_SELF" in output
    assert "$1 = MPI_COMM_WORLD, rank 0 of 2\n" in output
    assert f"$2 = (MPI_Comm) {handles['MPI_COMM_WORLD']:#x}" in output
    assert f"$3 = {handles['MPI_COMM_WORLD']}" in output


def test_rank_and_size(comms_job: Job) -> None:
    assert at_rank(comms_job, 1, "print $_mpi_rank()", "print $_mpi_size()").split() == ["$1", "=", "1", "$2", "=", "2"]


def test_errors_are_sentences(comms_job: Job) -> None:
    wrong = {
        "mpi nix": 'Undefined mpi command: "nix".  Try "help mpi".',
        "mpi queues -nix": "mpi queues: there is no option -nix\ntype: help mpi queues",
        "mpi queues word": "mpi queues: does not take the argument 'word'\ntype: help mpi queues",
        "print $_mpi_comm(1)": '$_mpi_comm: needs a name in quotes, such as $_mpi_comm("MPI_COMM_WORLD"), '
        "in Fortran $_mpi_comm('MPI_COMM_WORLD')",
        'print $_mpi_comm("nix")': "$_mpi_comm: no communicator is named 'nix'; to see all, type: mpi comms",
        "set mpi timeout 0": "set mpi timeout 0: not a time; it stays at 60 seconds.",
        "set mpi source magic": 'Undefined item: "magic".',
    }
    assert [output.strip() for output in Gdb().at(comms_job, 0, *wrong)] == list(wrong.values())


def test_functions_without_a_process() -> None:
    output = batch(["print $_mpi_rank()"])
    assert "attach PID" in output
    assert "Traceback" not in output


def test_every_command_is_documented_with_an_example() -> None:
    commands = all_commands()
    every, *texts = Gdb().run(
        "help mpi", *(line for one in commands for line in (f"help {one.full_name}", f"mpi help {one.name}"))
    )
    for command, text, same in zip(commands, texts[::2], texts[1::2]):
        assert f"{command.full_name} -- {command.summary}" in every
        assert "Example" in text
        assert all(typed in text for typed, _ in command.examples)
        assert text.strip() == same.strip()
        assert max(map(len, text.splitlines())) <= 110


def test_every_setting_is_documented_with_an_example() -> None:
    names = ["source", "plugin-path", "internal", "limit", "timeout", "layouts"]
    every, *texts = Gdb().run(
        "show mpi", *(line for name in names for line in (f"help set mpi {name}", f"show mpi {name}"))
    )
    for name, text, value in zip(names, texts[::2], texts[1::2]):
        assert f"Example: set mpi {name} " in text
        assert name.split("-")[0] in every
        assert len(value.strip().splitlines()) == 1


def test_nothing_that_is_selected_changes(blocked_job: Job) -> None:
    output = at_rank(
        blocked_job,
        0,
        "thread 2",
        "up",
        "output $_thread",
        "frame",
        "mpi queues",
        "mpi info",
        "print $_mpi_rank()",
        "output $_thread",
        "frame",
    )
    frames = re.findall(r"^(?:2)?#1 .*$", output, re.MULTILINE)
    assert len(frames) >= 2, output
    assert {frame.lstrip("2") for frame in frames} == {frames[0].lstrip("2")}


@pytest.mark.slow
def test_several_inferiors(comms_job: Job) -> None:
    first, second = comms_job.pids
    commands = [f"attach {first}", "add-inferior -no-connection", "inferior 2", f"attach {second}", "echo \\n==\\n"]
    output = batch([*commands, "mpi queues", "info inferiors"])
    comms_job.assert_running()
    text = output.split("\n==\n", 1)[1]
    assert text.startswith(f"Rank 0 of 2, pid {first}")
    assert f"Rank 1 of 2, pid {second}" in text
    assert re.search(r"^2 processes, ", text, re.MULTILINE)
    assert re.search(r"^\* 2 ", text, re.MULTILINE)
    only = batch([*commands, "mpi queues -selected"]).split("\n==\n", 1)[1]
    assert only.startswith(f"Rank 1 of 2, pid {second}")
    assert batch([*commands, "mpi queues -rank 0"]).split("\n==\n", 1)[1].startswith("Rank 0 of 2")


def test_what_was_read_is_dropped_when_the_process_runs(blocked_job: Job) -> None:
    times = [
        json.loads(piece)["captured_at"]
        for piece in at_rank(
            blocked_job,
            0,
            "mpi queues -format json",
            "echo ==\\n",
            "mpi queues -format json",
            "echo ==\\n",
            # The clock of captured_at counts seconds.
            "python import time; time.sleep(1.1)",
            "stepi",
            "echo ==\\n",
            "mpi queues -format json",
        ).split("==\n")
        if piece.startswith("{")
    ]
    assert len(times) == 3
    assert times[0] == times[1] < times[2]


@pytest.mark.slow
def test_a_process_that_ends_while_gdb_has_it(debian_mpi: MpiBuild) -> None:
    with Job(debian_mpi, "truth_comms", ranks=2) as job:
        output = batch(
            [f"attach {job.pids[1]}", f"shell kill -KILL {job.pids[1]}", "shell sleep 0.2", "mpi queues", "detach"]
        )
    assert "Traceback" not in output
    assert re.search(r"ended while it was read|exited|process \d+ ended", output), output


@pytest.mark.slow
def test_the_same_over_gdbserver(comms_job: Job) -> None:
    pid = comms_job.pids[0]
    server = subprocess.Popen(
        ["gdbserver", "--once", "--attach", "127.0.0.1:0", str(pid)], stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stderr is not None
        port = ""
        for line in server.stderr:
            found = re.search(r"Listening on port (\d+)", line)
            if found:
                port = found[1]
                break
        output = batch(
            [f"target remote 127.0.0.1:{port}", "echo \\n==\\n", "mpi queues -format json", "echo \\n==\\n", "detach"]
        )
        remote = json.loads(output.split("\n==\n")[1])["processes"][0]
    finally:
        server.wait(30)
        if server.stderr is not None:
            server.stderr.close()
    comms_job.assert_running()
    local = json.loads(at_rank(comms_job, 0, "mpi queues -format json"))["processes"][0]
    assert remote["communicators"] == local["communicators"]
    assert remote["source"] == local["source"]


def test_the_debuggers_types_agree_with_the_compilers(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "types.c"
    source.write_text(
        """
        #include <stdint.h>
        enum sign { MINUS = -1, PLUS };
        enum plain { ZERO, ONE };
        typedef struct inner { uint16_t a; union { int32_t u; float f; }; } inner_t;
        struct outer { char name[5]; inner_t in; struct { void *p; } *q; unsigned bits : 3; enum sign s; enum plain e;
                       struct { long deep; } nested; double d; _Bool b; int last[]; };
        struct declared;
        struct outer *o; struct declared *d; inner_t i; int main(void) { return o == 0 && d == 0 ? i.a : 1; }
        """
    )
    program = tmp_path / "types"
    subprocess.run(["gcc", "-g", "-o", program, source], check=True)
    script = tmp_path / "ask.py"
    script.write_text(
        "import json, mpi_queues.gdb.types as t\n"
        "print('==' + json.dumps([t.type_layout(n) for n in ('outer', 'inner_t', 'declared', 'nix', 'bad name')]))\n"
    )
    output = batch([f"file {program}", f"source {script}"])
    outer, inner, declared, missing, bad = json.loads(output.split("==", 1)[1])
    assert declared is missing is bad is None
    assert inner["size"] == 8
    fields = {name: (field["offset"], field["size"], field["kind"]) for name, field in outer["fields"].items()}
    assert fields == {
        "name": (0, 5, "array"),
        "in": (8, 8, "struct"),
        "in.a": (8, 2, "unsigned"),
        "in.u": (12, 4, "signed"),
        "in.f": (12, 4, "float"),
        "q": (16, 8, "pointer"),
        "s": (28, 4, "signed"),
        "e": (32, 4, "unsigned"),
        "nested": (40, 8, "struct"),
        "nested.deep": (40, 8, "signed"),
        "d": (48, 8, "float"),
        "b": (56, 1, "unsigned"),
        "last": (60, 0, "array"),
    }
    assert outer["fields"]["name"]["type"] == "char [5]"


def test_sourcing_twice_is_harmless(comms_job: Job) -> None:
    output = at_rank(comms_job, 0, "source " + str(pathlib.Path("gdb-scripts/mpi_queues.py").resolve()), "mpi queues")
    assert output.startswith("Rank 0 of 2")


def test_another_script_can_source_the_loader(tmp_path: pathlib.Path) -> None:
    """gdb 13 leaves the outer script's name in ``__file__`` while the inner one runs."""
    script = tmp_path / "mine.py"
    script.write_text(f"import gdb\ngdb.execute('source {LOADER}')\n")
    assert "mpi queues" in batch([f"source {script}", "mpi help"], load=False)


def test_the_line_of_init_gives_a_working_gdb(comms_job: Job, tmp_path: pathlib.Path) -> None:
    from mpi_queues.cli import init

    (tmp_path / ".gdbinit").write_text(f"source {init.LOADERS['gdb']}\n")
    run = subprocess.run(
        [
            "gdb",
            "-q",
            "-batch",
            "-iex",
            "set debuginfod enabled off",
            "-p",
            str(comms_job.pids[0]),
            "-ex",
            "mpi queues",
        ],
        env={**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Rank 0 of 2, pid" in run.stdout, run.stderr


def test_a_stopped_process_stays_stopped() -> None:
    child = subprocess.Popen([str(compile_plain("plain"))], stdout=subprocess.DEVNULL)
    try:
        child.send_signal(signal.SIGSTOP)
        processes.wait_until(lambda: processes.state(child.pid) == "T", "the child to stop")
        batch([f"attach {child.pid}", "mpi queues", "detach"])
        processes.wait_until(lambda: processes.tracer(child.pid) == 0, "gdb to detach")
        assert processes.state(child.pid) == "T"
    finally:
        child.kill()
        child.wait()


def test_a_process_that_runs_is_not_read(blocked_job: Job) -> None:
    commands = [f"attach {blocked_job.pids[0]}", "echo \\n==\\n", "continue &", "mpi queues", "print $_mpi_rank()"]
    output = batch(commands).split("\n==\n", 1)[1]
    blocked_job.assert_running()
    assert output.startswith("inferior 1 is running\ntype: interrupt\ninferior 1 is running\ntype: interrupt\n")
