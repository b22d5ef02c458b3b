"""The same pages in Firefox: they are read, open, and ask nobody for anything."""

from __future__ import annotations

import pathlib
from typing import Iterator

import mpi_queues
import pytest
from page.firefox import Firefox, firefox
from page.made import hostile_names, missing_in_barrier, named
from support.paths import PACKAGE


@pytest.fixture(scope="module")
def browser() -> Iterator[Firefox]:
    with firefox() as found:
        yield found


def test_a_report_is_shown(browser: Firefox, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "hang.html"
    diagnosis = mpi_queues.load(PACKAGE / "data" / "demo.mpirec").diagnose()
    diagnosis.report(path)
    browser.open(path)
    assert browser.run("document.querySelector('.headline').textContent") == diagnosis.headline
    assert browser.run("document.querySelectorAll('#findings tbody tr').length") == len(diagnosis.findings)
    assert browser.run("document.querySelectorAll('#messages-view tbody tr').length") == 4
    browser.run("document.querySelector('.graph .node').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    assert "rank 0" in browser.run("document.getElementById('details').textContent")
    # Compressed tables.
    missing_in_barrier(600).diagnose().report(path)
    browser.open(path)
    assert browser.run("document.querySelectorAll('#matrix-view tbody tr').length") == 2
    named("".join(hostile_names(30))).diagnose().report(path)
    browser.open(path)
    assert browser.run("document.querySelectorAll('img, b, iframe').length") == 0
    assert browser.run("[...document.scripts].filter((one) => !one.type).length") == 1
    assert browser.requests == []
    assert browser.complaints == []
