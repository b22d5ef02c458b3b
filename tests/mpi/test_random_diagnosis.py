"""Diagnoses of random programs, against what the rules of MPI say of these.

``MPI_QUEUES_SEEDS=100-300`` takes other programs than the usual ones.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import List, Sequence

import pytest
from support import builds, raising_scripts, script_maker, scripted
from support.builds import MpiBuild
from support.python_jobs import marked
from support.scripts import Script

#: Where the Python program raises what a script plans, whichever rank it is.
(RAISED,) = marked("scripted", "raised")[0]

MPIS = {"openmpi": builds.DEBIAN, "mpich": builds.DEBIAN_MPICH, **{name: name for name in builds.USUAL_OVER}}

#: How often a program that never ends is looked at, at moments that its own pace decides.
LOOKS = 2


def _seeds(usual: int) -> List[int]:
    first, _, last = os.environ.get("MPI_QUEUES_SEEDS", f"0-{usual}").partition("-")
    return list(range(int(first), int(last)))


def _build(mpi: str) -> MpiBuild:
    try:
        return builds.BUILDS[MPIS[mpi]]()
    except builds.Missing as missing:
        pytest.fail(str(missing))


def _possible(build: MpiBuild, scripts: List[Script]) -> List[Script]:
    """Over the mtl ofi of Open MPI 4.1 a synchronous send never ends whose message MPI_Mrecv takes: it acknowledges
    none (ompi_mtl_ofi_mrecv_callback, ompi/mca/mtl/ofi/mtl_ofi.h, v4.1.4; v5.0.10 does)."""
    over_ofi = build.transport is not None and build.transport.told == "cm" and build.series == "4.1"
    return script_maker.without_matched_probes(scripts) if over_ofi else scripts


def _shown(scripts: Sequence[Script], *more: object) -> str:
    return "\n".join([*(" ".join(map(str, script)) for script in scripts), *map(str, more)])


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("seed", _seeds(6))
@pytest.mark.usual("0-openmpi", "1-mpich")
def test_what_is_said_of_ranks_at_rest_is_so(seed: int, mpi: str, preflight: None, tmp_path: Path) -> None:
    # Ranks of every second one are at times outside MPI for a moment, and looked at on their way too.
    build = _build(mpi)
    scripts = _possible(build, script_maker.stuck_scripts(seed, naps=seed % 2 == 0))
    with scripted.ScriptedJob(build, scripts, tmp_path) as job:
        early = job.diagnose_all() if seed % 2 == 0 else None
        end = scripted.rest(job, scripts, seed)
        places = [job.last(rank) for rank in range(len(scripts))]
        assert end is not None, _shown(scripts, "the ranks are not where they must be", places)
        if early is not None:
            wrong = scripted.not_so_later(job, early, end)
            assert not wrong, _shown(scripts, *wrong, json.dumps(early["diagnosis"], indent=1), early["verdict"])
        wrong, said = scripted.disagreements(job, end)
        assert not wrong, _shown(scripts, *wrong, json.dumps(said["diagnosis"], indent=1), said["verdict"])


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("seed", _seeds(2))
@pytest.mark.slow
def test_nobody_who_goes_on_is_told_to_be_stuck(seed: int, mpi: str, preflight: None, tmp_path: Path) -> None:
    build = _build(mpi)
    scripts = _possible(build, script_maker.endless_scripts(seed))
    with scripted.ScriptedJob(build, scripts, tmp_path) as job:
        for _ in range(LOOKS):
            said = job.diagnose_all()
            told = [one for one in said["diagnosis"] if one["kind"] != "slow rank"]
            assert said["verdict"]["state"] in ("running", "waiting"), _shown(scripts, said["verdict"])
            assert not told, _shown(scripts, json.dumps(told, indent=1))


@pytest.mark.parametrize("seed", _seeds(6))
@pytest.mark.usual("1")
def test_an_exception_that_leaves_a_part_out_is_told(
    debian_mpi: MpiBuild, seed: int, preflight: None, tmp_path: Path
) -> None:
    planned = raising_scripts.raising_scripts(seed)
    with scripted.ScriptedJob(debian_mpi, planned.scripts, tmp_path, python=True) as job:
        end = scripted.rest(job, planned.done, seed)
        places = [job.last(rank) for rank in range(len(planned.done))]
        assert end is not None, _shown(planned.scripts, "the ranks are not where they must be", places)
        wrong, said = scripted.disagreements(job, end)
        verb = "has an unhandled" if planned.how == raising_scripts.UNHANDLED else "handles"
        words = f"rank {planned.rank} {verb} Planned from fail at scripted.py:{RAISED.line}"
        if words not in said["verdict"]["headline"]:
            wrong.append(f"not in the headline: {words}")
        wrong += [f"is over and told: {one}" for one in said["diagnosis"] if "ValueError" in json.dumps(one)]
        assert not wrong, _shown(planned.scripts, *wrong, json.dumps(said["diagnosis"], indent=1), said["verdict"])
