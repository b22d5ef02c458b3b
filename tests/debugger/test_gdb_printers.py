"""gdb's printers of MPI handles, against what the programs say that their variables are."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from gdb_variables import GDB, assert_all, check_variables, commands_of, shown
from support.builds import MpiBuild
from support.cores import gcore
from support.variables import Program


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.usual("debian-0")
def test_variables_of_c(c_program: Program, rank: int) -> None:
    check_variables(c_program, rank)


def test_integers_that_are_handles(mpich_build: MpiBuild) -> None:
    with Program(mpich_build, "printers_mpich.c") as job:
        check_variables(job, 1)
        job.assert_running()


def test_objects_of_cxx(cxx_program: Program) -> None:
    check_variables(cxx_program, 1)


def test_types_of_fortran(fortran_program: Program) -> None:
    check_variables(fortran_program, 1)


def test_locals_arguments_and_backtraces(c_program: Program) -> None:
    variables = {one.expression: one.text for one in c_program.variables(0)}
    _, args, backtrace, full, _, local = shown(
        c_program, 0, "frame function stop", "info args", "bt", "bt full", "frame function main", "info locals"
    )
    assert f"comm = {variables['comm']}\n" in args
    (line,) = [line for line in backtrace.splitlines() if " stop (" in line]
    for name in ("comm", "list", "status"):
        assert f"{name}=0x" in line or f"{name}={variables[name]}," in line, line
        assert variables[name] in line
    # The local of stop, and those of main.
    assert f"local = {variables['local']}\n" in full
    for text in (full, local):
        found = dict(re.findall(r"^ *(\w+) = (.*)$", text, re.MULTILINE))
        assert found["halo"] == variables["halo"]
        assert found["none"] == "MPI_COMM_NULL"
        assert variables["never"] in found["never"]
        assert found["split"].startswith("{") and found["split"].endswith(", MPI_COMM_NULL}")
        pending = re.search(r"pending = \{(.*?)\}, type = ", found["all"])
        assert pending is not None and pending[1].startswith(variables["all.pending[0]"] + ", ")
        assert pending[1].endswith(", MPI_REQUEST_NULL")
    # Nothing but the program's own frames was looked at.
    assert "Backtrace stopped" not in backtrace + full


def test_raw_values_are_there_when_asked_for(debian_program: Program) -> None:
    raw, hexadecimal, array, status, members = shown(
        debian_program,
        0,
        "frame function main",
        "print/r halo",
        "print/x halo",
        "print/x all.pending",
        "print/d all.last",
        "print all.last.MPI_TAG",
    )[1:]
    assert re.fullmatch(r"\(MPI_Comm\) 0x[0-9a-f]+", raw)
    assert raw == f"(MPI_Comm) {hexadecimal}"
    assert re.fullmatch(r"\{0x[0-9a-f]+, 0x[0-9a-f]+, 0x[0-9a-f]+\}", array)
    assert re.fullmatch(r"\{MPI_SOURCE = 1, MPI_TAG = 12, MPI_ERROR = \d+, _cancelled = 0, _ucount = 4\}", status)
    assert members == "12"


def test_printers_are_listed_and_switched_off_by_kind(debian_program: Program) -> None:
    listed, _, disabled, comm, request, again, _, enabled = shown(
        debian_program,
        0,
        "info pretty-printer .* mpi",
        "frame function main",
        "disable pretty-printer .* mpi;MPI_Comm",
        "print halo",
        "print done",
        "info pretty-printer .* mpi",
        "enable pretty-printer .* mpi;MPI_Comm",
        "print halo",
    )
    names = re.findall(r"^    (MPI_\w+)$", listed, re.MULTILINE)
    assert {"MPI_Aint", "MPI_Comm", "MPI_Message", "MPI_Request", "MPI_Session", "MPI_Status", "MPI_Win"} <= set(names)
    assert "1 printer disabled" in disabled
    assert comm.startswith("(MPI_Comm) 0x")
    assert request == "MPI_REQUEST_NULL"
    assert "MPI_Comm [disabled]" in again and "MPI_Request [disabled]" not in again
    assert enabled.startswith('"halo"')


@pytest.mark.parametrize("mode", ["early", "late"])
def test_before_and_after_mpi(mpi_build: MpiBuild, mode: str) -> None:
    with Program(mpi_build, "printers.c", mode) as job:
        check_variables(job, 0)
        _, status, place, never, error = shown(
            job, 0, "frame function main", "print &self", "print place", "print never", "mpi print self"
        )
    assert re.fullmatch(r"0x[0-9a-f]+ -> 0x[0-9a-f]+ <ompi_mpi_comm_self> \(MPI is (not initi|fin)alised\)", status), (
        status
    )
    assert place.endswith(")") and "MPI is" not in place
    assert never.startswith("0x12345678 (MPI is ")
    assert "MPI_Init has not been called" in error or "MPI_Finalize is done" in error


def test_core_files(c_program: Program, tmp_path: Path) -> None:
    core = gcore(c_program.pids[1], tmp_path / "core")
    variables = c_program.variables(1)
    commands = [f"file {c_program.program}", f"core-file {core}", *commands_of(variables, "print")]
    outputs = [re.sub(r"^\$\d+ = ", "", text.strip()) for text in GDB.run(*commands)]
    # What is not in the file may have been in memory: no garbage can be told there.
    pairs = [pair for pair in zip(variables, outputs[3::2]) if pair[0].expression != "never"]
    assert_all([variable for variable, _ in pairs], [text for _, text in pairs])
    (never,) = [text for variable, text in zip(variables, outputs[3::2]) if variable.expression == "never"]
    assert re.fullmatch("unknown MPI_Comm: [0-9]+ bytes at 0x12345678 are not in the core file: .{,40}", never)


#: The frame of main, however many the C library has: stacks end there. gdb 13 itself crashes on "frame function" where
#: it has two inferiors.
MAIN = "up 1000"


def test_a_value_is_described_by_its_own_inferior(debian_program: Program) -> None:
    first, second = debian_program.pids
    commands = [
        *GDB.attach(first),
        MAIN,
        "print world",
        *GDB.attach(second, 1),
        MAIN,
        "print world",
        "print $1",
        "mpi print $1",
        "print $_inferior",
        "frame",
    ]
    outputs = [output.strip() for output in GDB.run(*commands)]
    debian_program.assert_running()
    assert outputs[2] == "$1 = MPI_COMM_WORLD, rank 0 of 2"
    one, kept, full, number, frame = outputs[-5:]
    assert one == "$2 = MPI_COMM_WORLD, rank 1 of 2"
    assert kept == "$3 = MPI_COMM_WORLD, rank 0 of 2"
    assert full.startswith("$1: MPI_COMM_WORLD, rank 0 of 2")
    assert number == "$4 = 2"
    assert " main (" in frame


def test_printing_selects_nothing(debian_program: Program) -> None:
    places = ["output $pc", "output $_thread", "output $_inferior"]
    outputs = shown(
        debian_program, 0, "frame function ready", *places, "bt full", "print $_siginfo", "mpi print $sp", *places
    )
    assert outputs[1:4] == outputs[-3:]
    assert "ready" in outputs[1]


def test_a_running_process_is_not_asked(debian_mpi: MpiBuild) -> None:
    with Program(debian_mpi, "printers.c") as job:
        outputs = shown(
            job,
            0,
            "frame function main",
            "print world",
            "continue &",
            "print $1",
            "mpi print world",
            "interrupt",
            "shell sleep 1",
        )
    assert outputs[1] == "MPI_COMM_WORLD, rank 0 of 2"
    assert re.fullmatch(r"0x[0-9a-f]+( <ompi_mpi_comm_world>)? \(the process is running\)", outputs[3]), outputs
    assert "inferior 1 is running" in outputs[4]


#: Changes the name of a communicator. It stands in the object, from Open MPI 5 on in memory that the object points to.
RENAME = """python
import gdb, struct
process, start = gdb.selected_inferior(), int(gdb.parse_and_eval("(long) halo"))
memory = bytes(process.read_memory(start, 1024))
for place in (start + memory.find(b"halo"), *struct.unpack("128Q", memory)):
    try:
        if bytes(process.read_memory(place, 5)) == b"halo\\0":
            process.write_memory(place, b"HALO")
            break
    except gdb.MemoryError:
        pass
