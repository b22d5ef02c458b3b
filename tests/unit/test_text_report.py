"""The text of snapshots."""

from __future__ import annotations

import pytest
from mpi_queues import Snapshot, UserError
from mpi_queues.report import text, words
from mpi_queues.report.totals import Totals
from samples import communicator, operation, process, queue, snapshot


def shown(what: Snapshot, **options: object) -> str:
    pieces: list[str] = []
    text.write_queues(what, pieces.append, text.Options(**options))  # type: ignore[arg-type]
    return "".join(pieces)


def test_a_whole_report() -> None:
    receive = operation(any_source=True, desired_local_rank=None, desired_global_rank=None, tag_wild=True)
    send = operation(desired_local_rank=1, desired_global_rank=5, desired_length=4096, datatype="MPI_INT", count=1024)
    message = operation(desired_tag=21, desired_length=20, actual_length=20, extra_text=["eager"])
    report = shown(
        snapshot(
            process(
                communicator(
                    "halo",
                    pending_sends=queue([send]),
                    pending_receives=queue([receive]),
                    unexpected_messages=queue([message]),
                ),
                communicator("MPI_COMM_SELF"),
                calls=[{"thread": 1, "function": "MPI_Recv", "file": "/src/a.c", "line": 7, "caller": "main"}],
            )
        )
    )
    assert report.splitlines() == [
        "Rank 0 of 2, pid 4242 on node1, /home/user/solver",
        "  Open MPI 4.1.4, transport ob1",
        "  read by the built-in reader, layouts profile:openmpi-4.1, via gdb",
        "  in MPI_Recv, called by main at a.c:7",
        "",
        "  halo: rank 0 of 2",
        "    pending sends: 1",
        "      to          tag    size  data         call status",
        "      1 (world 5) 7   4.0 KiB  1024 MPI_INT      pending",
        "    pending receives: 1",
        "      from tag size  data call status",
        "      any  any    ?            pending",
        "    unexpected messages: 1",
        "      from tag size  data call status",
        "      1    21  20 B            pending",
        "        eager",
        "",
        "  No pending sends, pending receives or unexpected messages in: MPI_COMM_SELF",
        "",
        "1 process, 2 communicators: 1 send, 1 receive, 1 unexpected message",
    ]


def test_what_is_not_known_is_never_shown_as_empty() -> None:
    report = shown(
        snapshot(
            process(
                communicator(
                    pending_sends=queue(state="no_information", detail="pml cm keeps them; use --mca pml ob1"),
                    unexpected_messages=queue([operation()], state="error", detail="a damaged list"),
                ),
                problems=["a page could not be read"],
            ),
            problems=["pid 7: no such process"],
        )
    )
    assert "pending sends: not known: pml cm keeps them; use --mca pml ob1" in report
    assert "unexpected messages: could not be read: a damaged list" in report
    assert "unexpected messages: 1 (not all)" in report
    assert "Problem, rank 0: a page could not be read" in report
    assert "Problem: pid 7: no such process" in report
    assert "2 queues not known, 2 problems" in report
    totals = "1 process, 1 communicator: sends not known, 0 receives, at least 1 unexpected"
    assert report.splitlines()[-1] == totals


def test_no_line_is_wider_than_80_columns() -> None:
    long = "x" * 300
    receive = operation(
        desired_local_rank=123456789,
        desired_global_rank=987654321,
        desired_tag=2147483647,
        desired_length=1 << 62,
        datatype=long,
        count=1 << 60,
        call="MPI_Neighbor_alltoallw_init",
        persistent=True,
        internal=True,
        system_buffer=True,
        extra_text=[long, "日本語" * 50],
    )
    what = process(
        communicator("名" * 80, pending_receives=queue([receive]), group=list(range(0, 5000, 2)), size=2500),
        communicator(long, pending_sends=queue(state="error", detail=long)),
        communicator("y" * 80),
        executable="/" + long,
        host=long,
        calls=[{"thread": 3, "function": "MPI_Recv", "file": long, "line": 7, "caller": long}],
        problems=[long],
    )
    report = shown(snapshot(what), hidden_internal=12345678, show_internal="mpi queues -internal")
    pieces: list[str] = [report]
    text.write_communicators(snapshot(what), pieces.append)
    text.write_differences("inferior 1", [long], pieces.append)
    too_wide = [line for line in "".join(pieces).splitlines() if words.columns(line) > words.WIDTH]
    assert too_wide == []


def test_totals_fit_one_line_whatever_the_numbers() -> None:
    totals = Totals()
    totals.communicators = totals.sends = totals.receives = totals.unexpected = 1234567
    line = totals.line(100000)
    assert len(line) <= words.WIDTH
    assert "…" not in line


def test_rows_beyond_the_limit_are_counted() -> None:
    what = snapshot(process(communicator(pending_receives=queue([operation()] * 1005))))
    report = shown(what, limit=5, show_more="set mpi limit unlimited")
    assert report.count("pending\n") == 5
    assert "… and 1,000 more (to see them: set mpi limit unlimited)" in report
    assert shown(what, limit=None).count(" pending\n") == 1005


def test_control_characters_of_the_target_are_shown_as_text() -> None:
    report = shown(snapshot(process(communicator("a\x1b[2Jb", pending_sends=queue([operation()])))))
    assert "\x1b" not in report
    assert "a\\x1b[2Jb" in report


