"""Damage in the memory of a live rank: an error or a problem that says so, the rest right, and never a hang.

The ranks of ``truth_comms`` hang in pause(), so that the library does not run over the damage; it is undone afterwards.
"""

from __future__ import annotations

import json
import struct
import time
from typing import Any, Dict, Iterator

import pytest
from support.builds import MpiBuild
from support.cli import Result, mpi_queues
from support.compare import compare
from support.jobs import Job
from support.memory import POINTER, peek, peek_pointer, poked, symbol

# Offsets in Open MPI 4.1.4 and 5.0.7 alike, built without debugging.
#: opal_list_item_t.opal_list_next (opal/class/opal_list.h).
LIST_NEXT = 16
#: opal_class_t.cls_sizeof (opal/class/opal_object.h).
CLASS_SIZE = 56
#: mca_base_component_t.mca_component_name and .mca_component_major_version (opal/mca/mca.h).
COMPONENT_NAME, COMPONENT_VERSION = 84, 148
#: ompi_communicator_t.c_pml_comm (ompi/communicator/communicator.h).
PML_COMM = 328
#: mca_pml_comm_t.procs and mca_pml_ob1_comm_proc_t.unexpected_frags' first element (ompi/mca/pml/ob1/pml_ob1_comm.h).
PROCS, FIRST_UNEXPECTED = 216, 136
#: opal_free_list_t.fl_frag_size and .fl_allocations' first element (opal/class/opal_free_list.h).
POOL_ITEM_SIZE, POOL_FIRST_CHUNK = 112, 288


@pytest.fixture(scope="module")
def job(mpi_build: MpiBuild) -> Iterator[Job]:
    with Job(mpi_build, "truth_comms", ranks=3) as started:
        yield started


def _assert_nothing_shown(result: Result) -> None:
    """No process is shown, and the reason stands where programs look for it."""
    snapshot = json.loads(result.out)
    assert snapshot["processes"] == []
    assert len(snapshot["problems"]) == 1


def _show(job: Job, *options: str) -> Result:
    started = time.monotonic()
    result = mpi_queues("show", "--pid", str(job.pids[0]), "--format", "json", *options)
    assert time.monotonic() - started < 60
    assert "Traceback" not in result.err, str(result)
    job.assert_running()
    return result


def _victim(job: Job) -> Dict[str, Any]:
    """A receive from a specific source on a communicator with traffic."""
    truth = job.truth[0]
    named = _comm(job)
    return next(op for op in truth["receives"] if op["comm"] == named and op["peer"] is not None)


def _comm(job: Job) -> str:
    handle: str = next(comm["handle"] for comm in job.truth[0]["communicators"] if comm["name"] == "merged")
    return handle


def _place(job: Job, site: str) -> int:
    """Where a list of that kind holds its first or a middle link."""
    pid = job.pids[0]
    if site == "receives":
        return int(_victim(job)["request"], 16) + LIST_NEXT
    if site == "pool":
        return symbol(pid, "mca_pml_base_recv_requests") + POOL_FIRST_CHUNK
    message = next(message for message in job.truth[0]["unexpected"] if message["comm"] == _comm(job))
    pml = peek_pointer(pid, int(_comm(job), 16) + PML_COMM)
    proc = peek_pointer(pid, peek_pointer(pid, pml + PROCS) + 8 * message["peer"])
    if site == "unexpected":
        return proc + FIRST_UNEXPECTED
    assert site == "second unexpected"
    return peek_pointer(pid, proc + FIRST_UNEXPECTED) + LIST_NEXT


def _check_told(job: Job, result: Result) -> None:
    """Either all is right all the same, or the damage is told; then the order of the rest is right, and what is shown
    was posted."""
    process = json.loads(result.out)["processes"][0]
    differences = compare(job.truth[0], process)
    if not differences and result.status == 0:
        return
    states = [
        comm[queue]["state"]
        for comm in process["communicators"]
        for queue in ("pending_sends", "pending_receives", "unexpected_messages")
    ]
    assert "error" in states or process["problems"], f"nothing tells of:\n{differences}"
    assert result.status == 1, str(result)
    assert result.err.strip(), "status 1 and nothing on standard error"
    kinds = {"missing", "state", "order"}
    wrong = [str(difference) for difference in differences if difference.kind not in kinds]
    assert wrong == []


