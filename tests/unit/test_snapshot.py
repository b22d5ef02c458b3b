"""Snapshots, processes, communicators, queues and operations as Python objects."""

from __future__ import annotations

import ast
import pathlib

import mpi_queues
import pytest
from mpi_queues import NativeError, Queue, Snapshot, _native
from samples import communicator, operation, process, queue, snapshot

RECEIVES = [operation(desired_tag=tag, call="MPI_Irecv", desired_length=80) for tag in (5, 6)]


def sample() -> Snapshot:
    halo = communicator(
        "halo", pending_receives=queue(RECEIVES), pending_sends=queue(state="no_information", detail="so")
    )
    return snapshot(process(communicator(), halo))


def receives() -> Queue:
    return sample().rank(0).communicator("halo").pending_receives


def test_a_queue_is_a_sequence() -> None:
    found = receives()
    assert len(found) == 2
    assert [one.desired_tag for one in found] == [5, 6]
    assert [found[-1].desired_tag, found[-2].desired_tag] == [6, 5]
    assert found[0] in found
    assert list(reversed(found)) == [found[1], found[0]]
    for index in (2, -3, 1 << 40):
        with pytest.raises(IndexError):
            found[index]


def test_a_queue_that_is_not_known_is_neither_true_nor_false() -> None:
    halo = sample().rank(0).communicator("halo")
    assert halo.pending_receives
    assert not halo.unexpected_messages
    with pytest.raises(NativeError, match="not known whether the queue is empty: so") as raised:
        bool(halo.pending_sends)
    assert raised.value.kind == "no_information"
    partly = communicator(pending_sends=queue([operation()], state="error", detail="a page is missing"))
    assert snapshot(process(partly)).rank(0).communicators[0].pending_sends


def test_equal_contents_are_equal() -> None:
    one, other = sample(), sample()
    assert one == other and one.rank(0) == other.rank(0)
    assert one.rank(0).communicators == other.rank(0).communicators
    assert receives() == receives() and receives()[0] == receives()[0]
    assert receives()[0] != receives()[1]
    halo = one.rank(0).communicator("halo")
    # Not known is not empty.
    assert halo.pending_sends != halo.unexpected_messages
    assert one != snapshot() and one != 7 and receives() != []


def test_what_they_are_is_seen_in_their_repr() -> None:
    assert repr(sample()) == "<mpi_queues.Snapshot of 1 process>"
    assert repr(sample().rank(0)) == "<mpi_queues.Process rank 0, pid 4242, 2 communicators>"
    assert repr(receives()[0]) == "<mpi_queues.Operation MPI_Irecv, peer 1, tag 5, 80 bytes, pending>"
    assert repr(sample().rank(0).communicator("halo")) == (
        '<mpi_queues.Communicator "halo", rank 0 of 2, pending sends: not known, '
        "pending receives: 2 operations, unexpected messages: 0 operations>"
    )
    assert repr(receives()) == (
        "<mpi_queues.Queue 2 operations: MPI_Irecv, peer 1, tag 5, 80 bytes, pending; "
        "MPI_Irecv, peer 1, tag 6, 80 bytes, pending>"
    )
    many = snapshot(process(communicator(pending_sends=queue([operation()] * 1000))))
    assert repr(many.rank(0).communicators[0].pending_sends).endswith(", and 995 more>")
    wild = snapshot(process(communicator(pending_sends=queue([{"any_source": True, "tag_wild": True}]))))
    assert "any source, any tag" in repr(wild.rank(0).communicators[0].pending_sends[0])


def test_a_rank_or_name_that_is_not_there_is_named() -> None:
    with pytest.raises(KeyError, match="rank 9"):
        sample().rank(9)
    with pytest.raises(KeyError, match="nosuch"):
        sample().rank(0).communicator("nosuch")


def test_the_documentation_is_the_same_for_people_and_for_editors() -> None:
    stub = ast.parse(pathlib.Path(_native.__file__ or "").with_name("_native.pyi").read_text(encoding="utf-8"))
    compared = 0
    for kind in (node for node in stub.body if isinstance(node, ast.ClassDef)):
        if not hasattr(mpi_queues, kind.name) or kind.name in ("Session", "NativeError"):
            continue
        for node in kind.body:
            if isinstance(node, ast.FunctionDef) and any(ast.unparse(one) == "property" for one in node.decorator_list):
                assert getattr(getattr(_native, kind.name), node.name).__doc__ == ast.get_docstring(node), node.name
                compared += 1
    assert compared == 109
