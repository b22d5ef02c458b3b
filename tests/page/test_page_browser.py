"""Reports in a real browser: what is shown, clicked and filtered is what the JSON says. No network is asked."""

from __future__ import annotations

import json
import pathlib

import mpi_queues
import pytest
from page.acts import Page
from page.made import hostile_names, missing_in_barrier, named, ring, snapshot, wrong_tag
from support.cli import mpi_queues as command
from support.paths import PACKAGE

DEMO = PACKAGE / "data" / "demo.mpirec"


def opened(page: Page, made: mpi_queues.Snapshot, place: pathlib.Path) -> mpi_queues.Diagnosis:
    """Opens the report of a snapshot."""
    diagnosis = made.diagnose()
    path = place / "hang.html"
    diagnosis.report(path)
    page.requests()
    page.complaints()
    page.open(path)
    return diagnosis


def is_quiet(page: Page) -> None:
    assert page.requests() == []
    assert page.complaints() == []


def test_the_demo_is_shown_as_its_json_says(page: Page, tmp_path: pathlib.Path) -> None:
    diagnosis = opened(page, mpi_queues.load(DEMO), tmp_path)
    told = json.loads(diagnosis.to_json())
    assert page.texts(".headline") == [told["verdict"]["headline"]]
    assert page.texts(".state") == ["deadlock"]
    # A finding a row.
    rows = page.rows("#findings")
    assert len(rows) == len(told["diagnosis"])
    for row, finding in zip(rows, told["diagnosis"]):
        assert row[0].startswith(finding["kind"])
        assert row[2].startswith(finding["summary"])
    # All operations of the application are in the list, and no others.
    wanted = [
        (process["rank"], kind, entry["desired_tag"], communicator["name"])
        for process in told["processes"]
        for communicator in process["communicators"]
        for kind in ("pending_sends", "pending_receives", "unexpected_messages")
        for entry in communicator[kind]["operations"]
        if not entry["internal"]
    ]
    words = {"pending_sends": "send", "pending_receives": "receive", "unexpected_messages": "unexpected"}
    shown = sorted((int(row[0]), row[1], int(row[3]), row[4]) for row in page.rows("#messages-view"))
    assert shown == sorted((rank, words[kind], tag, name) for rank, kind, tag, name in wanted)
    # And all ranks, with where they stand.
    ranks = page.rows("#ranks-view")
    assert [(int(row[0]), int(row[2])) for row in ranks] == [(one["rank"], one["pid"]) for one in told["processes"]]
    for row, process in zip(ranks, told["processes"]):
        assert process["calls"][0]["function"] in row[3] and str(process["calls"][0]["line"]) in row[3]
    is_quiet(page)


def test_filters_and_orders(page: Page, tmp_path: pathlib.Path) -> None:
    opened(page, ring(40), tmp_path)
    view = "#messages-view"
    assert len(page.rows(view)) == 40
    page.fill(view, "Rank", "3,7-9")
    page.until("return document.querySelectorAll('#messages-view tbody tr').length === 4")
    assert [row[0] for row in page.rows(view)] == ["3", "7", "8", "9"]
    page.press(f"{view} th button", 2)
    page.press(f"{view} th button", 2)
    assert [row[2] for row in page.rows(view)] == ["10", "9", "8", "4"]
    assert (
        page.run("return document.querySelectorAll('#messages-view th')[2].getAttribute('aria-sort')") == "descending"
    )
    page.fill(view, "Tag", "6")
    page.until("return document.querySelectorAll('#messages-view tbody tr').length === 0")
    page.fill(view, "Tag", "5")
    page.fill(view, "Queue", "0")
    page.until("return document.querySelectorAll('#messages-view tbody tr').length === 0")
    page.fill(view, "Queue", "")
    page.fill(view, "Rank", "no ranks")
    page.until("return document.querySelector('#messages-view input').getAttribute('aria-invalid') === 'true'")
    page.search("node0")
    page.until("return document.querySelectorAll('#ranks-view tbody tr').length === 40")
    page.search("elsewhere")
    page.until("return document.querySelectorAll('#ranks-view tbody tr').length === 0")
    is_quiet(page)


