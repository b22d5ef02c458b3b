"""Each view of a report, opened, clicked, filtered, ordered, and compared with the JSON of the same diagnosis."""

from __future__ import annotations

import operator
import re
import time
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from page.acts import Page

Json = Dict[str, Any]

QUEUES = {"pending_sends": "send", "pending_receives": "receive", "unexpected_messages": "unexpected"}


def ranks_in(written: str) -> List[int]:
    """The ranks of a set, in the notation of node sets or in words."""
    found: List[int] = []
    for run in re.split(r",\s*|\s+and\s+", written) if written else ():
        first, _, last = run.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


@dataclass(frozen=True)
class Message:
    """An operation, as the JSON has it."""

    rank: int
    queue: str
    tag: Optional[int]
    communicator: str
    call: str
    status: str
    internal: bool


def messages(told: Json) -> List[Message]:
    """All of them in the order of the JSON."""
    return [
        Message(
            process["rank"],
            word,
            entry["actual_tag"]
            if entry["actual_tag"] is not None
            else None
            if entry["tag_wild"]
            else entry["desired_tag"],
            communicator["name"],
            ((entry["call"] or "") + (" (MPI's own)" if entry["internal"] else "")).strip(),
            entry["status"].replace("_", " "),
            entry["internal"],
        )
        for process in told["processes"]
        for communicator in process["communicators"]
        for kind, word in QUEUES.items()
        for entry in communicator[kind]["operations"]
    ]


def compare(page: Page, told: Json) -> None:
    """All views of an open page; the time line is compared by :func:`compare_time_line`."""
    _cause(page, told)
    _findings(page, told)
    _graph(page, told)
    _movement(page, told)
    _stacks(page, told)
    _matrix(page, told)
    _messages(page, told)
    _ranks(page, told)
    assert page.faults() == []
    assert page.requests() == []
    assert page.complaints() == []


def _cause(page: Page, told: Json) -> None:
    assert page.texts(".headline") == [told["verdict"]["headline"]]
    assert page.texts("#cause .limits > ul > li") == told["verdict"]["limits"]


def _findings(page: Page, told: Json) -> None:
    rows = page.rows("#findings")
    assert len(rows) == len(told["diagnosis"])
    for row, finding in zip(rows, told["diagnosis"]):
        kind = finding["kind"] + ("" if finding["certain"] else " (possible)")
        assert row[0] == kind + ("in consequence" if finding.get("consequence") else "")
        assert set(ranks_in(re.sub(r"^ranks? ", "", row[1]))) == set(finding["ranks"])
        assert finding["summary"] in row[2]
        assert all(sentence in row[2] for sentence in finding["evidence"])
        assert all((call["function"] or "outside MPI") in row[2] for call in finding["calls"])
    for at in range(len(page.texts("#findings summary"))):
        page.press("#findings summary", at)
    assert page.run("return document.querySelectorAll('#findings details:not([open])').length") == 0


