"""One suite over every kind of target: the same programs, the same truth, the same JSON.

Only how memory was read (``source.via``) and the time may differ.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from support import cores
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options
from support.compare import assert_equal, lasting
from support.jobs import Job
from support.truths import Program, name_of
from test_cores import DEBUGGERS, attached, core_options, in_debugger, opened_core, shown_in

StartJob = Callable[..., Job]
Processes = Dict[int, Any]

#: Name, arguments, ranks.

PROGRAMS: List[Program] = [
    ("truth_modes", (), 3),
    ("truth_comms", (), 4),
    ("truth_persistent", (), 2),
    ("truth_collective", ("barrier",), 3),
    ("truth_threads", (), 2),
    ("truth_probe", (), 2),
    ("truth_random", ("3", "300"), 3),
]

#: Where Open MPI 5.0 keeps things elsewhere.
WHEEL_PROGRAMS = [PROGRAMS[0], PROGRAMS[1], PROGRAMS[3]]


def _shown(*options: str) -> Processes:
    result = mpi_queues("show", *options, "--internal", "--format", "json")
    assert result.status == 0, str(result)
    return {process["pid"]: process for process in json.loads(result.out)["processes"]}


def _recorded(file: Path, *target: str) -> Processes:
    result = mpi_queues("record", *target, "-o", str(file))
    assert result.status == 0, str(result)
    return _shown("--recording", str(file))


def _comparable(process: Any) -> Any:
    """Without the numbers of threads, which each debugger gives in an order of its own."""
    left = lasting(process)
    for place in ("calls", "outside"):
        threads = [{name: value for name, value in one.items() if name != "thread"} for one in left[place]]
        left[place] = sorted(threads, key=lambda one: json.dumps(one, sort_keys=True))
    return left


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_every_kind_of_target_gives_the_same(
    debian_mpi: MpiBuild, start_job: StartJob, tmp_path: Path, program: Program
) -> None:
    name, arguments, ranks = program
    _compare_all(start_job(debian_mpi, name, *arguments, ranks=ranks), tmp_path)


@pytest.mark.parametrize("program", WHEEL_PROGRAMS, ids=name_of)
@pytest.mark.slow
def test_every_kind_of_target_gives_the_same_on_the_wheel(
    wheel_mpi: MpiBuild, start_job: StartJob, tmp_path: Path, program: Program
) -> None:
    name, arguments, ranks = program
    _compare_all(start_job(wheel_mpi, name, *arguments, ranks=ranks), tmp_path)


@pytest.mark.parametrize("program", [PROGRAMS[0], PROGRAMS[1], PROGRAMS[4]], ids=name_of)
@pytest.mark.slow
def test_every_kind_of_target_gives_the_same_on_mpich(
    debian_mpich: MpiBuild, start_job: StartJob, tmp_path: Path, program: Program
) -> None:
    name, arguments, ranks = program
    # What MPICH keeps of sends is compared with the truth elsewhere.
    _compare_all(start_job(debian_mpich, name, *arguments, ranks=ranks), tmp_path, truth=False)


def _compare_all(job: Job, tmp_path: Path, *, truth: bool = True) -> None:
    pids, dumped = pid_options(job.pids), [cores.gcore(pid, tmp_path / "core") for pid in job.pids]
    options = core_options(dumped, job.program)
    found = {"native": _shown(*pids), "core": _shown(*options)}
    found["recording"] = _recorded(tmp_path / "live.mpirec", *pids)
    found["recording of cores"] = _recorded(tmp_path / "core.mpirec", *options)
    for debugger in DEBUGGERS:
        live = [attached(debugger, pid) for pid in job.pids]
        from_cores = [opened_core(debugger, core, job.program) for core in dumped]
        for kind, opened in ((debugger, live), (f"core in {debugger}", from_cores)):
            file = tmp_path / f"{kind.replace(' ', '-')}.mpirec"
            said = in_debugger(debugger, opened, "mpi queues -format json -internal", f"mpi record {file}")
            found[kind] = {process["pid"]: process for process in shown_in(said)["processes"]}
            found[f"recording of {kind}"] = _shown("--recording", str(file))
    job.assert_running()

    for kind, shown in found.items():
        assert sorted(shown) == sorted(job.pids), kind
        for rank, posted in sorted(job.truth.items()):
            process = shown[job.pids[rank]]
            assert process["source"]["via"] == kind.split()[0]
            left, right = _comparable(process), _comparable(found["native"][job.pids[rank]])
            if "core" in kind and left["host"] is None:
                # Launchers of MPICH do not tell a process its host.
                del left["host"], right["host"]
            assert left == right, f"{kind}, rank {rank}"
            if truth:
                assert_equal(posted, process, internal=True)
