"""What ``mpi info`` says can be known of an MPI is what docs/mpis.md says, which is measured."""

from __future__ import annotations

import json
from typing import Callable

import pytest
from debuggers import Gdb
from support import known
from support.builds import MpiBuild
from support.jobs import Job

StartJob = Callable[..., Job]


def _assert_told(build: MpiBuild, job: Job) -> None:
    [info] = json.loads(Gdb().at_rank(job, 0, "mpi info -format json"))
    facts = known.alone(build.id).levels
    expected = {fact: level for fact, level in facts.items() if fact.split(".")[0] in known.TOLD}
    assert expected
    assert known.told(info["exactness"], facts) == expected
    assert all(each["reason"] for each in info["exactness"] if each["level"] != known.EXACT)


@pytest.mark.slow
def test_info_says_of_open_mpi_what_the_table_says(mpi_build: MpiBuild, start_job: StartJob) -> None:
    _assert_told(mpi_build, start_job(mpi_build, "truth_persistent", ranks=2))


def test_info_says_of_mpich_what_the_table_says(mpich_build: MpiBuild, start_job: StartJob) -> None:
    _assert_told(mpich_build, start_job(mpich_build, "truth_persistent", ranks=2))


def test_info_says_of_transports_what_the_table_says(transport_build: MpiBuild, start_job: StartJob) -> None:
    _assert_told(transport_build, start_job(transport_build, "truth_persistent", ranks=2))