def _graph(page: Page, told: Json) -> None:
    """All ranks are in it, each once, those of the cause marked; each box opens."""
    drawn = page.run("return JSON.parse(document.getElementById('edges').textContent)")
    nodes, edges = drawn["nodes"], drawn["edges"]
    assert sorted(rank for node in nodes for rank in ranks_in(node["ranks"])) == sorted(
        process["rank"] for process in told["processes"]
    )
    causes = {
        int(at)
        for at in page.run("return [...document.querySelectorAll('.node.cause')].map((one) => one.dataset.node)")
    }
    marked = {rank for at, node in enumerate(nodes) for rank in ranks_in(node["ranks"]) if at in causes}
    cause = told["diagnosis"][told["verdict"].get("finding") or 0] if told["diagnosis"] else {"ranks": []}
    moved = {one["rank"] for one in told["verdict"].get("movement", []) if one["state"] == "moved"}
    assert marked == set(cause["ranks"]) - moved
    assert page.run("return document.querySelectorAll('.graph .edge').length") == len(edges)
    all_messages = [one for one in messages(told) if not one.internal]
    for at, node in enumerate(nodes):
        page.press(".graph .node", at)
        (shown,) = page.texts("#details")
        assert node["who"] in shown and node["what"] in shown and node["place"] in shown
        for edge in (edge for edge in edges if at in (edge["source"], edge["target"])):
            other = edge["target"] if edge["source"] == at else edge["source"]
            assert nodes[other]["who"] in shown and all(what in shown for what in edge["what"])
        found = [one for place, one in enumerate(told["diagnosis"]) if place in node["findings"]]
        assert all(set(one["ranks"]) & set(ranks_in(node["ranks"])) for one in found)
        assert all(one["kind"] in shown for one in found)
        near = page.run("return document.querySelectorAll('.graph .edge.near').length")
        assert near == sum(at in (edge["source"], edge["target"]) for edge in edges)
        page.press("#details button")
        _listed(page, [one for one in all_messages if one.rank in ranks_in(node["ranks"])])
    page.fill("#messages-view", "Rank", "")


def _movement(page: Page, told: Json) -> None:
    movement = told["verdict"].get("movement", [])
    assert (page.run("return document.getElementById('movement') !== null")) == bool(movement)
    shown = {
        rank: state for ranks, state, _ in page.rows("#movement") for rank in ranks_in(re.sub(r"^ranks? ", "", ranks))
    }
    assert shown == {one["rank"]: one["state"] for one in movement}


def _stacks(page: Page, told: Json) -> None:
    frames = page.run(
        "return [...document.querySelectorAll('.frame')].map((one) => [one.dataset.ranks, one.getAttribute('y')])"
    )
    roles = page.run("return [...document.querySelectorAll('.frame')].map((one) => one.classList[1] || '')")
    for (ranks, _), role in zip(frames, roles):
        said = {_role(rank, told) for rank in ranks_in(ranks)}
        assert (role == "cause") == (said == {"of the cause"}) and (role == "held") == (said == {"waits as a result"})
    outermost = [rank for ranks, y in frames if y == "0" for rank in ranks_in(ranks)]
    # Of a process with several threads each has a way of its own.
    assert set(outermost) == {
        process["rank"] for process in told["processes"] if any(one["frames"] for one in process["stacks"])
    }
    for at, (ranks, _) in enumerate(frames):
        page.press(".frame", at)
        assert f"There: {'rank' if ranks.isdecimal() else 'ranks'} {ranks}" in page.texts("#frame")[0]


def _matrix(page: Page, told: Json) -> None:
    """Opened down to single ranks, its numbers are those of the JSON; a cell leads to its messages."""
    heads = page.texts("#matrix-view thead th")[1:]
    seen: Dict[Tuple[int, str], str] = {}
    open_rows: List[List[int]] = [[]]
    while open_rows:
        way = open_rows.pop()
        _open_rows(page, way)
        for at, (name, *cells) in enumerate(page.rows("#matrix-view")):
            if name.startswith("rank "):
                columns = page.texts("#matrix-view thead th")[1:]
                seen.update({(int(name[5:]), column): cell for column, cell in zip(columns, cells)})
            else:
                open_rows.append([*way, at])
    _open_rows(page, [])
    for process in told["processes"]:
        wanted: Dict[str, List[int]] = {}
        for communicator in process["communicators"]:
            counts = wanted.setdefault(communicator["name"], [0, 0, 0])
            for place, kind in enumerate(QUEUES):
                counts[place] += sum(not one["internal"] for one in communicator[kind]["operations"])
        for name, counts in wanted.items():
            parts = [f"{letter} {count:,}" for letter, count in zip("SRU", counts) if count]
            cell = seen.get((process["rank"], name), "")
            assert [part for part in cell.split(" · ") if re.match(r"[SRU] ", part)] == parts, (
                process["rank"],
                name,
                cell,
            )
    internal = sum(one.internal for one in messages(told))
    things = f"{internal:,} operation{'' if internal == 1 else 's'}"
    notes = [f"Not counted: MPI's own {things}."] if internal else []
    assert [note for note in page.texts("#matrix-view .note") if note.startswith("Not counted")] == notes
    for at in range(len(page.texts("#matrix-view td button"))):
        page.press("#matrix-view td button", at)
        assert page.run("return document.querySelector('#messages-view select').value") != ""
    assert heads or not told["processes"]
    for label in ("Rank", "Communicator"):
        page.fill("#messages-view", label, "")