def test_nodes_frames_and_cells_open(page: Page, tmp_path: pathlib.Path) -> None:
    opened(page, missing_in_barrier(200), tmp_path)
    assert page.texts(".graph .node .who") == ["199 ranks: 0-2,4-199", "rank 3"]
    page.press(".graph .node", 1)
    details = " ".join(page.texts("#details")[0].split())
    assert "rank 3" in details and "MPI_Recv, collect at halo.c:88" in details
    assert "Waits for:199 ranks: 0-2,4-199: to send tag 1 on MPI_COMM_WORLD" in details
    assert "199 ranks: 0-2,4-199: to enter MPI_Barrier on MPI_COMM_WORLD" in details
    assert "rank 3: MPI_Recv, receive from rank 0, tag 1 on MPI_COMM_WORLD, 4.0 KiB" in details
    # A finding is shown with its evidence.
    page.press("#details a")
    assert page.run("return document.querySelector(location.hash + ' details').open")
    page.press("#details button")
    page.until("return document.querySelectorAll('#messages-view tbody tr').length === 1")
    # A frame tells who is there, and who is not.
    frames = page.texts(".frame .who")
    assert frames[0] == "main"
    page.press(".frame", frames.index("step"))
    assert "Not there: rank 3" in page.texts("#frame")[0]
    # Rows of neighbours open until there are single ranks.
    assert [row[0] for row in page.rows("#matrix-view")] == ["ranks 0-3", "ranks 4-199"]
    assert page.rows("#matrix-view")[0][1] == "R 1 · MPI_Barrier \u00d73 · MPI_Recv"
    page.press("#matrix-view th[scope=row] button", 0)
    assert [row[0] for row in page.rows("#matrix-view")] == ["ranks 0-2", "rank 3"]
    page.press("#matrix-view td button", 0)
    assert [row[0] for row in page.rows("#messages-view")] == ["3"]
    page.press("#matrix-view th[scope=row] button", 0)
    assert [row[0] for row in page.rows("#matrix-view")] == ["rank 0", "rank 1", "rank 2"]
    page.press("#matrix-view .note button")
    assert [row[0] for row in page.rows("#matrix-view")] == ["ranks 0-2", "rank 3"]
    page.press("#matrix-view .note button")
    page.press("#matrix-view th[scope=row] button", 1)
    # All of these are alike: they are shown one by one.
    assert page.rows("#matrix-view")[0] == ["ranks 4-7", "MPI_Barrier \u00d74"]
    is_quiet(page)


def test_the_keyboard_opens_a_node(page: Page, tmp_path: pathlib.Path) -> None:
    opened(page, wrong_tag(), tmp_path)
    page.keys(".graph .node", "Enter")
    assert "rank 0" in page.texts("#details")[0]
    assert page.run("return document.querySelector('.graph .node').getAttribute('aria-pressed')") == "true"
    # A frame by the other key.
    page.keys(".frame", " ")
    assert "There: rank" in page.texts("#frame")[0]
    # All that is pressed by a pointer is reached by the keyboard, and says what it is.
    unnamed = page.run(
        "const all = [...document.querySelectorAll('button, a, input, select, [role=button]')];"
        "const named = (one) => one.getAttribute('aria-label') || one.textContent.trim() || one.closest('label');"
        "return all.filter((one) => one.getClientRects().length && (one.tabIndex < 0 || !named(one)))"
        ".map((one) => one.outerHTML.slice(0, 100))"
    )
    assert unnamed == []


def test_a_time_line_is_there_where_there_is_a_history(page: Page, tmp_path: pathlib.Path) -> None:
    content = json.loads(ring(3).to_json())
    for process in content["processes"]:
        calls = [
            {
                "number": number,
                "began_at": f"2026-11-20T15:00:0{number}.000Z",
                "function": function,
                "peer": 1,
                "tag": 5,
            }
            for number, function in enumerate(("MPI_Isend", "MPI_Barrier", "MPI_Recv"), 1)
        ]
        process["history"] = {"threads": [{"kernel_thread": 7, "begun": 3, "current": 3, "calls": calls}]}
    opened(page, mpi_queues.Snapshot.from_json(json.dumps(content)), tmp_path)
    assert len(page.texts(".bars .now")) == 3
    assert len(page.texts(".bars .past")) == 6
    page.press(".bars .now", 1)
    told = page.texts("#time-line-view .details")[0]
    assert told == "rank 1: MPI_Recv, with rank 1, tag 5, began 2026-11-20T15:00:03.000Z, and is in it"
    # Each line is one stop of the keyboard; the arrows go along it.
    assert page.run("return document.querySelectorAll('.bars [tabindex=\"0\"]').length") == 3
    page.keys(".bars .now", "ArrowLeft", "ArrowLeft", "ArrowLeft", "Enter")
    assert page.texts("#time-line-view .details")[0].startswith("rank 0: MPI_Isend, with rank 1, tag 5, began")
    page.keys(".bars .past[tabindex='0']", "ArrowRight", "Enter")
    assert page.texts("#time-line-view .details")[0].startswith("rank 0: MPI_Barrier")
    is_quiet(page)


