"""Reports of programs with known bugs: whatever the kind of finding, each view opens and says what the JSON says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from page import views
from page.acts import Page
from recordings import corpus
from support import diagnosis, recorder
from support.builds import MpiBuild
from support.cli import mpi_queues

BUGS = [path for path in diagnosis.programs("bugs") if diagnosis.load(path, False) is not None]


def _opened(page: Page, report: Path) -> Any:
    """Opens it; what the JSON in it says."""
    page.requests()
    page.complaints()
    page.open(report)
    return json.loads(mpi_queues("diagnose", "--recording", str(report), "--format", "json").out)


@pytest.mark.parametrize("path", BUGS, ids=lambda path: path.stem)
@pytest.mark.usual("chromium-chain_to_cycle")
def test_every_view_of_a_bug_opens(path: Path, page: Page, tmp_path: Path) -> None:
    recording, report = tmp_path / "hang.mpirec", tmp_path / "hang.html"
    recording.write_bytes(corpus.read("openmpi").data(f"bugs/{path.stem}"))
    result = mpi_queues("report", "--recording", str(recording), "-o", str(report))
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