def _open_rows(page: Page, way: List[int]) -> None:
    """From the whole, by the rows of that way."""
    while page.texts("#matrix-view .note button"):
        page.press("#matrix-view .note button")
    for at in way:
        name = page.rows("#matrix-view")[at][0]
        buttons = page.texts("#matrix-view th[scope=row] button")
        page.press("#matrix-view th[scope=row] button", buttons.index(name))


def _listed(page: Page, wanted: List[Message]) -> None:
    """The list is these, in this order, as far as it is shown at once."""
    rows = [
        [str(one.rank), one.queue, "" if one.tag is None else str(one.tag), one.communicator, one.call, one.status]
        for one in wanted[:100]
    ]
    many = f"{len(rows):,} of {len(wanted):,}"
    count = many if len(wanted) > 100 else f"{len(wanted):,} row{'' if len(wanted) == 1 else 's'}"
    # The list follows once typing has paused.
    deadline = time.monotonic() + 60
    while True:
        shown = [[row[at] for at in (0, 1, 3, 4, 7, 9)] for row in page.rows("#messages-view")]
        shown = [[*row[:2], row[2].replace("any", ""), *row[3:]] for row in shown]
        told = page.texts("#messages-view .note[role=status]")
        if (shown, told) == (rows, [count]) or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    assert shown == rows
    assert told == [count]


def _messages(page: Page, told: Json) -> None:
    all_messages = messages(told)
    application = [one for one in all_messages if not one.internal]
    view = "#messages-view"
    _listed(page, application)
    page.fill(view, "MPI's own", "yes")
    _listed(page, all_messages)
    page.fill(view, "MPI's own", "no")
    for rank in sorted({one.rank for one in application}):
        page.fill(view, "Rank", str(rank))
        _listed(page, [one for one in application if one.rank == rank])
    page.fill(view, "Rank", "")
    for tag in sorted({one.tag for one in application if one.tag is not None})[:8]:
        page.fill(view, "Tag", str(tag))
        _listed(page, [one for one in application if one.tag == tag])
    page.fill(view, "Tag", "")
    for which, (label, field) in enumerate((("Communicator", "communicator"), ("Queue", "queue"))):
        options = page.run(
            "return [...document.querySelectorAll('#messages-view select')[arguments[0]].options].slice(1)"
            ".map((one) => [one.value, one.textContent])",
            which,
        )
        for value, name in options:
            word = name if field == "communicator" else list(QUEUES.values())[int(value)]
            page.fill(view, label, value)
            _listed(page, [one for one in application if getattr(one, field) == word])
        page.fill(view, label, "")
    # By each column, forth and back; those that are alike stay in their order.
    for at, key in ((0, "rank"), (1, "queue"), (4, "communicator"), (7, "call"), (9, "status")):
        page.press(f"{view} thead button", at)
        of = operator.attrgetter(key)
        _listed(page, sorted(application, key=of))
        page.press(f"{view} thead button", at)
        _listed(page, sorted(application, key=of, reverse=True))
    page.press(f"{view} thead button", 0)


