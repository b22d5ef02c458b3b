"""What views of a report have in common: the colour of the cause, the light on a rank, one search, zoom and drag."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict, List, Set

import mpi_queues
import pytest
from page.acts import Page
from page.made import busy, communicator, missing_in_barrier, operation, process, queue, ring, snapshot, wrong_tag
from page.views import ranks_in


def with_history(made: mpi_queues.Snapshot, calls: int = 6) -> mpi_queues.Snapshot:
    """As if each rank had run under the flight recorder."""
    content = json.loads(made.to_json())
    for one in content["processes"]:
        last = one["calls"][0]["function"]
        functions = [*("MPI_Isend", "MPI_Irecv") * (calls // 2), last]
        kept = [
            {"number": number, "began_at": f"2026-11-20T15:00:{number:02}.000Z", "function": function}
            for number, function in enumerate(functions, 1)
        ]
        history = {"kernel_thread": 7, "begun": len(kept), "current": len(kept), "calls": kept}
        one["history"] = {"threads": [history]}
    return mpi_queues.Snapshot.from_json(json.dumps(content))


@pytest.fixture
def report(page: Page, tmp_path: pathlib.Path) -> Page:
    """The open report of 64 ranks, of which rank 3 is missing in a barrier."""
    return opened(page, with_history(missing_in_barrier(64)), tmp_path)


def opened(page: Page, made: mpi_queues.Snapshot, place: pathlib.Path) -> Page:
    path = place / "hang.html"
    made.report(path)
    page.requests()
    page.complaints()
    page.open(path)
    return page


#: The ranks of what has a colour of the style, of all views.
COLOURED = """
const probe = document.createElement('i');
document.body.append(probe);
probe.style.color = `var(--${arguments[0]})`;
const wanted = getComputedStyle(probe).color;
probe.remove();
const found = [];
for (const one of document.querySelectorAll('main *:is(rect, text, tspan, span, mark, button, td, li)')) {
  const before = getComputedStyle(one, '::before');
  const style = getComputedStyle(one);
  const inked = one.namespaceURI.endsWith('svg') ? [style.fill, style.stroke] : [style.color];
  if (before.content !== 'none' && before.content !== 'normal') inked.push(before.color);
  if (!inked.includes(wanted) || one.closest('.legend, .state') || one.matches('.share, .of-cause')) continue;
  const holder = one.closest('[data-ranks]');
  const view = one.closest('section').id;
  found.push([view, holder ? holder.dataset.ranks : 'none', one.outerHTML.slice(0, 120)]);
}
return found;
"""


def coloured(page: Page, colour: str) -> Dict[str, Set[int]]:
    """The ranks that have it, by view."""
    found: Dict[str, Set[int]] = {}
    for view, ranks, element in page.run(COLOURED, colour):
        assert ranks != "none", element
        found.setdefault(view, set()).update(ranks_in(ranks))
    return found


def test_red_is_the_cause_in_all_views(report: Page) -> None:
    """And amber who waits as a result. Neither is told by colour alone."""
    views = {"cause", "waits", "stacks", "matrix", "ranks", "time-line"}
    others = set(range(64)) - {3}
    assert coloured(report, "accent") == {view: {3} for view in (*views, "messages")}
    waiting = coloured(report, "result")
    # Lists and lines are shown a hundred or forty at a time.
    assert waiting.pop("time-line") == set(range(40)) - {3}
    assert waiting == dict.fromkeys(views - {"time-line"}, others)
    marks = report.run(
        "return ['.node', '.frame'].map((kind) => [...document.querySelectorAll(kind)]"
        ".map((one) => [one.dataset.ranks, [...one.textContent].filter((letter) => '●○'.includes(letter)).join('')]))"
    )
    assert marks == [
        [["0-2,4-63", "○"], ["3", "●"]],
        [["0-63", "●"], ["0-2,4-63", "○"], ["3", "●"]],
    ]
    roles = {row[0]: row[4] for row in report.rows("#ranks-view")}
    assert roles["3"] == "of the cause" and roles["4"] == "waits as a result"
    # Where the cause's ranks stand among others, the frame names them.
    assert report.texts(".frame .of-cause") == ["● rank 3"]


def test_a_rank_is_lit_in_all_views(report: Page) -> None:
    def lit() -> List[str]:
        found: List[str] = report.run(
            "return [...new Set([...document.querySelectorAll('.lit')].map((one) => one.closest('section').id))].sort()"
        )
        return found

    views = ["cause", "findings", "matrix", "messages", "ranks", "stacks", "time-line", "waits"]
    rows = report.texts("#ranks-view tbody td:first-child")
    for selector, at in ((".node.cause", 0), (".frame.cause", 0), ("#ranks-view tbody tr", rows.index("3"))):
        report.point(selector, at)
        assert lit() == views, selector
        assert report.run("return [...document.querySelectorAll('tr.lit td:first-child')].length") == 4
        assert report.texts(".node.lit .who") == ["rank 3"]
        report.point("h1")
        assert lit() == []
    # By the keyboard.
    report.run("document.querySelectorAll('#ranks-view .rank')[3].focus()")
    assert lit() == views
    report.run("document.querySelector('.node.held').focus()")
    assert "messages" not in lit() and report.texts(".node.lit .who") == ["63 ranks: 0-2,4-63"]
    report.run("document.querySelector('#search').focus()")
    assert lit() == []


def test_pointing_at_a_rank_walks_no_document(page: Page, tmp_path: pathlib.Path) -> None:
    opened(page, missing_in_barrier(1024), tmp_path)
    page.run(
        "window.asked = 0;"
        "for (const name of ['querySelector', 'querySelectorAll', 'getElementsByClassName', 'getElementById']) {"
        "  for (const of of [Document.prototype, Element.prototype]) {"
        "    const own = of[name];"
        "    if (own) of[name] = function (...given) { window.asked += 1; return own.apply(this, given); };"
        "  }"
        "}"
        "window.point = (one) => one.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));"
        "window.rows = [...document.querySelectorAll('#ranks-view tbody tr')];"
        "window.asked = 0;"
    )
    assert page.run("for (const row of window.rows) window.point(row); return window.rows.length") == 100
    assert page.run("return window.asked") == 0
    assert page.run("return document.querySelectorAll('#ranks-view .lit').length") == 1


def test_one_search_looks_into_all_views(report: Page) -> None:
    def hits() -> Dict[str, int]:
        told = [one.rsplit(" ", 1) for one in report.texts("#hit-places a")]
        return {name: int(count) for name, count in told}

    def found(text: str) -> Dict[str, int]:
        (before,) = report.texts("#hits")
        report.search(text)
        report.until("return document.getElementById('hits').textContent !== arguments[0]", before)
        (total,) = report.texts("#hits")
        assert total.split(" ")[0] == str(sum(hits().values()))
        return hits()

    # The rank's box, row and calls; all that is about it, and its message.
    once = dict.fromkeys(("graph", "communicators", "messages", "ranks"), 1)
    assert found("3") == {**once, "findings": 2, "stacks": 2, "time line": 7}
    assert report.texts(".node.hit .who") == ["rank 3"] and len(report.texts("#ranks-view tbody tr")) == 1
    assert len(report.texts(".bars .now")) == 1
    # A function, whatever its case, here a part of a word of findings as well; a file; a host.
    assert found("COLLECT") == {**once, "findings": 2, "stacks": 1, "time line": 7}
    lines = {"communicators": 2, "time line": 63 * 7, "ranks": 63}
    assert found("halo.c:51") == {"graph": 1, "findings": 2, "stacks": 1, **lines}
    assert found("mpi_irecv") == {"time line": 64 * 3}
    assert report.run("return document.querySelectorAll('.bars .hit').length") == 40 * 3
    assert found("node0")["ranks"] == 64
    assert found("nowhere") == {}
    assert report.texts("#hits") == ["0 hits"] and report.texts("#ranks-view tbody tr") == []
    assert report.complaints() == []


def test_who_is_outside_mpi_is_found(page: Page, tmp_path: pathlib.Path) -> None:
    opened(page, busy(3), tmp_path)
    page.search("outside mpi")
    page.until("return document.getElementById('hits').textContent !== ''")
    assert "ranks 3" in page.texts("#hit-places a")


def test_the_search_by_the_keyboard(report: Page) -> None:
    report.keys(".node", "/", "c", "o", "l", "l", "e", "c", "t")
    report.until("return document.getElementById('hits').textContent.startsWith('14 ')")
    assert report.run("return document.activeElement.id") == "search"
    # A slash in the field is a letter.
    report.keys("#search", "/")
    assert report.run("return document.getElementById('search').value") == "collect/"
    report.keys("#search", "Escape")
    assert report.run("return document.getElementById('search').value") == ""
    assert report.texts("#hits") == [""] and report.texts("#hit-places a") == []
    assert report.run("return document.querySelectorAll('.hit').length") == 0
    assert len(report.texts("#ranks-view tbody tr")) == 64
    report.keys("#search", "Escape")
    assert report.run("return document.activeElement.id") == ""
    # A rank in a list is a button that asks for it.
    report.keys("#ranks-view tr:nth-child(4) .rank", "Enter")
    assert report.run("return document.getElementById('search').value") == "rank 3"
    assert report.texts("#ranks-view tbody td:first-child") == ["3"]


WIDTHS = "return ['.graph', '.bars'].map((one) => Number(document.querySelector(one).getAttribute('width')))"


def test_drawings_are_zoomed_and_moved(report: Page) -> None:
    graph, line = "#waits .scroll", "#time-line .scroll"
    first: List[float] = report.run(WIDTHS)
    report.press("#waits .zoom button", 2)
    report.press("#time-line .zoom button", 2)
    assert report.run(WIDTHS) == [pytest.approx(first[0] * 1.25), pytest.approx(114 + (first[1] - 114) * 1.25)]
    assert report.texts("#waits .zoom button")[1] == "125%"
    # By keys, where the focus is in a drawing, and by the wheel with Ctrl.
    report.keys(graph, "+", "+", "+", "+", "+", "+")
    report.keys(line, "-", "0", "+", "+")
    wide: List[float] = report.run(WIDTHS)
    assert wide[0] > 4 * first[0] and wide[1] == pytest.approx(114 + (first[1] - 114) * 1.25**2)
    wheel = (
        "dispatchEvent(new WheelEvent('wheel', {deltaY: -200, ctrlKey: arguments[1], bubbles: true, cancelable: true}))"
    )
    assert report.run(f"return document.querySelector(arguments[0]).{wheel}", graph, False) is True
    assert report.run(WIDTHS) == wide
    assert report.run(f"return document.querySelector(arguments[0]).{wheel}", graph, True) is False
    assert report.run(WIDTHS)[0] > wide[0]
    for holder in (graph, line):
        assert _moved(report, holder, lambda at: report.keys(at, "ArrowLeft", "ArrowLeft")) == -120
        assert _moved(report, holder, lambda at: report.keys(at, "ArrowRight")) == 60
        report.run(
            "document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", holder
        )
        assert _moved(report, holder, lambda at: report.drag(at, -80, 0)) == 80
        assert _moved(report, holder, lambda at: report.drag(at, 50, 0)) == -50
    # What was dragged is not pressed; whose a line is stays in sight.
    assert report.texts("#details") == [""] and report.texts("#time-line-view .details") == [""]
    assert report.run(
        "const names = document.querySelector('.names');"
        "return Number(names.getAttribute('x')) === names.closest('.scroll').scrollLeft"
    )
    report.press("#waits .zoom button", 3)
    report.press("#time-line .zoom button", 1)
    fit: List[float] = report.run(WIDTHS)
    assert fit[1] == first[1] and fit[0] <= report.run("return document.querySelector('#waits .scroll').clientWidth")
    assert report.complaints() == []


def _moved(page: Page, holder: str, action: Any) -> int:
    at = "return Math.round(document.querySelector(arguments[0]).scrollLeft)"
    page.run(
        "const one = document.querySelector(arguments[0]); one.scrollLeft = (one.scrollWidth - one.clientWidth) / 2",
        holder,
    )
    before: int = page.run(at, holder)
    action(holder)
    after: int = page.run(at, holder)
    return after - before


def test_axe_finds_nothing_while_views_are_lit_searched_and_zoomed(report: Page) -> None:
    report.search("collect")
    report.until("return document.getElementById('hits').textContent !== ''")
    report.press("#waits .zoom button", 2)
    report.point("#ranks-view tbody tr")
    assert report.run("return document.querySelectorAll('tr.lit').length") > 2
    assert report.faults() == []


def test_counts_are_without_the_operations_of_the_mpi_library(page: Page, tmp_path: pathlib.Path) -> None:
    """In a barrier the library has receives of its own."""
    own = operation(0, None, internal=True)
    ranks = [
        process(0, 2, communicator(0, 2, pending_receives=queue(own, own, operation(1, 5)))),
        process(1, 2, communicator(1, 2, unexpected_messages=queue(own))),
    ]
    opened(page, snapshot(ranks), tmp_path)
    assert page.rows("#matrix-view") == [["rank 0", "R 1"], ["rank 1", ""]]
    assert page.texts("#matrix-view .note") == ["Not counted: MPI's own 3 operations."]
    assert page.texts("#messages-view .note[role=status]") == ["1 row"]
    assert page.texts("#messages-view > .note") == ["MPI's own 3 operations are listed where you ask for them."]
    page.fill("#messages-view", "MPI's own", "yes")
    page.until("return document.querySelectorAll('#messages-view tbody tr').length === 4")
    # Where there are none, nothing is said.
    opened(page, wrong_tag(), tmp_path)
    assert page.texts("#matrix-view .note") == [] and page.texts("#messages-view > .note") == [""]


#: Lines across the page, as far as they are seen: their places.
RULES = """
const found = [];
for (const one of document.querySelectorAll('body *:not(svg *, button, input, select)')) {
  const style = getComputedStyle(one);
  const box = one.getBoundingClientRect();
  if (box.width < 300) continue;
  if (parseFloat(style.borderTopWidth) && style.borderTopStyle !== 'none') found.push(box.top);
  if (parseFloat(style.borderBottomWidth) && style.borderBottomStyle !== 'none') found.push(box.bottom);
  const after = getComputedStyle(one, '::after');
  if (after.content !== 'none' && parseFloat(after.borderTopWidth)) found.push(box.bottom);
}
return [...new Set(found.map(Math.round))].sort((one, other) => one - other);
"""


def test_no_rule_is_drawn_twice(page: Page, tmp_path: pathlib.Path) -> None:
    """Between two lines across the page there is text."""
    for made in (with_history(missing_in_barrier(8)), ring(4)):
        opened(page, made, tmp_path)
        rules: List[int] = page.run(RULES)
        assert len(rules) > 8
        assert [(one, other) for one, other in zip(rules, rules[1:]) if 1 < other - one < 24] == []
