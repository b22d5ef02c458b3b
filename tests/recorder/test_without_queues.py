"""What the flight recorder alone tells: programs with known bugs, and random ones, of which no queue is read."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from support import diagnosis, priority, processes, recorder, script_maker, scripted
from support.builds import MpiBuild
from support.cli import mpi_queues
from support.jobs import READY_TIMEOUT

#: Ranks that have said that they are ready come to the place within this.
REST_TIMEOUT = 60.0

#: Looked at in every test run: of each family of findings one.
USUAL = ("wrong_tag", "waitall_before_sends", "different_roots", "crossed_communicators", "intercomm_ranks")

#: What no call tells: messages that an MPI sends itself when it makes an intercommunicator, neighbours, lengths.
NOT_TOLD = ("intercomm_tags", "neighbour_collective", "truncation_ahead")

#: On Intel MPI, which sends longer messages than others before their receiver asks for them, and whose broadcast lets
#: others leave: what is found first; None: the program comes to its end.
ON_INTEL: Dict[str, Optional[str]] = {
    "different_roots": None,
    "large_sends": None,
    "sent_to_finished": None,
    "wrong_tag_large": "tag mismatch",
}


def _programs() -> List[Any]:
    # Those for one MPI only are about what its queues keep.
    both = [path for path in diagnosis.programs("bugs") if all(diagnosis.load(path, one) for one in (True, False))]
    paths = [path for path in both if path.stem not in NOT_TOLD and path.suffix == ".c"]
    marks = {path: () if path.stem in USUAL else (pytest.mark.slow,) for path in paths}
    return [pytest.param(path, id=path.stem, marks=marks[path]) for path in paths]


def _environment(build: MpiBuild) -> Dict[str, str]:
    return dict(recorder.intel_environment(build) if build.implementation == "Intel MPI" else build.environment)


@pytest.mark.parametrize("path", _programs())
@pytest.mark.usual("debian-wrong_tag", "debian-intercomm_ranks", "mpich-debian-crossed_communicators")
def test_the_bug_is_found(any_mpi: MpiBuild, path: Path) -> None:
    program = diagnosis.load(path, any_mpi.implementation != "Open MPI", as_mpich=True)
    assert program is not None
    is_other = any_mpi.implementation == "Intel MPI" and path.stem in ON_INTEL
    if is_other:
        program = replace(program, expected=[], cause=None, verdicts=())
    # Whether a request is complete within the library is not known.
    program = replace(program, expected=[[replace(one, certain=False) for one in ones] for ones in program.expected])
    environment = {**_environment(any_mpi), "LD_PRELOAD": str(recorder.library())}
    with priority.Job(
        program.compiled(any_mpi),
        ranks=program.ranks,
        launcher=any_mpi.mpirun,
        timeout=READY_TIMEOUT,
        options=any_mpi.options,
        env=environment,
    ) as job:
        deadline = time.monotonic() + REST_TIMEOUT
        if is_other and ON_INTEL[path.stem] is None:
            processes.wait_until(lambda: processes.state(job.launcher_pid) in (None, "Z"), "the job to end")
            return
        while True:
            result = mpi_queues("diagnose", "--job", str(job.launcher_pid), "--source", "recorder", "--format", "json")
            assert result.status in (0, 1), str(result)
            said = json.loads(result.out)
            assert all(one["source"]["kind"] == "recorder" for one in said["processes"])
            missing = program.missing(said)
            if is_other and [one["kind"] for one in said["diagnosis"]][:1] != [ON_INTEL[path.stem]]:
                missing.append(f"{ON_INTEL[path.stem]} is not found first")
            if not missing:
                return
            assert time.monotonic() < deadline, "\n".join([*missing, json.dumps(said["diagnosis"], indent=1)])


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 30))])
def test_what_is_said_of_random_programs_is_so(any_mpi: MpiBuild, seed: int, tmp_path: Path) -> None:
    if any_mpi.implementation == "Intel MPI" and seed == 21:
        pytest.skip(
            "Intel MPI lets a send of a megabyte go before its receiver asks: ranks rest elsewhere than the model says"
        )
    scripts = script_maker.stuck_scripts(seed, naps=False)
    environment = {**_environment(any_mpi), "LD_PRELOAD": str(recorder.library())}
    with scripted.ScriptedJob(any_mpi, scripts, tmp_path, env=environment) as job:
        end = scripted.rest(job, scripts, seed)
        assert end is not None
        wrong, said = scripted.disagreements(job, end, "--source", "recorder")
        shown = "\n".join(" ".join(map(str, script)) for script in scripts)
        assert not wrong, "\n".join([shown, *wrong, json.dumps(said["diagnosis"], indent=1), str(said["verdict"])])
