"""``mpi print`` in lldb: handles that expressions name."""

from __future__ import annotations

import json
import pathlib
import re

import pytest
from debuggers import Gdb
from lldb_variables import at
from support.variables import Program


@pytest.mark.slow
def test_the_full_form_of_what_an_expression_names(c_program: Program) -> None:
    text, cast, element, every, json_text, fortran, address = at(
        c_program,
        0,
        "mpi print halo",
        "mpi print (struct ompi_communicator_t *) halo",
        "mpi print *(all.pending + 2)",
        "mpi print split",
        "mpi print -format json *&all.comm",
        "mpi print -k comm fortran",
        "mpi print -k comm (void *)halo",
    )
    assert re.match(r'halo: "halo", rank 0 of 2\n  handle +0x', text), text
    assert cast.splitlines()[1:] == text.splitlines()[1:] == address.splitlines()[1:]
    assert element.startswith("*(all.pending + 2): MPI_REQUEST_NULL\n")
    assert every.startswith("split[0]: ") and "\nsplit[1]: MPI_COMM_NULL\n" in every
    assert json.loads(json_text)["name"] == "halo"
    assert fortran.startswith('fortran: "halo", rank 0 of 2\n')


#: Expressions, and what is said of them: a part of the first line, the end of the last.
ERRORS = (
    ("nix", "cannot evaluate nix: no variable nix is visible here", "type: frame variable; of its caller: up"),
    ("fortran", "fortran is of the type int, which is not an MPI handle", "mpi print -kind comm fortran"),
    ("place", "place is an MPI_Aint, a number, not a handle", "frame variable place"),
    ("-k request halo", "halo is an MPI_Comm, not an MPI_Request", "mpi print halo"),
    ("fortran = 1", "cannot evaluate fortran = 1: it changes the program", "type: frame variable; of its caller: up"),
    ("getpid()", "cannot evaluate getpid(): it calls a function", "type: frame variable; of its caller: up"),
    ("halo->nix", "has no member nix", "type: frame variable; of its caller: up"),
    ("mode", "mode is of the type const char *, which is not an MPI handle", "frame variable mode"),
    ("all", "all is of the type exchange, which is not an MPI handle", "mpi print all.MEMBER"),
    ("*nowhere", "cannot evaluate *nowhere: memory at 0x10 cannot be read", "type: frame variable; of its caller: up"),
    ("nowhere", "cannot evaluate nowhere: memory at 0x10 cannot be read", "type: frame variable; of its caller: up"),
    ("all.pending[3]", "the array has no element 3: there are 3", "type: frame variable; of its caller: up"),
    ("*fortran", "a value of the type int points at nothing", "type: frame variable; of its caller: up"),
    ("fortran[1]", "a value of the type int has no elements", "type: frame variable; of its caller: up"),
    ("(truth_nix)1", "no type truth_nix is known here", "type: frame variable; of its caller: up"),
    (
        "(MPI_Session)1",
        "no type MPI_Session is known here; instead, name the kind",
        "type: frame variable; of its caller: up",
    ),
    ("-k status fortran", "fortran is one integer; a Fortran status is an array", "-kind status EXPRESSION"),
    ("-k nix halo", "-kind nix: not one of comm, datatype,", "help mpi print"),
)


@pytest.mark.slow
def test_errors_of_expressions(debian_program: Program) -> None:
    before = maps_of(debian_program.pids[0])
    errors = at(debian_program, 0, *(f"mpi print {expression}" for expression, _, _ in ERRORS))
    for (expression, message, remedy), error in zip(ERRORS, errors):
        first, last = error.splitlines()
        assert first.startswith("error: ") and message in first, (expression, error)
        assert last.endswith(remedy), (expression, error)
    # lldb's own expressions would have mapped memory.
    assert maps_of(debian_program.pids[0]) == before


def maps_of(pid: int) -> str:
    return pathlib.Path(f"/proc/{pid}/maps").read_text()


def test_the_full_form_is_that_of_gdb(c_program: Program) -> None:
    numbers = ("place", "back", "offset", "unset", "nowhere")
    variables = [one for one in c_program.variables(1) if one.expression not in numbers]
    kinds = {"no_fortran": "comm", "fortran": "comm"}
    for function in ("main", "stop"):
        commands = [f"mpi print {one.expression}" for one in variables if one.frame == function]
        if function == "main":
            commands += [f"mpi print -kind {kind} {name}" for name, kind in kinds.items()]
            commands += ["mpi print split", "mpi print -kind comm (void *) halo", "mpi print -format json all.last"]
            commands += ["mpi print -kind status statuses", "mpi print -kind status statuses[1]"]
        printed = Gdb().at(c_program, 1, f"frame function {function}", *commands)[1:]
        assert at(c_program, 1, *commands, function=function) == printed


@pytest.mark.slow
def test_the_full_form_of_objects_of_cxx_is_that_of_gdb(cxx_program: Program) -> None:
    variables = [one for one in cxx_program.variables(0) if one.expression not in ("place", "offset")]
    for function in ("main", "stop"):
        commands = [f"mpi print {one.expression}" for one in variables if one.frame == function]
        commands += {"main": ["mpi print &ring"], "stop": ["mpi print comm", "mpi print type"]}[function]
        printed = Gdb().at(cxx_program, 0, f"frame function {function}", *commands)[1:]
        assert at(cxx_program, 0, *commands, function=function) == printed


@pytest.mark.slow
def test_statuses_of_fortran_are_arrays(debian_program: Program) -> None:
    both, one, large = at(
        debian_program,
        0,
        "mpi print -k status statuses",
        "mpi print -k status statuses[1]",
        "mpi print -k status buffer",
    )
    assert both.count(": from 1, tag 12, 4 bytes\n") == 2 and "\nstatuses[1]: " in both
    assert one.startswith("statuses[1]: from 1, tag 12, 4 bytes\n")
    assert large.startswith("error: ") and "4096 bytes: no status is that large" in large


@pytest.mark.slow
def test_integers_of_fortran(fortran_program: Program) -> None:
    world, variable = at(fortran_program, 1, "mpi print -k comm 0", "mpi print -k comm icomm", function="MAIN__")
    assert world.startswith("0: MPI_COMM_WORLD, rank 1 of 2\n")
    # This lldb has no Fortran: it shows none of its variables.
    assert variable.startswith(
        "error: cannot evaluate icomm: no variable icomm is visible here\nlldb does not support "
    )
