"""MPI handles as lldb shows variables, the category ``mpi``, against what the programs say that their variables are."""

from __future__ import annotations

import json
import pathlib
import re

import pytest
from lldb_variables import LLDB, asked, assert_shown, at, check_variables, frame_of, values
from support.builds import MpiBuild
from support.cores import gcore
from support.memory import address_of_name
from support.variables import Program


@pytest.mark.parametrize("rank", [0, 1])
def test_variables_of_c(c_program: Program, rank: int) -> None:
    check_variables(c_program, rank)


def test_integers_that_are_handles(mpich_build: MpiBuild) -> None:
    with Program(mpich_build, "printers_mpich.c") as job:
        check_variables(job, 0)
        job.assert_running()


def test_objects_of_cxx(cxx_program: Program) -> None:
    check_variables(cxx_program, 1)


@pytest.mark.parametrize("mode", ["early", "late"])
@pytest.mark.slow
def test_before_and_after_mpi(mpi_build: MpiBuild, mode: str) -> None:
    with Program(mpi_build, "printers.c", mode) as job:
        check_variables(job, 0)
        (never, place, opened, printed) = at(job, 0, "v never", "v place", "v -P 1 self", "mpi print self")
    assert re.fullmatch(r"\(MPI_Comm\) never = 0x12345678 \(MPI is (not initi|fin)alised\)\n", never), never
    assert place.endswith(")\n") and "MPI is" not in place
    assert "handle" not in opened
    assert "MPI_Init has not been called" in printed or "MPI_Finalize is done" in printed


@pytest.mark.slow
def test_core_files(c_program: Program, tmp_path: pathlib.Path) -> None:
    core = gcore(c_program.pids[1], tmp_path / "core")
    variables = c_program.variables(1)
    load = [f"target create {c_program.program} -c {core}"]
    backtrace = LLDB.run(*load, "thread backtrace")[-1]
    texts = values(LLDB.run(*load, *asked(variables, backtrace))[2::2])
    # What is not in the file may have been in memory: no garbage can be told there.
    pairs = [pair for pair in zip(variables, texts) if pair[0].expression != "never"]
    assert_shown([variable for variable, _ in pairs], [text for _, text in pairs])
    (never,) = [text for variable, text in zip(variables, texts) if variable.expression == "never"]
    assert never.startswith("unknown MPI_Comm: ") and "not in the core file" in never


def test_a_value_is_described_by_its_own_target(debian_program: Program) -> None:
    first, second = debian_program.pids
    backtrace = LLDB.run(*LLDB.attach(first), "thread backtrace")[-1]
    outputs = LLDB.run(
        *LLDB.attach(first),
        f"frame select {frame_of(backtrace, 'main')}",
        "v world",
        *LLDB.attach(second, 1),
        f"frame select {frame_of(backtrace, 'main')}",
        "v world",
        "target select 0",
        "v world",
    )
    debian_program.assert_running()
    assert outputs[2] == "(MPI_Comm) world = MPI_COMM_WORLD, rank 0 of 2\n"
    assert outputs[-3] == "(MPI_Comm) world = MPI_COMM_WORLD, rank 1 of 2\n"
    assert outputs[-1] == "(MPI_Comm) world = MPI_COMM_WORLD, rank 0 of 2\n"


def test_backtraces_and_whole_frames(debian_program: Program) -> None:
    said = {variable.expression: variable.text for variable in debian_program.variables(0)}
    backtrace, local, types = at(debian_program, 0, "thread backtrace", "frame variable", "frame variable -T all")
    (line,) = [line for line in backtrace.splitlines() if "`stop(" in line]
    assert f"comm={said['comm']}, " in line
    for name in ("list", "where", "status"):
        assert re.search(rf"{name}=0x[0-9a-f]+ (-> )?{re.escape(said[name])}", line), line
    found = dict(re.findall(r"^\([\w ]+\) (\w+) = (.*)$", local, re.MULTILINE))
    assert found["halo"] == said["halo"]
    assert found["none"] == "MPI_COMM_NULL"
    assert said["never"] in found["never"]
    assert f"  (MPI_Request) [0] = {said['all.pending[0]']}\n" in types.replace("    (", "  (")


def test_the_category_is_listed_and_can_be_switched_off_and_on(debian_program: Program) -> None:
    listed, _, raw, status, _, again = at(
        debian_program,
        0,
        "type summary list -w mpi",
        "type category disable mpi",
        "v halo",
        "v all.last",
        "type category enable mpi",
        "v halo",
    )
    for name in ("MPI_Comm", "MPI_Request", "MPI_Status", "ompi_win_t *", "MPI::Intracomm", "MPI_Aint"):
        assert re.search(rf"^{re.escape(name)}: ", listed, re.MULTILINE), listed
    assert re.fullmatch(r"\(MPI_Comm\) halo = 0x[0-9a-f]+\n", raw), raw
    assert "MPI_TAG = 12" in status
    assert '"halo"' in again


