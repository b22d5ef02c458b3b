"""Handles: what programs know of theirs, compared field by field over gdb, lldb, core files and recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, List, Tuple

import pytest
from support.builds import BUILDS, DEBIAN, OPENMPI_4, WHEEL, MpiBuild, debian, debian_mpich, over
from support.handles import compare_all, compare_live
from support.jobs import Job
from support.transports import MONITORING

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

#: Those that run on MPICH, with environment variables: it has no MCA parameters.
ON_MPICH: List[Program] = [
    ("handles_values", (), 2, {}),
    ("handles_misc", (), 2, {}),
    ("handles_files", ("{dir}", "romio"), 2, {}),
    ("handles_comms", (), 3, {}),
    ("handles_topologies", (), 4, {}),
    ("handles_groups", (), 3, {}),
    ("handles_requests", ("{dir}",), 3, {}),
    ("handles_types", (), 2, {}),
    ("handles_windows", ("own memory",), 3, {}),
    ("handles_windows", ("sm",), 3, {}),
    ("handles_one_sided", (), 2, {}),
    ("handles_matched", (), 2, {"MPIR_CVAR_CH4_CMA_ENABLE": "0"}),
]


#: All kinds of targets give the reader the same bytes, whatever the build and the program. That is compared for these
#: programs on the distribution's builds; ``pytest --all`` compares it for all programs there.
ON_EVERY_TARGET = ("handles_comms", "handles_requests", "handles_values")


def _name(program: Program) -> str:
    name, arguments, _, mca = program
    return "-".join((name.replace("handles_", ""), *(word for word in arguments if word != "{dir}"), *mca.values()))


def _started(start_job: Callable[..., Job], build: MpiBuild, program: Program, directory: Path) -> Job:
    name, arguments, ranks, mca = program
    given = [argument.replace("{dir}", str(directory)) for argument in arguments]
    settings = {"env": mca} if build.is_mpich else {"mca": mca}
    return start_job(build, name, *given, ranks=ranks, **settings)


def _compare(job: Job, name: str, directory: Path, request: pytest.FixtureRequest) -> None:
    of_the_distribution = job.build in (debian(), debian_mpich())
    if of_the_distribution and (name in ON_EVERY_TARGET or request.config.getoption("--all")):
        compare_all(job, directory)
    else:
        compare_live(job)
        job.assert_running()


@pytest.mark.parametrize("program", PROGRAMS, ids=_name)
@pytest.mark.usual("debian-comms")
def test_handles_are_what_the_program_made(
    mpi_build: MpiBuild,
    start_job: Callable[..., Job],
    tmp_path: Path,
    program: Program,
    request: pytest.FixtureRequest,
) -> None:
    _compare(_started(start_job, mpi_build, program, tmp_path), program[0], tmp_path, request)


@pytest.mark.parametrize("program", ON_MPICH, ids=_name)
@pytest.mark.usual("mpich-debian-files-romio", "mpich-wheel-*-one_sided")
def test_handles_of_mpich_are_what_the_program_made(
    mpich_build: MpiBuild,
    start_job: Callable[..., Job],
    tmp_path: Path,
    program: Program,
    request: pytest.FixtureRequest,
) -> None:
    _compare(_started(start_job, mpich_build, program, tmp_path), program[0], tmp_path, request)


def test_requests_over_libfabric_are_what_the_program_made(
    preflight: None, start_job: Callable[..., Job], tmp_path: Path
) -> None:
    """With this provider sends wait that others answer at once, as the program expects."""
    job = start_job(BUILDS[f"{DEBIAN}+ofi-tcp-ofi_rxm"](), "handles_requests", str(tmp_path), ranks=3)
    compare_live(job)


@pytest.mark.parametrize("name", [f"{DEBIAN}+ucx", f"{DEBIAN}+ofi-tcp-ofi_rxm"])
@pytest.mark.usual("debian+ofi-tcp-ofi_rxm")
def test_messages_over_networks_are_what_the_program_made(
    preflight: None, start_job: Callable[..., Job], name: str
) -> None:
    """Matched ones: with the mtl ofi the objects of those that were received are never given back."""
    compare_live(start_job(BUILDS[name](), "handles_misc", ranks=2))


@pytest.mark.parametrize("name", [WHEEL, f"{WHEEL}+ucx", f"{WHEEL}+ofi-tcp", f"{WHEEL}+monitoring"])
@pytest.mark.usual("wheel-5*+ucx")
def test_partitioned_requests_are_what_the_program_made(
    preflight: None, start_job: Callable[..., Job], name: str
) -> None:
    """Their component has them whatever moves the messages."""
    build = over(WHEEL, MONITORING) if name.endswith("+monitoring") else BUILDS[name]()
    compare_live(start_job(build, "handles_partitioned", ranks=2))


@pytest.mark.slow
def test_windows_of_pt2pt_are_what_the_program_made(start_job: Callable[..., Job], tmp_path: Path) -> None:
    # This component is gone since Open MPI 5.0.
    compare_all(start_job(BUILDS[OPENMPI_4](), "handles_windows", "pt2pt", ranks=3, mca={"osc": "pt2pt"}), tmp_path)
