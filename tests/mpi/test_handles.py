"""Handles: what programs know of theirs, compared field by field over gdb, lldb, core files and recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, List, Tuple

import pytest
from support.builds import MpiBuild, debian
from support.handles import compare_all
from support.jobs import Job

#: Name, arguments (``{dir}``: a directory of the test's own), ranks, and MCA parameters.
Program = Tuple[str, Tuple[str, ...], int, dict[str, str]]

PROGRAMS: List[Program] = [
    ("handles_values", (), 2, {}),
    ("handles_misc", (), 2, {}),
    ("handles_files", ("{dir}", "ompio"), 2, {"io": "ompio"}),
    ("handles_files", ("{dir}", "ompio"), 2, {"io": "ompio", "mpi_no_free_handles": "1"}),
    ("handles_files", ("{dir}", "romio"), 2, {"io": "^ompio"}),
    ("handles_windows", ("rdma",), 3, {"osc": "rdma"}),
    ("handles_windows", ("sm",), 3, {"osc": "sm"}),
    ("handles_comms", (), 3, {}),
    ("handles_topologies", (), 4, {}),
    ("handles_groups", (), 3, {}),
    ("handles_requests", ("{dir}",), 3, {}),
    ("handles_types", (), 2, {}),
    ("handles_one_sided", (), 2, {"osc": "rdma"}),
    # Each series knows one of the two.
    ("handles_matched", (), 2, {"btl_vader_single_copy_mechanism": "none", "smsc": "^cma,xpmem,knem"}),
]


def _name(program: Program) -> str:
    name, arguments, _, mca = program
    return "-".join((name.replace("handles_", ""), *(word for word in arguments if word != "{dir}"), *mca.values()))


@pytest.mark.parametrize("program", PROGRAMS, ids=_name)
def test_handles_are_what_the_program_made(
    mpi_build: MpiBuild, start_job: Callable[..., Job], tmp_path: Path, program: Program
) -> None:
    name, arguments, ranks, mca = program
    given = [argument.replace("{dir}", str(tmp_path)) for argument in arguments]
    compare_all(start_job(mpi_build, name, *given, ranks=ranks, mca=mca), tmp_path)


def test_windows_of_pt2pt_are_what_the_program_made(start_job: Callable[..., Job], tmp_path: Path) -> None:
    # This component is gone since Open MPI 5.0.
    compare_all(start_job(debian(), "handles_windows", "pt2pt", ranks=3, mca={"osc": "pt2pt"}), tmp_path)
