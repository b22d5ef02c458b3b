"""``mpi print`` in gdb, against what the programs say that their variables are."""

from __future__ import annotations

import json
import re

import pytest
from gdb_variables import commands_of, shown
from support.variables import Program


@pytest.mark.slow
def test_what_the_full_form_says_is_what_the_short_one_says(c_program: Program) -> None:
    variables = [
        one for one in c_program.variables(0) if one.expression not in ("place", "back", "offset", "unset", "nowhere")
    ]
    short = shown(c_program, 0, *commands_of(variables, "print"))[1::2]
    full = [json.loads(text) for text in shown(c_program, 0, *commands_of(variables, "mpi print -format json"))[1::2]]
    for variable, line, handle in zip(variables, short, full):
        handle = handle[0] if isinstance(handle, list) else handle
        assert line.removeprefix("0x").split("-> ")[-1] == handle["summary"], variable


def test_integers_of_fortran(fortran_program: Program) -> None:
    said = {one.expression: one.text for one in fortran_program.variables(0)}
    _, comm, request, datatype, wrong, status, statuses, raw = shown(
        fortran_program,
        0,
        "frame function printers",
        "mpi print -kind comm icomm",
        "mpi print -kind request irequest",
        "mpi print -k datatype itype",
        "mpi print -k comm wrong",
        "mpi print -k status istatus",
        "mpi print -k status istatuses",
        "print icomm",
    )
    assert comm.splitlines()[0] == f"icomm: {said['halo']}"
    assert request.splitlines()[0] == f"irequest: {said['all%pending(1)']}"
    assert datatype.startswith("itype: MPI_REAL")
    assert wrong.startswith("wrong: not an MPI_Comm: the Fortran integer 999999 ")
    assert status.startswith(f"istatus: {said['status']}")
    assert [line.split(": ")[0] for line in statuses.splitlines() if not line.startswith(" ")] == [
        "istatuses(:,1)",
        "istatuses(:,2)",
    ]
    assert raw.isdecimal()


def test_arrays_of_fortran(fortran_program: Program) -> None:
    said = {one.expression: one.text for one in fortran_program.variables(0)}
    _, grid, full, types, argument = shown(
        fortran_program,
        0,
        "frame function printers",
        "print grid",
        "mpi print grid",
        "print types",
        "mpi print all%pending",
    )
    assert grid.count("MPI_REQUEST_NULL") == 5
    assert said["grid(2,3)"] in grid
    heads = [line for line in full.splitlines() if not line.startswith(" ")]
    assert [head.split(":")[0] for head in heads] == [f"grid({i},{j})" for j in (1, 2, 3) for i in (1, 2)]
    assert heads[-1] == f"grid(2,3): {said['grid(2,3)']}"
    assert types.endswith("MPI_DATATYPE_NULL)")
    assert argument.startswith(f"all%pending(1): {said['all%pending(1)']}")


def test_the_full_form(c_program: Program) -> None:
    said = {one.expression: one.text for one in c_program.variables(0)}
    _, comm, pointer, elements, some, fortran, address, generic, aint = shown(
        c_program,
        0,
        "frame function main",
        "mpi print halo",
        "mpi print & all . pending[0]",
        "mpi print all.pending",
        "mpi print -format json all.pending[1]@2",
        "mpi print -kind comm fortran",
        "mpi print -kind comm (void *) halo",
        "mpi print *(struct exchange *) &all",
        "mpi print place",
    )
    assert comm.splitlines()[0] == f"halo: {said['halo']}"
    assert re.search(r"^  handle +0x[0-9a-f]+$", comm, re.MULTILINE)
    assert pointer.splitlines()[0] == f"*& all . pending[0]: {said['all.pending[0]']}"
    assert [line.split(":")[0] for line in elements.splitlines() if not line.startswith(" ")] == [
        f"all.pending[{index}]" for index in range(3)
    ]
    assert [handle["kind"] for handle in json.loads(some)] == ["request", "request"]
    assert json.loads(some)[1]["summary"] == "MPI_REQUEST_NULL"
    assert fortran.splitlines()[0] == f"fortran: {said['halo']}"
    assert address.splitlines()[0] == f"(void *) halo: {said['halo']}"
    assert generic.startswith("*(struct exchange *) &all is of the type struct exchange, which is not an MPI handle\n")
    assert aint.startswith("place is an MPI_Aint, a number, not a handle\n")


#: What is typed after ``mpi print`` in main, and how the answer begins.
REFUSED = [
    ("nix", 'cannot evaluate nix: No symbol "nix" in current context\nto see the variables of this frame, type: '),
    ("halo[", "cannot evaluate halo[: A syntax error in expression"),
    ("rank", "rank is of the type int, which is not an MPI handle\nif it is a Fortran handle, name its kind: "),
    ("-kind request halo", "halo is an MPI_Comm, not an MPI_Request\ntype: mpi print halo"),
    ("halo = 0", "halo = 0 changes the program, which mpi print never does\n"),
    ("rank++", "rank++ changes the program"),
    ("(MPI_Comm) malloc(8)", "cannot evaluate (MPI_Comm) malloc(8): Cannot call functions in the program: "),
    ("*nowhere", "cannot evaluate *nowhere: Cannot access memory at address 0x10\n"),
    ("unset", "cannot evaluate unset: Cannot access memory at address 0x0\n"),
    ("-kind comm buffer", "buffer[0]: "),
    (
        "-kind comm &rank",
        "&rank is of the type int *, which is not an MPI handle\nto look at what it points at, type: ",
    ),
    ("-kind comm place", "place is an MPI_Aint, a number, not a handle\n"),
    ("-kind status rank", "rank is one integer; a Fortran status is an array of them"),
    ("-kind status buffer", "buffer has 1024 integers: no status has that many"),
    ("buffer", "buffer[0] is of the type int, which is not an MPI handle\n"),
    ("/x halo", "mpi print: takes no format such as /x\ntype: print/x halo"),
    ("argv", "argv is of the type char **, which is not an MPI handle\nto see its value, type: print argv"),
    ("", "Show all that is known about an MPI handle"),
]


def test_what_cannot_be_printed(debian_program: Program) -> None:
    commands = [f"mpi print {typed}" for typed, _ in REFUSED]
    _, *outputs, calls, writes = shown(
        debian_program, 0, "frame function main", *commands, "show may-call-functions", "show may-write-memory"
    )
    wrong = [(typed, output) for (typed, begins), output in zip(REFUSED, outputs) if not output.startswith(begins)]
    assert not wrong
    assert len(outputs) == len(REFUSED)
    # As the user has them.
    assert calls.endswith("is on.") and writes.endswith("is on.")


def test_too_many_elements(debian_program: Program) -> None:
    _, error, some = shown(
        debian_program,
        0,
        "frame function main",
        "mpi print -kind comm *(int (*)[20000]) buffer",
        "mpi print -kind comm buffer",
    )
    assert error.startswith("*(int (*)[20000]) buffer has 20,000 elements; mpi print takes at most 10,000\n"), error
    assert some.endswith("… and 824 more (to see them: set mpi limit unlimited)")


def test_completion(debian_program: Program) -> None:
    _, expression, member, behind, kinds = shown(
        debian_program,
        0,
        "frame function main",
        "complete mpi print hal",
        "complete mpi print all.p",
        "complete mpi print -kind comm all.c",
        "complete mpi print -k re",
    )
    assert "mpi print halo" in expression.splitlines()
    assert member == "mpi print all.pending"
    assert behind == "mpi print -kind comm all.comm"
    assert kinds == "mpi print -k request"
