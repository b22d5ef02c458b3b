"""Reports of programs with known bugs: whatever the kind of finding, each view opens and says what the JSON says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, List

import pytest
from page import views
from page.acts import Page
from support import diagnosis, recorder
from support.builds import MpiBuild
from support.cli import mpi_queues

#: Of each way to be stuck one; the others are thorough.
USUAL = ("chain_to_cycle.c", "missing_in_barrier.c", "start_before_post.c")


def _cases() -> List[Any]:
    cases = []
    for path in diagnosis.programs("bugs"):
        if diagnosis.load(path, False) is not None:
            marks = () if path.name in USUAL else (pytest.mark.slow,)
            cases.append(pytest.param(path, id=path.stem, marks=marks))
    return cases


def _opened(page: Page, report: Path) -> Any:
    """Opens it; what the JSON in it says."""
    page.requests()
    page.complaints()
    page.open(report)
    return json.loads(mpi_queues("diagnose", "--recording", str(report), "--format", "json").out)


@pytest.mark.parametrize("path", _cases())
@pytest.mark.usual("chromium-chain_to_cycle")
def test_every_view_of_a_bug_opens(path: Path, debian_mpi: MpiBuild, page: Page, tmp_path: Path) -> None:
    program = diagnosis.load(path, False)
    assert program is not None
    report = tmp_path / "hang.html"
    with program.start(debian_mpi) as job:
        result = mpi_queues("report", "--job", str(job.launcher_pid), "-o", str(report))
    assert result.status in (0, 1), str(result)
    views.compare(page, _opened(page, report))


@pytest.mark.slow
def test_the_time_line_is_what_the_flight_recorder_kept(debian_mpi: MpiBuild, page: Page, tmp_path: Path) -> None:
    """Of a job that really ran under it, against the JSON and against what the program wrote down."""
    report = tmp_path / "hang.html"
    with recorder.Job(debian_mpi, recorder.compiled(debian_mpi, "posts.c"), "5", "120", ranks=2) as job:
        for rank in range(2):
            job.waiting(rank, "MPI_Recv")
        result = mpi_queues("report", "--job", str(job.launcher_pid), "-o", str(report))
        begun = [job.record(rank).call_of().number for rank in range(2)]
    assert result.status in (0, 1), str(result)
    told = _opened(page, report)
    views.compare(page, told)
    views.compare_time_line(page, told)
    # Both stand in the receive that the program posts last.
    open_calls = [(rank, call) for rank, _, call, current in views.calls_in(told) if call["number"] in current]
    assert [(rank, call["function"], call["tag"], call["number"]) for rank, call in open_calls] == [
        (rank, "MPI_Recv", 31999, begun[rank]) for rank in range(2)
    ]
    assert len(page.texts(".bars .now")) == 2
    assert page.requests() == [] and page.complaints() == []
