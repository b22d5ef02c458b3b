"""MPI handles as lldb shows variables: the category ``mpi``."""

from __future__ import annotations

import re

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
