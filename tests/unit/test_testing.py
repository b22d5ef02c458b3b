"""The assertions about queues that users' tests make, on snapshots whose contents are known."""

from __future__ import annotations

import random
from typing import Any, Dict, List

import pytest
from mpi_queues import Queue, UserError
from mpi_queues.testing import assert_no_pending, assert_no_unexpected, assert_queue
from samples import communicator, operation, process, queue, snapshot


def a_queue(*operations: Dict[str, Any], **fields: Any) -> Queue:
    made = communicator(pending_receives=queue(list(operations), **fields))
    return snapshot(process(made)).rank(0).communicator("MPI_COMM_WORLD").pending_receives


def tags(*values: int) -> List[Dict[str, object]]:
    return [{"desired_tag": value} for value in values]


def refused(found: Queue, expected: List[Dict[str, Any]], **options: bool) -> str:
    with pytest.raises(AssertionError) as raised:
        assert_queue(found, expected, **options)
    return str(raised.value)


def of_tags(*values: int) -> Queue:
    return a_queue(*(operation(desired_tag=value, call="MPI_Irecv") for value in values))


def test_what_is_not_named_may_be_anything() -> None:
    found = a_queue(operation(desired_tag=5, call="MPI_Irecv", buffer="0x7f00"), operation(desired_tag=6))
    assert_queue(found, [{"desired_tag": 5, "call": "MPI_Irecv"}, {}])
    assert_queue(found, [{"status": "pending", "buffer": 0x7F00}, {"buffer": None}])
    assert_queue(found, [{"buffer": "0x7f00"}, {"desired_local_rank": 1}])
    assert_queue(a_queue(), [])


def test_the_order_matters_unless_it_is_said_not_to() -> None:
    assert_queue(of_tags(1, 2, 3), tags(1, 2, 3))
    assert_queue(of_tags(1, 2, 3), tags(3, 1, 2), ordered=False)
    said = refused(of_tags(1, 2, 3), tags(1, 3, 2))
    assert "out of order: expected [" in said
    assert "missing" not in said and "extra" not in said


def test_what_is_missing() -> None:
    said = refused(of_tags(1, 3), tags(1, 2, 3))
    assert "(3 expected, 2 found)" in said
    assert "missing: expected [1] {desired_tag: 2}" in said
    assert "extra" not in said and "differs" not in said


def test_what_is_extra() -> None:
    said = refused(of_tags(1, 2, 3), tags(1, 3))
    assert "extra:   found [1] <mpi_queues.Operation MPI_Irecv, peer 1, tag 2, pending>" in said
    assert "missing" not in said and "differs" not in said


def test_what_differs_and_in_which_field() -> None:
    found = a_queue(operation(desired_tag=5, buffer="0x10", status="complete"), operation(desired_tag=6))
    expected = [{"desired_tag": 5, "status": "pending", "buffer": "0x20"}, {"desired_tag": 6}]
    for ordered in (True, False):
        said = refused(found, expected, ordered=ordered)
        assert "differs: expected [0], found [0]" in said
        assert "status is 'complete', expected 'pending'; buffer is 0x10, expected 0x20" in said
        assert "desired_tag is" not in said


def test_nothing_in_common_is_missing_and_extra() -> None:
    said = refused(a_queue(operation(desired_tag=5, call="MPI_Recv")), [{"desired_tag": 6, "call": "MPI_Isend"}])
    assert "missing: expected [0]" in said and "extra:   found [0]" in said


