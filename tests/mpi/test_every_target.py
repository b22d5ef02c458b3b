"""One suite over every kind of target: the same programs, the same truth, the same JSON.

Only how memory was read (``source.via``) and the time may differ.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options
from support.compare import assert_equal, lasting
from support.jobs import Job
from support.truths import Program, name_of

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

VIA = {"native": "native", "gdb": "gdb", "lldb": "lldb"}
VIA.update((f"{reader} core", "core") for reader in ("native", "gdb", "lldb"))


def _shown(*options: str) -> Processes:
    result = mpi_queues("show", *options, "--internal", "--format", "json")
    assert result.status == 0, str(result)
    return {process["pid"]: process for process in json.loads(result.out)["processes"]}


def _cores(job: Job, directory: Path) -> List[str]:
    """Dumps every rank while it hangs, and returns the options that name the dumps."""
    options: List[str] = []
    for pid in job.pids:
        core = directory / f"core.{pid}"
        command = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-p", str(pid)]
        command += ["-ex", f"generate-core-file {core}", "-ex", "detach"]
        run = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False
        )
        assert core.exists(), run
        options += ["--core", str(core), "--exe", str(job.program)]
    return options


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
    pids = pid_options(job.pids)
    found: Dict[str, Processes] = {via: _shown(*pids, "--via", via) for via in ("gdb", "lldb", "native")}
    cores = _cores(job, tmp_path)
    for debugger in ("gdb", "lldb", "native"):
        found[f"{debugger} core"] = _shown(*cores, "--via", debugger)
        found[f"recorded by {debugger}"] = _recorded(tmp_path / f"{debugger}.mpirec", *pids, "--via", debugger)
        from_core = tmp_path / f"{debugger}-core.mpirec"
        found[f"recorded by {debugger} from cores"] = _recorded(from_core, *cores, "--via", debugger)
    job.assert_running()

    for kind, shown in found.items():
        assert sorted(shown) == sorted(job.pids), kind
        for rank, posted in sorted(job.truth.items()):
            process = shown[job.pids[rank]]
            assert process["source"]["via"] == VIA.get(kind, "recording")
            left, right = _comparable(process), _comparable(found["gdb"][job.pids[rank]])
            if "core" in kind and left["host"] is None:
                # Launchers of MPICH do not tell a process its host.
                del left["host"], right["host"]
            assert left == right, f"{kind}, rank {rank}"
            if truth:
                assert_equal(posted, process, internal=True)
