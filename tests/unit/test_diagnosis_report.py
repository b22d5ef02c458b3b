"""Diagnoses as Python objects and as text: those of snapshots that were made up, and those that JSON brought along."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Optional

import mpi_queues
import pytest
from mpi_queues import Diagnosis, Snapshot
from mpi_queues.report import diagnosis as report
from mpi_queues.report import words
from samples import communicator, process, snapshot
from support.paths import PROJECT


def call(rank: Optional[int], waits_for: Optional[str], line: int, function: str = "MPI_Recv", **more: Any) -> Any:
    where = {"thread": 1, "function": function, "file": "/home/me/src/halo.c", "line": line, "caller": "exchange"}
    return {"rank": rank, **where, "waits_for": waits_for, **more}


def finding(kind: str = "deadlock", summary: str = "ranks 0 and 1 wait for one another", **fields: Any) -> Any:
    calls = [call(0, 'rank 1 to send tag 17 on "halo"', 42), call(1, 'rank 0 to send tag 17 on "halo"', 43)]
    return {"kind": kind, "summary": summary, "ranks": [0, 1], "calls": calls, "certain": True, **fields}


def diagnosed(*findings: Dict[str, Any], processes: int = 2, **verdict: Any) -> Diagnosis:
    """What a JSON with this diagnosis holds."""
    ranks = [process(communicator(), rank=rank, pid=4000 + rank, world_size=processes) for rank in range(processes)]
    content = json.loads(snapshot(*ranks).to_json())
    content["diagnosis"] = list(findings)
    content["verdict"] = {"state": "deadlock", "headline": "Deadlock of ranks 0 and 1.", **verdict}
    found = Snapshot.from_json(json.dumps(content)).diagnosis
    assert found is not None
    return found


def shown(diagnosis: Diagnosis, **options: Any) -> str:
    pieces: List[str] = []
    report.write_diagnosis(diagnosis, pieces.append, report.Options(**options))
    return "".join(pieces)


def test_exceptions_of_python_stand_below_the_findings() -> None:
    content = json.loads(diagnosed(finding(), processes=4).to_json())
    raised = {"name": "ValueError", "state": "handled", "function": "parse", "file": "/home/me/x.py", "line": 12}
    for rank in (0, 2):
        content["processes"][rank]["exceptions"] = [raised]
    content["processes"][3]["exceptions"] = [{"name": "Key\x1bError", "state": "unhandled"}, {}]
    found = Snapshot.from_json(json.dumps(content)).diagnosis
    assert found is not None
    below = shown(found).partition("Exceptions:\n")[2].splitlines()
    assert below[0] == "  ranks 0 and 2 handling ValueError, raised in parse at x.py:12"
    assert below[1:3] == ["  rank 3 ended by Key\\x1bError", "  rank 3 handling an exception"]
    assert "/home/me/x.py:12" in shown(found, verbose=True)
    assert "Exceptions" not in shown(diagnosed(finding()))


def test_a_snapshot_that_nobody_has_diagnosed_has_no_diagnosis() -> None:
    what = snapshot(process(communicator()))
    assert what.diagnosis is None
    assert "diagnosis" not in json.loads(what.to_json()) and "verdict" not in json.loads(what.to_json())


def test_the_json_of_a_diagnosis_is_that_of_the_snapshot_with_two_more() -> None:
    what = snapshot(process(communicator()))
    content = json.loads(what.diagnose().to_json(indent=2))
    assert isinstance(content.pop("diagnosis"), list)
    assert {"state", "headline", "limits"} <= set(content.pop("verdict"))
    assert content == json.loads(what.to_json())
    pieces: List[str] = []
    what.diagnose().write_json(pieces.append)
    assert json.loads("".join(pieces)) == json.loads(what.diagnose().to_json())


def test_a_diagnosis_comes_back_from_its_json() -> None:
    first = diagnosed(finding(evidence=["because"], advice="look there"), finding("slow rank", "so", certain=False))
    again = Snapshot.from_json(first.to_json()).diagnosis
    assert again == first and again is not None
    assert [one.kind for one in again] == ["deadlock", "slow rank"]
    one = again[0]
    assert (one.ranks, one.certain, one.evidence, one.advice) == ([0, 1], True, ["because"], "look there")
    assert (one.calls[0]["line"], one.calls[0]["waits_for"]) == (42, 'rank 1 to send tag 17 on "halo"')
    assert one == first.findings[0] and one != again[1]
    assert repr(one) == "<mpi_queues.Finding deadlock, certain: ranks 0 and 1 wait for one another>"
    assert repr(again) == "<mpi_queues.Diagnosis deadlock, 2 findings: Deadlock of ranks 0 and 1.>"
    assert again.snapshot.rank(1).pid == 4001


def test_findings_are_a_sequence() -> None:
    found = diagnosed(finding(), finding("polling"))
    assert (len(found), found[-1].kind, len(list(found))) == (2, "polling", 2)
    for index in (2, -3, 1 << 40):
        with pytest.raises(IndexError):
            found[index]
    # No finding is no missing diagnosis.
    assert bool(diagnosed())
    with pytest.raises(AttributeError):
        found.state = "running"  # type: ignore[misc]


def test_words_that_no_diagnosis_has_are_refused() -> None:
    content = json.loads(diagnosed(finding()).to_json())
    content["diagnosis"][0]["kind"] = "bad luck"
    with pytest.raises(ValueError, match="bad luck"):
        Snapshot.from_json(json.dumps(content))


def test_an_interval_without_sense_is_refused() -> None:
    what = snapshot(process(communicator()))
    with pytest.raises(OverflowError):
        what.diagnose(what, interval_ms=-1)
    assert what.diagnose(what, interval_ms=700).interval_ms == 700
    assert what.diagnose().interval_ms is None


def test_only_some_processes() -> None:
    what = diagnosed(finding()).snapshot
    assert [one.rank for one in what.only([4001, 9]).processes] == [1]
    assert what.only([4001]).diagnosis is None and what.only([]).processes == []


def test_the_cycle_has_a_line_a_rank() -> None:
    text = shown(diagnosed(finding()), width=100)
    assert text.splitlines()[0] == "Deadlock of ranks 0 and 1."
    assert (
        "deadlock: ranks 0 and 1 wait for one another\n"
        '  rank 0  MPI_Recv  exchange at halo.c:42  waits for rank 1 to send tag 17 on "halo"\n'
        '  rank 1  MPI_Recv  exchange at halo.c:43  waits for rank 0 to send tag 17 on "halo"\n'
    ) in text


def test_what_does_not_fit_one_line_takes_two() -> None:
    text = shown(diagnosed(finding()), width=60)
    assert (
        "  rank 0  MPI_Recv  exchange at halo.c:42\n"
        '      waits for rank 1 to send tag 17 on "halo"\n'
        "  rank 1  MPI_Recv  exchange at halo.c:43\n"
    ) in text


def test_the_headline_is_not_said_twice_and_its_calls_stand_below_it() -> None:
    other = finding("tag mismatch", "the tags differ", calls=[call(3, None, 99)])
    cycle = finding(summary="perhaps ranks 0 and 1 wait for one another", certain=False)
    text = shown(diagnosed(other, cycle, headline="Possible deadlock: ranks 0 and 1 wait for one another.", finding=1))
    assert text.startswith("Possible deadlock: ranks 0 and 1 wait for one another.\n\n  rank 0  MPI_Recv  exchange at")
    assert text.count("wait for one another") == 1
    assert text.index("halo.c:43") < text.index("tag mismatch: the tags differ\n  rank 3  ")


def test_ranks_at_one_place_are_one_line() -> None:
    many = [call(rank, "rank 4", 7, "MPI_Barrier") for rank in [*range(4), *range(5, 1024)]]
    late = call(4, None, 9, "", caller="compute")
    slow = finding("missing in collective", "rank 4 is missing", ranks=list(range(1024)), calls=[*many, late])
    text = shown(diagnosed(slow, processes=2), width=100)
    assert "  ranks 0-3 and 5-1023  MPI_Barrier  exchange at halo.c:7  waits for rank 4\n" in text
    assert "  rank 4                outside MPI  compute at halo.c:9\n" in text


def test_a_line_of_several_ranks_has_the_arguments_of_all() -> None:
    def gathers(rank: int, root: Any) -> Any:
        arguments = [{"name": "root", "value": root}, {"name": "comm", "value": 7, "meaning": "MPI_COMM_WORLD"}]
        return call(rank, None, 42, "MPI_Gather", arguments=arguments)

    def text(*roots: Any) -> str:
        calls = [gathers(rank, root) for rank, root in enumerate(roots)]
        return shown(diagnosed(finding("root mismatch", calls=calls), processes=len(roots)))

    assert "ranks 0-2  MPI_Gather(root 1, comm MPI_COMM_WORLD)" in text(1, 1, 1)
    assert "ranks 0-2  MPI_Gather(root 0/1/2, comm MPI_COMM_WORLD)" in text(0, 1, 2)
    assert "ranks 0-3  MPI_Gather(root ..., comm MPI_COMM_WORLD)" in text(0, 1, 2, 3)
    assert "ranks 0 and 1  MPI_Gather(root ?, comm MPI_COMM_WORLD)" in text(0, None)
    # A communicator that the library tells, not the arguments, is that of one rank alone.
    unknown = [{"name": "comm", "value": None}]
    one, other = (
        call(rank, None, 42, "MPI_Barrier", arguments=unknown, communicator=rank if known else None)
        for rank, known in ((0, True), (1, False))
    )
    assert "ranks 0 and 1  MPI_Barrier(comm ?)" in shown(diagnosed(finding(calls=[one, other]), processes=2))


def test_ranks_whose_requests_other_calls_started_are_lines_of_their_own() -> None:
    def waiting(rank: int, line: int, index: int) -> Any:
        by = {"function": "MPI_Igather", "file": "halo.c", "line": line, "request": f"reqs[{index}]", "certain": True}
        requests = [{"index": index, "state": "open", "started_by": [by]}]
        return call(rank, f"rank {rank} to send", 50, "MPI_Waitall", requests=requests)

    # The place in the array is no difference.
    found = finding(
        "collective mismatch", ranks=[0, 1, 2], calls=[waiting(0, 8, 0), waiting(1, 9, 1), waiting(2, 8, 2)]
    )
    text = shown(diagnosed(found, processes=3))
    assert "  ranks 0-2  MPI_Waitall  exchange at halo.c:50\n" in text
    assert "      ranks 0 and 2: request reqs[0], started by MPI_Igather at halo.c:8\n" in text
    assert "      rank 1: request reqs[1], started by MPI_Igather at halo.c:9\n" in text
    # The same of those that wait because of it.
    requests = [waiting(0, line, 0)["requests"] for line in (8, 9, 8)]
    ranks = [
        process(rank=rank, pid=rank + 1, world_size=3, calls=[{**waiting(rank, 8, 0), "requests": own}])
        for rank, own in enumerate(requests)
    ]
    places = shown(snapshot(*ranks).diagnose())
    assert len(re.findall(r"^ +request reqs\[0\]", places, re.MULTILINE)) == 2, places


def test_a_cycle_of_many_ranks_is_cut_and_says_so() -> None:
    ring = [call(rank, f"rank {(rank + 1) % 1024}", 7) for rank in range(1024)]
    found = diagnosed(finding(ranks=list(range(1024)), calls=ring))
    text = shown(found, more="mpi diagnose -verbose")
    assert "  … and ranks 8-1023 (to see all: mpi diagnose -verbose)\n" in text
    assert len(text.splitlines()) < 24
    # Of a sample the others are named, too.
    sample = shown(diagnosed(finding(ranks=list(range(1024)), calls=ring[:2])))
    assert "  … and ranks 2-1023\n" in sample


def test_a_place_is_told_once() -> None:
    second = finding("tag mismatch", "rank 1 sent tag 18, rank 0 waits for tag 17", advice="compare the tags")
    text = shown(diagnosed(finding(), second))
    assert "tag mismatch: rank 1 sent tag 18, rank 0 waits for tag 17\n" in text
    assert text.count("halo.c:42") == 1
    assert "To do: compare the tags" in text


def test_what_is_only_possible_is_said_to_be() -> None:
    text = shown(diagnosed(finding(certain=False, evidence=["it is not known whether"])), more="mpi diagnose -verbose")
    assert "deadlock (possible): " in text
    assert "Possible: it fits what was read, which does not prove it; for what is not known, type: mpi" in " ".join(
        text.split()
    )
    assert "it is not known whether" not in text
    verbose = shown(diagnosed(finding(certain=False, evidence=["it is not known whether"])), verbose=True)
    assert "  - it is not known whether\n" in verbose
    assert "ossible" not in shown(diagnosed(finding()))


def test_verbose_shows_arguments_and_the_whole_path() -> None:
    arguments = [{"name": "count", "value": 3}, {"name": "source", "value": 1}, {"name": "comm", "meaning": "halo"}]
    found = diagnosed(finding(calls=[call(0, "rank 1", 42, arguments=arguments)]))
    text = shown(found, verbose=True)
    assert "MPI_Recv(source 1, comm halo)" in text and "exchange at /home/me/src/halo.c:42" in text
    assert "source 1" not in shown(found)
    # What is waited for is not known: then the arguments tell something.
    assert "MPI_Recv(source 1, comm halo)" in shown(diagnosed(finding(calls=[call(0, None, 42, arguments=arguments)])))


def test_movement_limits_and_what_to_type() -> None:
    movement = [{"rank": rank, "state": "stuck", "how": []} for rank in range(3)]
    movement.append({"rank": 3, "state": "slow", "how": ["its counter moved", "and more"]})
    text = shown(
        diagnosed(finding(), movement=movement, interval_ms=520, limits=["rank 7 was not read", *"abcdef"]),
        queues_of=lambda rank: f"mpi queues -rank {rank}",
        more="mpi diagnose -verbose",
    )
    assert "Between the two looks, 0.5 s apart:\n" in text
    assert "  ranks 0-2  stuck: did not move\n  rank 3     slow: its counter moved\n" in text
    assert (
        "Not all is known. rank 7 was not read. a. b. c.\n" in text
        and "… and 3 more limits (to see all: mpi diag" in text
    )
    assert "The queues of rank 0: mpi queues -rank 0\nThe evidence: mpi diagnose -verbose\n" in text


def test_without_findings_it_says_where_the_ranks_are() -> None:
    inside = {"thread": 1, "function": "MPI_Recv", "file": "a.c", "line": 3, "caller": "main"}
    outside = {"thread": 1, "function": "clock_nanosleep", "caller": "work", "file": "a.c", "line": 9}
    what = snapshot(
        process(rank=0, world_size=5, calls=[inside]),
        process(
            rank=1, world_size=5, outside=[{"thread": 2, "function": "poll", "file": "poll.c", "line": 1}, outside]
        ),
        process(rank=2, world_size=5, outside=[outside]),
        process(rank=3, world_size=5, stage="finalized"),
        process(rank=4, world_size=5, problems=["gone"]),
    )
    text = shown(what.diagnose())
    places = text[text.index("Where they are:") :]
    assert "  rank 0         in MPI_Recv                 main at a.c:3\n" in places
    assert "  ranks 1 and 2  outside MPI, in clock_nanosleep  work at a.c:9\n" in places
    assert "  rank 3         after MPI_Finalize\n  rank 4         could not be read\n" in places


def test_ranks_that_no_finding_names_are_told_where_they_are() -> None:
    text = shown(diagnosed(finding(), processes=3))
    assert "\nThe other ranks:\n  rank 2  not known where\n" in text
    assert "other ranks" not in shown(diagnosed(finding(), processes=2))


def test_one_rank_of_many_is_told_how_to_read_the_others() -> None:
    text = shown(snapshot(process(world_size=64)).diagnose(), others="mpi attach")
    assert "1 of 64 ranks was read; to read all: mpi attach\n" in text
    assert "were read" not in shown(snapshot(process(world_size=1)).diagnose(), others="mpi attach")


def test_a_second_look_is_told_of_where_one_is_not_enough() -> None:
    told = "A second look may tell more: type it again\n"
    assert told in shown(diagnosed(finding(certain=False)), again="type it again")
    assert told not in shown(diagnosed(finding()), again="type it again")
    assert told not in shown(diagnosed(finding(certain=False), interval_ms=500), again="type it again")


def test_str_is_the_text() -> None:
    found = diagnosed(finding())
    assert str(found) == shown(found).rstrip("\n")
    assert mpi_queues.Diagnosis is type(found)


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("width", [40, 80, 100])
def test_no_line_is_wider_than_the_terminal(width: int, verbose: bool) -> None:
    long = "日本語 and a\x1b[2Jvery long sentence without sense, " * 40 + "x" * 300
    calls = [call(rank, long, rank, long, caller=long, file=long) for rank in range(30)]
    calls += [call(None, long, 1), {"rank": -5, "function": ""}, {"rank": (1 << 63) - 1}]
    movement = [{"rank": rank, "state": "moved", "how": [long, long]} for rank in (*range(20), None)]
    findings = [
        finding("deadlock", long, calls=calls, ranks=[-1, 1 << 62], evidence=[long], advice=long, certain=False)
        for _ in range(9)
    ]
    found = diagnosed(*findings, headline=long, limits=[long] * 9, movement=movement)
    text = shown(found, width=width, verbose=verbose, more=long, others=long, queues_of=lambda rank: long)
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if words.columns(line) > width] == []


def test_a_typical_deadlock_fits_a_screen() -> None:
    calls = [call(rank, f'rank {(rank + 1) % 4} to send tag 17 on "halo"', 40 + rank) for rank in range(4)]
    found = diagnosed(
        finding(calls=calls, ranks=[0, 1, 2, 3], advice="compare the tags"),
        finding("tag mismatch", "rank 1 sent tag 18 on halo, rank 0 waits for tag 17", calls=calls[:2]),
        movement=[{"rank": rank, "state": "stuck", "how": ["nothing moved"]} for rank in range(4)],
        interval_ms=500,
    )
    lines = shown(found, width=80, more="mpi diagnose -verbose", queues_of=lambda rank: "mpi queues").splitlines()
    assert len(lines) <= 24 and max(map(words.columns, lines)) <= 80


def test_the_page_on_diagnoses_has_every_kind_and_state() -> None:
    types = json.loads((PROJECT / "docs" / "schema.json").read_text(encoding="utf-8"))["$defs"]
    page = (PROJECT / "docs" / "diagnosis.md").read_text(encoding="utf-8")
    wanted = [one["const"] for name in ("FindingKind", "State") for one in types[name]["oneOf"]]
    told = re.findall(r"^\| `([^`]+)` \|", page, re.M)
    assert len(wanted) == 27
    assert told[: len(wanted)] == [*wanted[-5:], *wanted[:-5]]


def test_a_rank_that_stands_above_is_not_told_again() -> None:
    """A slow rank's finding is about that rank; those that wait for it have their lines, too."""
    slow = finding("slow rank", "rank 0 is outside MPI; ranks 1 and 2 wait for it", ranks=[0])
    slow["calls"] = [call(0, None, 7, ""), call(1, "rank 0", 42), call(2, "rank 0", 42)]
    text = shown(diagnosed(slow, processes=3, state="waiting", headline="No deadlock."))
    assert "other ranks" not in text and "Where they are" not in text
    assert "rank 3" in shown(diagnosed(slow, processes=4)).split("The other ranks:")[1]


def test_the_communicator_that_the_library_tells_stands_in_the_call() -> None:
    unknown = [{"name": "count", "value": 1}, {"name": "comm", "value": None, "unknown": "optimized out"}]
    inside = finding()
    for one in inside["calls"]:
        one.update(function="MPI_Allreduce", arguments=unknown, communicator=communicator()["unique_id"])
    text = shown(diagnosed(inside), verbose=True)
    assert f"MPI_Allreduce(comm {communicator()['name']})" in text and "comm ?" not in text