def test_hidden_internal_operations_are_told() -> None:
    what = snapshot(process(communicator(pending_sends=queue([operation(internal=True), operation()]))))
    visible = what.filtered(internal=False)
    hidden = text.count_operations(what) - text.count_operations(visible)
    report = shown(visible, hidden_internal=hidden, show_internal="--internal")
    assert "1 operation of MPI itself not shown (to see them: --internal)" in report


def test_wildcards_that_were_matched_say_with_what() -> None:
    got = operation(
        status="complete", any_source=True, tag_wild=True, actual_local_rank=1, actual_global_rank=3, actual_tag=9
    )
    report = shown(snapshot(process(communicator(pending_receives=queue([got])))))
    assert "got: from 1 (world 3), tag 9" in report


def test_choosing_what_is_not_there_names_what_is() -> None:
    what = snapshot(process(communicator("halo")))
    assert text.chosen(what, comm="halo", rank=0).processes[0].communicators[0].name == "halo"
    with pytest.raises(UserError, match="there are halo"):
        text.chosen(what, comm="nix", rank=None)
    with pytest.raises(UserError, match=r"read: rank 0"):
        text.chosen(what, comm=None, rank=5)


def test_an_empty_snapshot() -> None:
    assert shown(snapshot()).strip() == ("0 processes, 0 communicators: 0 sends, 0 receives, 0 unexpected messages")


def test_what_no_communicator_knows_is_said_once() -> None:
    unknown = queue(state="no_information", detail="the plug-in cannot tell")
    what = process(
        communicator("a", unexpected_messages=unknown),
        communicator("b", unexpected_messages=unknown, pending_sends=queue([operation()])),
    )
    report = shown(snapshot(what))
    assert report.count("the plug-in cannot tell") == 1
    assert "  unexpected messages: not known in any communicator: the plug-in cannot tell\n" in report
    assert "    unexpected messages: not known\n" in report
    assert "  No pending sends or pending receives in: a\n" in report
    assert "2 queues not known" in report


def test_a_transport_that_tells_nothing() -> None:
    unknown = queue(state="no_information", detail="use --mca pml ob1")
    queues = {"pending_sends": unknown, "pending_receives": unknown, "unexpected_messages": unknown}
    report = shown(snapshot(process(communicator("a", **queues), communicator("b", **queues))))
    assert report.count("use --mca pml ob1") == 3
    assert "  Communicators: a, b\n" in report
    assert "none" not in report


def argument(name: str, value: object = None, **more: object) -> dict[str, object]:
    return {"name": name, "expression": name, "value": value, **more}


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (
            {
                "function": "MPI_Recv",
                "arguments": [
                    argument("buf", 4096),
                    argument("count", 9),
                    argument("datatype", meaning="MPI_INT"),
                    argument("source", -1, meaning="MPI_ANY_SOURCE"),
                    argument("tag", 17),
                    argument("comm", 5),
                ],
                "communicator": 7,
            },
            'in MPI_Recv(from any, tag 17, 9 MPI_INT, on "halo")',
        ),
        (
            {
                "function": "MPI_Sendrecv",
                "arguments": [
                    argument("sendcount", 1),
                    argument("dest", None, unknown="optimised away"),
                    argument("sendtag", 3),
                    argument("recvcount", 2),
                    argument("source", 4),
                    argument("recvtag", -1, meaning="MPI_ANY_TAG"),
                    argument("comm", None, meaning="MPI_COMM_WORLD"),
                ],
            },
            'in MPI_Sendrecv(to ? (dest), tag 3, count 1, from 4, any tag, count 2, on "MPI_COMM_WORLD")',
        ),
        (
            {"function": "MPI_Bcast", "arguments": [argument("count", 2), argument("root", 0)]},
            "in MPI_Bcast(root 0, count 2)",
        ),
        (
            {
                "function": "MPI_Waitall",
                "arguments": [argument("count", 2), argument("array_of_requests", 4096)],
                "requests": [{"index": 0, "state": "open"}, {"index": 1, "state": "complete"}],
            },
            "in MPI_Waitall(1 of 2 requests open)",
        ),
        ({"function": "MPI_Wait", "requests": [{"state": "open"}]}, "in MPI_Wait"),
        ({"function": "MPI_Wait", "requests": [{"state": "inactive"}]}, "in MPI_Wait(request inactive)"),
        ({"function": "MPI_Waitany", "requests": [{"state": "open"}, {"state": "unknown"}]}, "in MPI_Waitany"),
    ],
)
def test_what_a_call_was_given(call: dict[str, object], line: str) -> None:
    (found,) = snapshot(process(communicator("halo", unique_id=7), calls=[{"thread": 1, **call}])).processes
    assert list(text.call_lines(found)) == [line]


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (
            {"thread": 2, "function": "nanosleep", "caller": "compute", "file": "/src/work.c", "line": 40},
            "thread 2 is outside MPI: in nanosleep, called by compute at work.c:40",
        ),
        (
            {"thread": 1, "function": "compute", "caller": "compute", "file": "work.c", "line": 40},
            "thread 1 is outside MPI: in compute at work.c:40",
        ),
        (
            {"thread": 1, "function": "read", "caller": "step", "complete": False},
            "thread 1 was not seen to the end of its stack: in read, called by step",
        ),
        ({"thread": 1, "function": "read", "caller": "step"}, "thread 1 is outside MPI: in read, called by step"),
    ],
)
def test_a_thread_outside_mpi(place: dict[str, object], line: str) -> None:
    assert f"  {line}\n" in shown(snapshot(process(communicator("halo"), outside=[place])))