else:
    raise ValueError("the name was not found")
end"""


def test_what_changed_is_read_anew(debian_mpi: MpiBuild, tmp_path: Path) -> None:
    script = tmp_path / "rename.gdb"
    script.write_text(RENAME)
    with Program(debian_mpi, "printers.c") as job:
        outputs = shown(
            job,
            0,
            "frame function main",
            "print halo",
            f"source {script}",
            "print halo",
            "set var all.last.MPI_TAG = 99",
            "print all.last",
            "mpi print all.last",
        )
    assert outputs[1] == '"halo", rank 0 of 2'
    assert outputs[3] == '"HALO", rank 0 of 2'
    assert "tag 99" in outputs[5]
    assert "tag 99" in outputs[6]


def test_damaged_objects(mpi_build: MpiBuild) -> None:
    with Program(mpi_build, "printers.c") as job:
        damage = [f"set {{long}}((char *) halo + {at}) = 0x4141414141414141 + {at}" for at in range(0, 1024, 8)]
        outputs = shown(
            job, 0, "frame function main", *damage, "print halo", "print all", "mpi print halo", "info locals"
        )
    assert outputs[-4].startswith("not an MPI_Comm: ")
    assert outputs[-4] in outputs[-3]
    assert outputs[-2].startswith("halo: not an MPI_Comm: ")
    assert "MPI_COMM_WORLD, rank 0 of 2" in outputs[-1]


def test_characters_that_the_charset_lacks(debian_program: Program) -> None:
    _, plain, _, cut, _, other = shown(
        debian_program,
        0,
        "frame function main",
        "print split[0]",
        "set target-charset ASCII",
        "print split[0]",
        "set target-charset CP1252",
        "print split[0]",
    )
    assert 'one "quoted" ä' in plain.replace("\\", "")
    assert "\\xe4" in cut
    assert "Python" not in other


def test_symbols_are_found_in_frames_of_fortran(fortran_program: Program, tmp_path: Path) -> None:
    """Where a quoted name is a text, not a symbol."""
    script = tmp_path / "ask.py"
    script.write_text(
        "import gdb\n"
        "from mpi_queues.gdb.adapter import symbol_address\n"
        "print(symbol_address('ompi_mpi_comm_world'), symbol_address('no_such_symbol'), symbol_address('1 + 1'))\n"
    )
    in_c, language, _, in_fortran, fortran = shown(
        fortran_program,
        0,
        f"source {script}",
        "show language",
        "frame function printers",
        f"source {script}",
        "show language",
    )
    assert "fortran" in fortran and "fortran" not in language
    assert re.fullmatch(r"[0-9]+ None None", in_c)
    assert in_fortran == in_c


def test_the_language_that_gdb_speaks_changes_nothing(fortran_program: Program) -> None:
    """gdb looks up the names of C's types in the language of the frame: in that of Fortran, gdb 16 has none."""
    languages = ("c", "c++", "fortran", "ada", "pascal", "modula-2", "rust", "d", "go", "asm", "minimal", "unknown")
    read = ("mpi comms", "mpi queues", "mpi diagnose")
    asked = [command for language in languages for command in (f"set language {language}", *read)]
    _, *told = shown(fortran_program, 1, "frame function printers", *read, *asked)
    expected = told[: len(read)]
    assert "halo  " in expected[0] and "1 process" in expected[1] and "rank 1" in expected[2], expected
    for index, language in enumerate(languages):
        first = len(read) + index * (1 + len(read)) + 1
        assert told[first : first + len(read)] == expected, language