def test_numbers_are_there_when_asked_for(debian_program: Program) -> None:
    raw, hexadecimal, address, tag = at(
        debian_program, 0, "v -R halo", "v -f x halo", "v -f x place", "v all.last.MPI_TAG"
    )
    number = re.fullmatch(r"\(MPI_Comm\) halo = (0x[0-9a-f]+)\n", raw)
    assert number is not None, raw
    assert hexadecimal.startswith(f"(MPI_Comm) halo = {number[1]} ")
    assert re.match(r"\(MPI_Aint\) place = 0x[0-9a-f]+ ", address), address
    assert tag == "(int) all.last.MPI_TAG = 12\n"


@pytest.mark.slow
def test_the_facts_are_below(debian_program: Program) -> None:
    opened, closed, one, printed = at(debian_program, 0, "v -P 1 halo", "v halo", "v halo->rank", "mpi print halo")
    (pointer,) = at(debian_program, 0, "v -P 2 where", function="stop")
    assert '\n  name = "halo"\n' in opened and '\n  rank = "0"\n' in opened
    assert re.search(r'\n  handle = "0x[0-9a-f]+"\n', opened), opened
    assert closed.count("\n") == 1
    assert '\n  *where = "halo", rank 0 of 2 {\n' in pointer and '\n    name = "halo"\n' in pointer
    assert one == '(char[2]) rank = "0"\n'
    # They are those of the full form.
    for name in re.findall(r"^  (\w+) ?[^\n]* = ", opened, re.MULTILINE):
        assert re.search(rf"^  {name.replace('_', ' ')}\b", printed, re.MULTILINE | re.IGNORECASE), name


@pytest.mark.slow
def test_what_takes_too_long_is_given_up_until_the_process_has_run(debian_program: Program) -> None:
    limit = "script import mpi_queues.lldb.sessions as sessions; sessions.TIME_LIMIT = {}"
    first, _, slow, _, again, opened, printed, after = at(
        debian_program,
        0,
        "v self",
        limit.format(-1),
        "v halo",
        limit.format(2),
        "v halo",
        "v -P 1 halo",
        "mpi print halo",
        "v halo",
    )
    assert first == "(MPI_Comm) self = MPI_COMM_SELF, rank 0 of 1\n"
    assert re.fullmatch(r"\(MPI_Comm\) halo = 0x[0-9a-f]+ \(reading it takes longer than -1 s\)\n", slow), slow
    assert again == slow
    assert "rank = " not in opened
    # Who asks for it has it.
    assert printed.startswith('halo: "halo", rank 0 of 2\n')
    assert after == '(MPI_Comm) halo = "halo", rank 0 of 2\n'


@pytest.mark.slow
def test_memory_that_was_written_to_is_read_anew(debian_mpi: MpiBuild) -> None:
    with Program(debian_mpi, "printers.c") as job:
        (printed,) = at(job, 0, "mpi print -format json halo")
        name = address_of_name(job.pids[0], int(json.loads(printed)["handle"], 16), "halo")
        before, _, after, full, _ = at(
            job, 0, "v halo", f"memory write {name} 0x48", "v halo", "mpi print halo", f"memory write {name} 0x68"
        )
    assert before == '(MPI_Comm) halo = "halo", rank 0 of 2\n'
    assert after == '(MPI_Comm) halo = "Halo", rank 0 of 2\n'
    assert full.startswith('halo: "Halo", rank 0 of 2\n')


def test_values_as_editors_ask_for_them(debian_program: Program, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "ask.py"
    script.write_text(
        "import json, lldb\n"
        "def __lldb_init_module(debugger, _):\n"
        "    thread = debugger.GetSelectedTarget().GetProcess().GetSelectedThread()\n"
        "    frame = next(frame for frame in thread if frame.GetFunctionName() == 'main')\n"
        "    found = {}\n"
        "    for value in frame.GetVariables(True, True, False, True):\n"
        "        children = [value.GetChildAtIndex(at) for at in range(min(value.GetNumChildren(), 8))]\n"
        "        found[value.GetName()] = [value.GetValue(), value.GetSummary(), value.MightHaveChildren(),\n"
        "            [[child.GetName(), child.GetSummary()] for child in children]]\n"
        f"    open({str(tmp_path / 'out')!r}, 'w').write(json.dumps(found))\n"
    )
    at(debian_program, 0, f"command script import {script}")
    found = json.loads((tmp_path / "out").read_text())
    number, summary, opens, children = found["halo"]
    assert number.startswith("0x") and opens
    assert summary == '"halo", rank 0 of 2'
    assert ["name", '"halo"'] in children
    assert found["done"][1] == "MPI_REQUEST_NULL"
    assert found["never"][1].startswith("not an MPI_Comm: ")
    assert found["zero"][1].startswith("not an MPI_Comm: the null pointer")
    # An array of handles has its elements.
    assert [name for name, _ in found["split"][3]] == ["[0]", "[1]"]
    assert found["split"][3][1][1] == "MPI_COMM_NULL"
