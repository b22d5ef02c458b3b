"""What only one browser is asked for: the dark scheme, paper, a narrow screen, no JavaScript."""

from __future__ import annotations

import pathlib
from typing import Any, Iterator

import mpi_queues
import pytest
from page.browser import Chromium, chromium
from page.made import missing_in_barrier, ring
from support.paths import PACKAGE

DEMO = PACKAGE / "data" / "demo.mpirec"


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with chromium() as found:
        yield found


def media(browser: Chromium, **wanted: Any) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)


@pytest.mark.slow
def test_axe_finds_nothing_in_the_dark(browser: Chromium, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "hang.html"
    media(browser, features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        for made in (mpi_queues.load(DEMO), missing_in_barrier(200)):
            made.report(path)
            browser.open(path)
            browser.press(".graph .node", 1)
            browser.press(".frame", 1)
            browser.run("for (const one of document.querySelectorAll('details')) one.open = true;")
            assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 24)"
            assert browser.faults() == []
    finally:
        media(browser, features=[])


def test_paper_has_all_that_is_read(browser: Chromium, tmp_path: pathlib.Path) -> None:
    """In light colours, with nothing cut off, nothing closed that is read, and nothing that can only be pressed."""
    path = tmp_path / "hang.html"
    diagnosis = mpi_queues.load(DEMO).diagnose()
    diagnosis.report(path)
    browser.open(path)
    media(browser, media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        assert browser.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        browser.run("dispatchEvent(new Event('beforeprint'))")
        seen: str = browser.run("return document.body.innerText")
        for finding in diagnosis.findings:
            assert finding.summary in seen
            assert all(sentence in seen for sentence in finding.evidence)
        for words in ("S 1", "R 1 · U 1", "#27"):
            assert words in browser.run("return document.querySelector('#matrix-view').innerText")
        assert "Their messages" not in seen and "such as 0-3,7" not in seen and "Copy" not in seen
        cut = browser.run(
            "return [...document.querySelectorAll('pre, table, svg.graph')].filter((one) => one.offsetParent !== null"
            " && one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML.slice(0, 80))"
        )
        assert cut == []
        browser.run("dispatchEvent(new Event('afterprint'))")
        assert browser.run("return document.querySelectorAll('#findings details[open]').length") == 0
    finally:
        media(browser, media="", features=[])


def test_a_narrow_screen_scrolls_only_within_views(browser: Chromium, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "hang.html"
    narrow = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    try:
        for made in (mpi_queues.load(DEMO), missing_in_barrier(200), ring(9)):
            made.report(path)
            browser.open(path)
            assert browser.run("return document.documentElement.scrollWidth") <= 360
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


#: Words that are in two lines, as far as they would fit into one.
BROKEN = """
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode;
  const holder = node.parentElement;
  if (holder.closest('svg, script, style, pre, .unseen, noscript, select') || !holder.getClientRects().length) continue;
  for (const word of node.data.matchAll(/[^\\s/-]+/g)) {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
    if (lines.size > 1 && word[0].length < 30) found.push(word[0]);
  }
}
return found;
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_words_do_not_break(browser: Chromium, tmp_path: pathlib.Path, width: int) -> None:
    path = tmp_path / "hang.html"
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 400}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for made in (mpi_queues.load(DEMO), missing_in_barrier(200), ring(4).diagnose(ring(4), interval_ms=500)):
            made.report(path)
            browser.open(path)
            browser.run("for (const one of document.querySelectorAll('details')) one.open = true;")
            assert browser.run(BROKEN) == []
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_narrow_screen_shows_that_drawings_scroll(browser: Chromium, tmp_path: pathlib.Path) -> None:
    """By a scroll bar that is there before anybody scrolls, and by edges that fade."""
    path = tmp_path / "hang.html"
    narrow = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    faded = (
        "const style = getComputedStyle(document.querySelector(arguments[0]));"
        "return ['left', 'right'].map((side) => style.maskImage.startsWith('linear-gradient(to right')"
        " && parseFloat(style.getPropertyValue(`--fade-${side}`)) > 1)"
    )
    try:
        missing_in_barrier(200).report(path)
        browser.open(path)
        for view in ("#waits .scroll", "#stacks .scroll"):
            bar, more = browser.run(
                "const one = document.querySelector(arguments[0]);"
                "return [one.offsetHeight - one.clientHeight, one.scrollWidth - one.clientWidth]",
                view,
            )
            assert bar >= 6 and more > 40
            for place, wanted in ((0, [False, True]), (more // 2, [True, True]), (more, [True, False])):
                browser.run("document.querySelector(arguments[0]).scrollLeft = arguments[1]", view, place)
                browser.until(
                    "const one = document.querySelector(arguments[0]).classList;"
                    "return ['more-left', 'more-right'].every((name, at) => one.contains(name) === arguments[1][at])",
                    view,
                    wanted,
                )
                assert browser.run(faded, view) == wanted
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_cause_is_red_in_the_dark_as_well(browser: Chromium, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "hang.html"
    missing_in_barrier(64).report(path)
    media(browser, features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        browser.open(path)
        found = browser.run(
            "return [...document.querySelectorAll('.node, .frame')]"
            ".map((one) => [one.dataset.ranks, getComputedStyle(one.querySelector('rect')).stroke])"
        )
    finally:
        media(browser, features=[])
    red, amber = "rgb(255, 138, 122)", "rgb(227, 179, 65)"
    assert {ranks for ranks, stroke in found if stroke == red} == {"3"}
    assert {ranks for ranks, stroke in found if stroke == amber} == {"0-2,4-63"}


def test_without_javascript_the_cause_is_there(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "hang.html"
    diagnosis = mpi_queues.load(DEMO).diagnose()
    diagnosis.report(path)
    with chromium("--blink-settings=scriptEnabled=false") as plain:
        plain.open(path, script=False)
        # The driver's own scripts do not run either: the page's text is asked of the browser.
        tree = plain.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})
        said = " ".join(node.get("name", {}).get("value", "") for node in tree["nodes"] if not node["ignored"])
        assert diagnosis.headline in said
        assert all(finding.summary in said for finding in diagnosis.findings)
        assert "rank 1" in said and "send tag 20 on" in said
        assert "need JavaScript" in said
        assert "Their messages" not in said