def _ranks(page: Page, told: Json) -> None:
    rows = page.rows("#ranks-view")
    assert [(row[0], row[1], row[2]) for row in rows] == [
        (str(one["rank"]), one["host"], str(one["pid"])) for one in told["processes"][:100]
    ]
    for row, process in zip(rows, told["processes"]):
        call = next(iter(process["calls"]), None)
        assert (call["function"] if call else "") in row[3]
        place = call or next(iter(process["outside"]), None)
        if place and place.get("file") and place.get("line") is not None:
            assert row[3].endswith(f"{place['file'].rsplit('/', 1)[-1]}:{place['line']}")
    last = told["processes"][-1]["rank"]
    page.search(str(last))
    page.until("return document.querySelectorAll('#ranks-view tbody tr').length === 1")
    page.search(rows[0][3].split(",")[0])
    page.until("return document.querySelector('#ranks-view tbody tr').textContent.includes(arguments[0])", rows[0][3])
    page.search("")
    roles = [_role(one["rank"], told) for one in told["processes"][:100]]
    page.until("return document.querySelectorAll('#ranks-view tbody tr').length === arguments[0]", len(roles))
    assert [row[4] for row in page.rows("#ranks-view")] == roles


def _role(rank: Optional[int], told: Json) -> str:
    """What is said of a rank."""
    cause = told["diagnosis"][told["verdict"].get("finding") or 0] if told["diagnosis"] else {"ranks": [], "calls": []}
    moved = any(one["rank"] == rank and one["state"] == "moved" for one in told["verdict"].get("movement", []))
    waiting = {*cause.get("waiting", []), *(one["rank"] for one in cause["calls"] if one.get("waits_for"))}
    if rank is None or moved:
        return "nothing was found"
    if rank in cause["ranks"]:
        return "of the cause"
    if rank in waiting:
        return "waits as a result"
    others = {other for finding in told["diagnosis"] for other in finding["ranks"]}
    return "in another finding" if rank in others else "nothing was found"


def calls_in(told: Json) -> Iterator[Tuple[int, Json, Json, Set[int]]]:
    """The rank, the thread and each call that the flight recorder kept; and which calls are still open."""
    for process in told["processes"]:
        for thread in (process.get("history") or {"threads": []})["threads"]:
            for call in thread["calls"][-64:]:
                yield process["rank"], thread, call, {thread["current"]} if thread["current"] is not None else set()


def compare_time_line(page: Page, told: Json) -> None:
    """A bar for each call, from when it began; a click tells its arguments."""
    wanted: Dict[str, List[Tuple[str, Json, bool]]] = {}
    for rank, _, call, current in calls_in(told):
        wanted.setdefault(f"rank {rank}", []).append(
            (f"rank {rank}: {call['function']}", call, call["number"] in current)
        )
    bars = page.run(
        "return [...document.querySelectorAll('.bars g')].map((one) => [one.getAttribute('aria-label'),"
        " one.getAttribute('class'), Number(one.querySelector('rect').getAttribute('x'))])"
    )
    shown: Dict[str, List[Tuple[str, str, float]]] = {}
    for label, kind, x in bars:
        shown.setdefault(label.split(":")[0], []).append((label, kind, x))
    assert {name: len(some) for name, some in shown.items()} == {name: len(some) for name, some in wanted.items()}
    for name, some in wanted.items():
        for (label, kind, _), (begins, call, current) in zip(shown[name], some):
            assert label.startswith(begins) and f"began {call['began_at']}" in label
            assert ("and is in it" in label) == current == (kind.split()[0] == "now")
            for word, key in (("with rank ", "peer"), ("tag ", "tag"), ("on ", "communicator")):
                assert call.get(key) is None or f"{word}{call[key]}" in label, (label, call)
            if call.get("file") and call.get("line") is not None:
                assert f"{call['file']}:{call['line']}" in label
    # Later calls are further to the right.
    ordered = sorted(
        ((call["began_at"], bar[2]) for name, some in wanted.items() for (_, call, _), bar in zip(some, shown[name])),
    )
    assert [x for _, x in ordered] == sorted(x for _, x in ordered)
    for at, (label, _, _) in enumerate(bars):
        page.press(".bars g", at)
        assert page.texts("#time-line-view .details") == [label]