@pytest.mark.parametrize("damage", ["null", "itself", "unmapped", "kernel", "odd", "text"])
@pytest.mark.parametrize("site", ["receives", "unexpected", "second unexpected", "pool"])
@pytest.mark.usual("debian-*-itself", "debian-*-unmapped")
def test_a_damaged_list(job: Job, site: str, damage: str) -> None:
    if (site, damage) == ("unexpected", "itself"):
        # An empty list: only its length tells, which a stop in the middle of an insertion falsifies as well.
        damage = "null"
    pid, place = job.pids[0], _place(job, site)
    values = {
        "null": 0,
        "itself": place - LIST_NEXT,
        "unmapped": 0x10,
        "kernel": 0xFFFF_8000_0000_0000,
        "odd": peek_pointer(pid, place) + 3,
        "text": int.from_bytes(b"damaged!", "little"),
    }
    with poked(pid, place, POINTER.pack(values[damage])):
        result = _show(job)
    _check_told(job, result)


@pytest.mark.parametrize("size", [0, 1, 7, 1 << 15, 1 << 62])
@pytest.mark.usual("debian-1", "debian-4611686018427387904")
def test_a_pool_whose_items_have_an_impossible_size(job: Job, size: int) -> None:
    """Of size 0 a walk that does not look never ends."""
    place = symbol(job.pids[0], "mca_pml_base_recv_requests") + POOL_ITEM_SIZE
    with poked(job.pids[0], place, POINTER.pack(size)):
        result = _show(job)
    _check_told(job, result)


def test_undone_all_is_right_again(job: Job) -> None:
    result = _show(job)
    assert result.status == 0
    assert compare(job.truth[0], json.loads(result.out)["processes"][0]) == []


def test_a_request_full_of_garbage(job: Job) -> None:
    """Overwritten from its list links on: it is garbage or missing, and the operations of others are right."""
    victim = _victim(job)
    with poked(job.pids[0], int(victim["request"], 16) + LIST_NEXT + 16, b"\xaa" * 400):
        result = _show(job)
    assert result.status in (0, 1), str(result)
    differences = compare(job.truth[0], json.loads(result.out)["processes"][0])
    # Whose receive it was cannot be told, so any list of receives may lack one.
    wrong = [one for one in differences if one.kind != "state" and str(victim["request"]) not in str(one)]
    assert not wrong, "\n".join(map(str, wrong))
    assert result.status == 1 or not differences


def test_a_name_without_an_end_and_with_control_characters(job: Job) -> None:
    """Nothing that moves a terminal's cursor is printed, in either format."""
    comm = next(comm for comm in job.truth[0]["communicators"] if comm["name"] == "merged")
    pid, handle = job.pids[0], int(comm["handle"], 16)
    place = peek(pid, handle, 512).find(b"merged\0")
    if place >= 0:
        address = handle + place
    else:
        # From 5.0 on c_name is a pointer.
        words = struct.unpack("<64Q", peek(pid, handle, 512))
        address = next(word for word in words if _text(pid, word) == b"merged\0")
    with poked(pid, address, b"\x1b[2J\x07\xff\x80"):
        for format in ("json", "text"):
            result = mpi_queues("show", "--pid", str(pid), "--format", format)
            assert result.status == 0, str(result)
            assert "\x1b" not in result.out and "\x07" not in result.out, repr(result.out)
    job.assert_running()


def _text(pid: int, address: int) -> bytes:
    try:
        return peek(pid, address, 7)
    except (OSError, OverflowError):
        return b""


def test_a_version_that_no_profile_fits(job: Job) -> None:
    pid = job.pids[0]
    address = symbol(pid, "mca_pml_base_selected_component")
    with poked(pid, address + COMPONENT_VERSION, struct.pack("<3i", 9, 8, 7)):
        result = _show(job)
    assert result.status == 3, str(result)
    _assert_nothing_shown(result)
    assert "9.8.7" in result.err and "mpi-queues layouts" in result.err, str(result)


def test_a_structure_of_another_size(job: Job) -> None:
    pid = job.pids[0]
    address = symbol(pid, "ompi_communicator_t_class")
    with poked(pid, address + CLASS_SIZE, POINTER.pack(12345)):
        result = _show(job)
    assert result.status == 3, str(result)
    _assert_nothing_shown(result)
    assert "ompi_communicator_t" in result.err and "12345" in result.err, str(result)


def test_a_transport_whose_name_is_garbage(job: Job) -> None:
    pid = job.pids[0]
    address = symbol(pid, "mca_pml_base_selected_component")
    with poked(pid, address + COMPONENT_NAME, b"\x1b]0;x\x07" + b"A" * 57):
        result = _show(job)
    assert result.status in (0, 1, 3), str(result)
    assert "\x1b" not in result.out + result.err