def test_axe_finds_nothing(page: Page, tmp_path: pathlib.Path) -> None:
    for made in (mpi_queues.load(DEMO), missing_in_barrier(200)):
        opened(page, made, tmp_path)
        page.press(".graph .node", 1)
        page.press(".frame", 1)
        page.run("for (const one of document.querySelectorAll('details')) one.open = true;")
        assert page.faults() == []


def test_a_comparison_has_no_faults(page: Page, tmp_path: pathlib.Path) -> None:
    from mpi_queues.page import comparison

    path = tmp_path / "changed.html"
    comparison.write(wrong_tag().diagnose(), ring(3).diagnose(), ("before.json", "after.json"), path)
    page.requests()
    page.open(path, script=False)
    assert page.faults() == []
    is_quiet(page)


def test_hostile_names_do_nothing(page: Page, tmp_path: pathlib.Path) -> None:
    """Two hundred names, each a rank's: none becomes an element or runs, and each is shown."""
    names = hostile_names(200)
    processes = []
    for rank, name in enumerate(names):
        (one, _) = json.loads(named(name).to_json())["processes"]
        processes.append({**one, "rank": rank, "pid": 5000 + rank})
    opened(page, snapshot(processes), tmp_path)
    # What an attack would do: alert() stops the page, a style or an image asks for something, an element is there.
    for column in range(10):
        page.press("#messages-view th button", column)
    for node in range(len(page.texts(".graph .node"))):
        page.press(".graph .node", node)
    page.run("for (const one of document.querySelectorAll('.frame')) one.dispatchEvent(new MouseEvent('click'))")
    for _ in range(3):
        page.press("#ranks-view > div > button")
    assert (
        page.run(
            "return document.querySelectorAll('img, b, x, iframe, object, embed, base, [onload], [onerror]').length"
        )
        == 0
    )
    assert page.run("return [...document.scripts].filter((one) => !one.type).length") == 1
    shown = {row[1] for row in page.rows("#ranks-view")}
    assert sum("alert(1)" in name for name in shown) > 50
    is_quiet(page)


def test_the_policy_forbids_what_is_not_ours(page: Page, tmp_path: pathlib.Path) -> None:
    """Were something to get in after all, it would not run and not reach anybody."""
    opened(page, wrong_tag(), tmp_path)
    page.run(
        "window.ran = 0; window.refused = [];"
        "document.addEventListener('securitypolicyviolation',"
        " (event) => window.refused.push(event.effectiveDirective));"
        "const script = document.createElement('script'); script.textContent = 'window.ran = 1';"
        "document.body.append(script);"
        "const image = document.createElement('img'); image.src = 'http://127.0.0.1:9/x.png';"
        "document.body.append(image);"
    )
    page.until("return window.refused.length === 2")
    assert page.run("return window.ran") == 0
    assert sorted(page.run("return window.refused")) == ["img-src", "script-src-elem"]
    page.requests()
    page.complaints()


def test_what_is_copied_is_what_a_terminal_shows(page: Page, tmp_path: pathlib.Path) -> None:
    diagnosis = opened(page, mpi_queues.load(DEMO), tmp_path)
    shown = page.run("return document.getElementById('as-text').textContent")
    path = str(tmp_path / "hang.html")
    wanted = command("diagnose", "--recording", path).out
    # A terminal is told of the next command as well, which names the file.
    assert wanted.startswith(shown.rstrip("\n") + "\n")
    rest = wanted[len(shown.rstrip()) :].strip()
    assert rest.startswith("The queues of rank 1: mpi-queues show") and diagnosis.headline[:40] in shown
    assert page.run("return document.getElementById('stacks-text').textContent").strip() == (
        command("stacks", "--recording", path).out.strip()
    )
    # By the button, or where a browser does not let a file copy, by what is selected then.
    page.run("for (const one of document.querySelectorAll('details')) one.open = true;")
    page.press("button[data-copy='as-text']")
    page.until("return document.querySelector(\"button[data-copy='as-text']\").textContent !== 'Copy'")
    if page.texts("button[data-copy='as-text']") != ["Copied"]:
        assert page.run("return getSelection().toString()").strip() == shown.strip()
    is_quiet(page)


@pytest.mark.parametrize("size", [1024])
@pytest.mark.slow
def test_a_job_of_a_thousand_ranks_is_small(page: Page, tmp_path: pathlib.Path, size: int) -> None:
    opened(page, missing_in_barrier(size), tmp_path)
    assert (tmp_path / "hang.html").stat().st_size < 1 << 20
    assert [row[0] for row in page.rows("#matrix-view")] == ["ranks 0-15", "ranks 16-1023"]
    is_quiet(page)
