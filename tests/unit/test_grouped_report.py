"""Text of whole jobs: each communicator once, and only what differs."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from mpi_queues import Snapshot
from mpi_queues.report import grouped
from mpi_queues.report.text import Options
from samples import communicator, operation, process, queue, snapshot


def shown(view: Any, job: Snapshot, **options: Any) -> str:
    written: List[str] = []
    view(job, written.append, Options(**options))
    text = "".join(written)
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "\n\n\n" not in text
    return text


def rank(number: int, peer: Optional[int], **fields: Any) -> Dict[str, Any]:
    receives = [] if peer is None else [operation(desired_local_rank=peer, desired_global_rank=peer)]
    world = communicator(local_rank=number, size=8, group=list(range(8)), pending_receives=queue(receives))
    alone = communicator("MPI_COMM_SELF", size=1, group=[number], unique_id=1)
    return process(world, alone, rank=number, world_size=8, pid=100 + number, **fields)


def job(*more: Dict[str, Any]) -> Snapshot:
    return snapshot(*(rank(number, 7) for number in range(5)), rank(6, 7), rank(7, None), *more)


def test_a_communicator_is_shown_once_with_all_who_wait_in_it() -> None:
    text = shown(grouped.write_by_communicator, job())
    assert "MPI_COMM_WORLD: world ranks 0-7, seen in ranks 0-4, 6 and 7\n" in text
    assert "  ranks 0-4 and 6: pending receive from 7, tag 7, " in text
    assert text.count("MPI_COMM_WORLD") == 1
    assert "Nothing is pending or unexpected in: MPI_COMM_SELF (7 of that name)\n" in text
    assert text.endswith("7 processes, 14 communicators: 0 sends, 6 receives, 0 unexpected messages\n")


def test_communicators_of_one_name_with_other_members_are_others() -> None:
    def half(number: int, group: List[int]) -> Dict[str, Any]:
        receives = queue([operation(any_source=True)])
        return process(communicator("half", group=group, pending_receives=receives), rank=number, pid=number + 1)

    text = shown(grouped.write_by_communicator, snapshot(half(0, [0, 2]), half(1, [1, 3]), half(2, [0, 2])))
    assert "half: world ranks 0 and 2, seen in ranks 0 and 2\n" in text
    assert "half: world ranks 1 and 3, seen in rank 1\n" in text


def test_both_sides_of_an_intercommunicator_are_one() -> None:
    def side(number: int, group: List[int], remote: List[int]) -> Dict[str, Any]:
        receives = queue([operation()])
        one = communicator("inter", group=group, remote_group=remote, pending_receives=receives)
        return process(one, rank=number, pid=number + 1)

    text = shown(grouped.write_by_communicator, snapshot(side(0, [0, 1], [2, 3]), side(2, [2, 3], [0, 1])))
    assert text.count("inter: world ranks") == 1
    assert "seen in ranks 0 and 2" in text


def test_only_what_differs() -> None:
    text = shown(grouped.write_by_difference, job())
    assert "Equal in all 7 processes:\n  Open MPI 4.1.4, transport ob1\n" in text
    assert "ranks 0-4 and 6 (6 processes):\n  MPI_COMM_WORLD: pending receive from 7, tag 7, " in text
    assert "rank 7 (1 process):\n  nothing else\n" in text
    assert text.count("Open MPI") == 1


def test_ranks_that_could_not_be_read_are_rows_of_their_own() -> None:
    lost = process(rank=5, world_size=8, pid=105, mpi=None, source=None, problems=["rank 5: it has ended"])
    for view in (grouped.write_by_difference, grouped.write_by_communicator):
        text = shown(view, job(lost))
        assert "Problem, rank 5: rank 5: it has ended\n" in text
    assert "rank 5 (1 process):\n  could not be read: see the problems below\n" in shown(
        grouped.write_by_difference, job(lost)
    )


def test_what_is_not_known_is_not_empty() -> None:
    hidden = communicator(pending_sends=queue(state="no_information", detail="MPICH keeps no list of sends"))
    one, two = process(hidden), process(hidden, rank=1, pid=7)
    for view in (grouped.write_by_difference, grouped.write_by_communicator):
        assert "pending sends: not known: MPICH keeps no list of sends" in shown(view, snapshot(one, two))


def test_long_queues_and_hostile_names() -> None:
    many = [operation(desired_tag=tag) for tag in range(50)]
    world = communicator(
        "\x1b[2J" + "x" * 300, unexpected_messages=queue([operation()] * 5000), pending_sends=queue(many)
    )
    one, two = process(world), process(world, rank=1, pid=7)
    for view in (grouped.write_by_difference, grouped.write_by_communicator):
        text = shown(view, snapshot(one, two), limit=3, show_more="--limit all")
        assert "\x1b" not in text
        assert "unexpected message from 1, tag 7, ? (3 times)" in " ".join(text.split())
        assert "and 4,997 more unexpected messages (to see them: --limit all)" in " ".join(text.split())
        assert len(text.splitlines()) < 40


def test_no_process_at_all() -> None:
    for view in (grouped.write_by_difference, grouped.write_by_communicator):
        assert shown(view, Snapshot()).startswith("0 processes")
