"""MPI handles as lldb shows variables: the category ``mpi``."""

from __future__ import annotations

import json
import pathlib
import re

import pytest
from debuggers import Lldb
from support.jobs import Job

lldb = Lldb()

CONTROL = "target variable truth_control"


def test_a_variable_is_shown_by_what_it_means(comms_job: Job) -> None:
    (shown,) = lldb.at(comms_job, 0, CONTROL)
    assert re.fullmatch(r'\(MPI_Comm\) truth_control = "?control\b.*\n', shown), shown


def test_the_category_is_listed_and_can_be_switched_off_and_on(comms_job: Job) -> None:
    listed, _, raw, _, again = lldb.at(
        comms_job,
        0,
        "type summary list -w mpi",
        "type category disable mpi",
        CONTROL,
        "type category enable mpi",
        CONTROL,
    )
    for name in ("MPI_Comm", "MPI_Request", "MPI_Status", "ompi_win_t *", "MPI::Intracomm", "MPI_Aint"):
        assert re.search(rf"^{re.escape(name)}: ", listed, re.MULTILINE), listed
    assert re.fullmatch(r"\(MPI_Comm\) truth_control = 0x[0-9a-f]+\n", raw), raw
    assert "control" in again.split("=")[1]


def test_the_facts_are_below(comms_job: Job) -> None:
    opened, one = lldb.at(comms_job, 0, "target variable -P 1 truth_control", CONTROL)
    assert '\n  name = "control"\n' in opened
    assert re.search(r'\n  handle = "0x[0-9a-f]+"\n', opened), opened
    assert "\n  " not in one


def test_the_full_form_of_what_an_expression_names(comms_job: Job) -> None:
    text, member, json_text, fortran = lldb.at(
        comms_job,
        0,
        "mpi print truth_control",
        "mpi print (MPI_Comm) truth_comms[0]->handle",
        "mpi print -format json *&truth_control",
        "mpi print -k comm 0",
    )
    assert re.match(r'truth_control: "control", rank 0 of 2\n  handle +0x', text), text
    assert member.startswith("(MPI_Comm) truth_comms[0]->handle: MPI_COMM_WORLD, rank 0 of 2\n")
    assert json.loads(json_text)["name"] == "control"
    assert fortran.startswith("0: MPI_COMM_WORLD, rank 0 of 2\n")


@pytest.mark.parametrize(
    ("expression", "message", "remedy"),
    [
        ("nix", "cannot evaluate nix: no variable nix is to be seen here", "type: frame variable; of its caller: up"),
        ("truth_rank", "truth_rank is of the type int, which is no MPI handle", "mpi print -kind comm truth_rank"),
        ("-k request truth_control", "truth_control is an MPI_Comm, not an MPI_Request", "mpi print truth_control"),
        ("truth_rank = 1", "cannot evaluate truth_rank = 1: it changes the program", "frame variable"),
        ("getpid()", "cannot evaluate getpid(): it calls a function", "frame variable"),
        ("truth_control->nix", "has no member nix", "frame variable"),
        ("truth_comms[0]->group", "is of the type int *, which is no MPI handle", "frame variable truth_comms"),
        ("*truth_comms[0]", "is of the type truth_comm, which is no MPI handle", "truth_comms[0].MEMBER"),
        ("*(MPI_Comm *)0x10", "memory at 0x10 cannot be read", "frame variable"),
        ("*truth_rank", "a value of the type int points at nothing", "frame variable"),
        ("truth_rank[1]", "a value of the type int has no elements", "frame variable"),
        ("(truth_nix)1", "no type truth_nix is known here", "frame variable"),
        ("-k status 3", "3 is one integer; a status of Fortran is an array", "mpi print -kind status EXPRESSION"),
        ("-k nix truth_control", "-kind nix: not one of comm, datatype,", "help mpi print"),
    ],
)
def test_errors_of_expressions(comms_job: Job, expression: str, message: str, remedy: str) -> None:
    before = maps_of(comms_job.pids[0])
    (error,) = lldb.at(comms_job, 0, f"mpi print {expression}")
    assert error.startswith("error: ") and message in error and remedy in error.splitlines()[-1], error
    # lldb's own expressions would have mapped memory.
    assert maps_of(comms_job.pids[0]) == before


def maps_of(pid: int) -> str:
    return pathlib.Path(f"/proc/{pid}/maps").read_text()


def test_without_a_process() -> None:
    error, help_text = lldb.run("mpi print x", "mpi print")
    assert error == "error: no process: nothing is being debugged here\n" + (
        "start the program with 'run', or type: process attach -p PID\n"
    )
    assert help_text.startswith("Show all that is known of an MPI handle")