def test_an_entry_that_leaves_much_open_does_not_take_what_another_needs() -> None:
    found = of_tags(1, 2, 3)
    assert_queue(found, [{}, {"desired_tag": 1}, {"desired_tag": 2}], ordered=False)
    assert_queue(found, [{}, {"desired_local_rank": 1, "desired_tag": 3}, {"desired_tag": 1}], ordered=False)
    said = refused(found, [{"desired_tag": 1}, {"desired_tag": 1}, {}], ordered=False)
    assert "differs: expected [1]" in said and "expected [0]" not in said and "expected [2]" not in said


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_a_queue_is_found_and_no_other_queue(seed: int) -> None:
    chosen = random.Random(seed)
    values = [chosen.randrange(4) for _ in range(chosen.randrange(1, 9))]
    # Entries that match one tag, or any: the last ones must get what is left.
    expected: List[Dict[str, object]] = [{} if chosen.random() < 0.3 else {"desired_tag": value} for value in values]
    chosen.shuffle(expected)
    assert_queue(of_tags(*values), expected, ordered=False)
    refused(of_tags(*values), [*expected, {}], ordered=False)
    wrong = [*expected[:-1], {"desired_tag": 99}]
    refused(of_tags(*values), wrong, ordered=False)


def test_long_queues_are_compared_and_their_difference_is_short() -> None:
    values = list(range(3000))
    assert_queue(of_tags(*values), tags(*values))
    said = refused(of_tags(*values), tags(*values[:1500], *values[1501:]))
    assert "extra:   found [1500]" in said
    assert said.count("\n") == 2
    said = refused(of_tags(*values), tags(*reversed(values)))
    assert said.count("\n") < 50 and "more" in said


@pytest.mark.parametrize("state", ["no_information", "error"])
def test_what_is_not_known_is_not_empty(state: str) -> None:
    found = a_queue(state=state, detail="type --mca pml ob1")
    assert "type --mca pml ob1" in refused(found, [])
    world = communicator(pending_receives=queue(state=state, detail="type --mca pml ob1"))
    with pytest.raises(AssertionError, match=r"rank 0, 'MPI_COMM_WORLD', pending receives .*type --mca pml ob1"):
        assert_no_pending(snapshot(process(world)))


def test_operations_of_mpi_itself_are_left_out_unless_asked_for() -> None:
    found = a_queue(operation(desired_tag=1), operation(desired_tag=-20, internal=True))
    assert_queue(found, tags(1))
    assert_queue(found, tags(1, -20), internal=True)


def test_mistakes_in_the_test_are_named() -> None:
    with pytest.raises(UserError, match="did you mean 'desired_tag'"):
        assert_queue(a_queue(), [{"desired_tg": 1}])
    with pytest.raises(UserError, match="'xyz' is not an address"):
        assert_queue(a_queue(), [{"buffer": "xyz"}])
    with pytest.raises(UserError, match="is a mapping"):
        assert_queue(a_queue(), [7])  # type: ignore[list-item]


def test_nothing_pending() -> None:
    idle = communicator("halo", unexpected_messages=queue([operation()]))
    done = communicator("done", pending_receives=queue([operation(status="complete")]))
    assert_no_pending(snapshot(process(idle, done)))
    with pytest.raises(AssertionError, match=r"rank 0, 'halo', unexpected messages: <mpi_queues.Operation peer 1"):
        assert_no_unexpected(snapshot(process(idle, done)))
    busy = communicator("busy", pending_sends=queue([operation(desired_tag=3)]))
    for of in (
        snapshot(process(busy)),
        snapshot(process(busy)).rank(0),
        snapshot(process(busy)).rank(0).communicators[0],
    ):
        with pytest.raises(AssertionError, match=r"'busy', pending sends: <mpi_queues.Operation peer 1, tag 3"):
            assert_no_pending(of)
        assert_no_unexpected(of)


def test_what_could_not_be_read_may_hold_anything() -> None:
    whole = process(communicator())
    with pytest.raises(AssertionError, match="no process"):
        assert_no_pending(snapshot())
    with pytest.raises(AssertionError, match="rank 1 is gone"):
        assert_no_pending(snapshot(whole, problems=["rank 1 is gone"]))
    with pytest.raises(AssertionError, match="rank 0: a page is missing"):
        assert_no_unexpected(snapshot(process(communicator(), problems=["a page is missing"])))