def test_communicators_by_name_in_the_language_of_the_frame(fortran_program: Program) -> None:
    _, halo, world, other, nobody, no_name, _, in_c = shown(
        fortran_program,
        1,
        "frame function printers",
        "output $_mpi_comm('halo') == icomm",
        "output $_mpi_comm('MPI_COMM_WORLD') == world%mpi_val",
        "output $_mpi_comm('MPI_COMM_WORLD') == icomm",
        "output $_mpi_comm('nobody')",
        "output $_mpi_comm(icomm)",
        "set language c",
        'output $_mpi_comm("halo") == $_mpi_comm("MPI_COMM_WORLD")',
    )
    assert (halo, world, other, in_c) == (".TRUE.", ".TRUE.", ".FALSE.", "0")
    assert "no communicator is named 'nobody'" in nobody
    assert "in Fortran $_mpi_comm('MPI_COMM_WORLD')" in no_name


def test_programs_without_mpi_have_no_printers(tmp_path: Path) -> None:
    """Also those with types of these names; a static MPI is known by its symbol."""
    source = tmp_path / "types.c"
    text = """
        typedef struct ompi_communicator_t *MPI_Comm;
        struct mpi_comm { int rank; } own = {3};
        MPI_Comm comm = (MPI_Comm) 16;
        int main(void) { return comm == 0 && own.rank; }
    """
    listed, comm = [], []
    for name, more in (("plain", ""), ("static", "int ompi_mpi_comm_world;")):
        source.write_text(text + more)
        program = tmp_path / name
        subprocess.run(["gcc", "-g", "-o", program, source], check=True)
        outputs = GDB.run(
            f"file {program}",
            "info pretty-printer .* mpi$",
            "print comm",
            "break main",
            "run",
            "print comm",
            "print own",
        )
        listed.append("MPI_Comm" in outputs[1])
        comm.append((outputs[2].split(" = ")[1].strip(), outputs[5].split(" = ")[1].strip()))
        assert outputs[6].strip().endswith("{rank = 3}")
    assert listed == [False, True]
    assert comm[0] == ("(MPI_Comm) 0x10", "(MPI_Comm) 0x10")
    assert comm[1] == ("0x10 (no process)", "(MPI_Comm) 0x10")
