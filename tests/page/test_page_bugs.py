"""Reports of programs with known bugs: whatever the kind of finding, each view opens and says what the JSON says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
from page.browser import Page, chromium
from support import diagnosis
from support.builds import MpiBuild
from support.cli import mpi_queues

#: Of each way to be stuck one; the others are thorough.
USUAL = ("chain_to_cycle.c", "missing_in_barrier.c", "start_before_post.c")


def _cases() -> List[Any]:
    cases = []
    for path in diagnosis.programs("bugs"):
        if diagnosis.load(path, False) is not None:
            marks = () if path.name in USUAL else (pytest.mark.thorough,)
            cases.append(pytest.param(path, id=path.stem, marks=marks))
    return cases


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with chromium() as found:
        yield found


@pytest.mark.parametrize("path", _cases())
def test_every_view_of_a_bug_opens(path: Path, debian_mpi: MpiBuild, page: Page, tmp_path: Path) -> None:
    program = diagnosis.load(path, False)
    assert program is not None
    report = tmp_path / "hang.html"
    with program.start(debian_mpi) as job:
        result = mpi_queues("report", "--job", str(job.launcher_pid), "-o", str(report))
    assert result.status in (0, 1), str(result)
    told: Dict[str, Any] = json.loads(mpi_queues("diagnose", "--recording", str(report), "--format", "json").out)
    page.requests()
    page.complaints()
    page.open(report)
    assert page.texts(".headline") == [told["verdict"]["headline"]]
    rows = page.rows("#findings")
    assert [row[0].split(" (possible)")[0].removesuffix("in consequence") for row in rows] == [
        one["kind"] for one in told["diagnosis"]
    ]
    for row, finding in zip(rows, told["diagnosis"]):
        assert finding["summary"] in row[2]
        assert all(sentence in row[2] for sentence in finding["evidence"])
    # All ranks are in the graph, each once, those of the cause marked; each box opens.
    nodes = json.loads(page.texts("#edges")[0])["nodes"]
    members = sorted(rank for node in nodes for rank in _ranks(node["ranks"]))
    assert members == sorted(process["rank"] for process in told["processes"])
    marked = {rank for at, node in enumerate(nodes) for rank in _ranks(node["ranks"]) if at in _causes(page)}
    cause = told["diagnosis"][told["verdict"].get("finding") or 0] if told["diagnosis"] else {"ranks": []}
    moved = {one["rank"] for one in told["verdict"].get("movement", []) if one["state"] == "moved"}
    assert marked == set(cause["ranks"]) - moved
    for at, node in enumerate(nodes):
        page.press(".graph .node", at)
        assert node["who"] in page.texts("#details")[0]
    for at in range(len(page.texts(".frame"))):
        page.press(".frame", at)
        assert "There: ranks" in page.texts("#frame")[0]
    shown = sum(
        len(communicator[kind]["operations"])
        for process in told["processes"]
        for communicator in process["communicators"]
        for kind in ("pending_sends", "pending_receives", "unexpected_messages")
    )
    page.run(
        "const own = document.querySelector('#messages-view input[type=checkbox]'); own.checked = true;"
        "own.dispatchEvent(new Event('change'))"
    )
    assert page.texts("#messages-view .note")[0].startswith(("1 row", f"{shown:,} row", "100 of"))
    assert page.requests() == [] and page.complaints() == []


def _ranks(written: str) -> List[int]:
    found: List[int] = []
    for run in written.split(","):
        first, _, last = run.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _causes(page: Page) -> List[int]:
    return [
        int(at)
        for at in page.run("return [...document.querySelectorAll('.graph .node.cause')].map((one) => one.dataset.node)")
    ]
