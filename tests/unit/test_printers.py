"""What the printers of all debuggers share: names of types, and words."""

from __future__ import annotations

from typing import List

import pytest
from mpi_queues.errors import UserError
from mpi_queues.handle_types import KINDS
from mpi_queues.printers import names, words
from mpi_queues.printers.names import Wrapper


def no_members() -> List[str]:
    raise AssertionError("the members do not matter here")


def test_every_kind_has_its_type_and_its_structure() -> None:
    assert set(names.TYPEDEFS.values()) == set(KINDS)
    assert {*names.STRUCTURES.values(), "status"} == set(KINDS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ompi_status_public_t", Wrapper("status", "", False)),
        ("struct ompi_status_public_t", Wrapper("status", "", False)),
        ("MPI::Cartcomm", Wrapper("comm", "mpi_comm", False)),
        ("class MPI::Grequest", Wrapper("request", "mpi_request", False)),
        ("MPI::Status", Wrapper("status", "mpi_status", False)),
        ("particle", None),
        ("", None),
        (None, None),
    ],
)
def test_structures_by_name(name: str, expected: Wrapper) -> None:
    assert names.of_structure(name, no_members) == expected


@pytest.mark.parametrize(
    ("name", "members", "expected"),
    [
        ("mpi_comm", ["mpi_val"], Wrapper("comm", "mpi_val", True)),
        ("MPI_WIN", ["MPI_VAL"], Wrapper("win", "mpi_val", True)),
        ("mpi_status", ["mpi_source", "mpi_tag", "mpi_error", "c_cancelled", "c_count"], Wrapper("status", "", False)),
        # The application's own structures.
        ("mpi_comm", ["rank", "size"], None),
        ("mpi_comm", ["mpi_val", "more"], None),
        ("mpi_status", ["mpi_tag", "mpi_source"], None),
    ],
)
def test_structures_of_fortran_need_their_members(name: str, members: List[str], expected: Wrapper) -> None:
    assert names.of_structure(name, lambda: members) == expected


def test_pointers_by_the_tag_of_the_structure() -> None:
    assert names.of_pointer("ompi_request_t") == names.of_pointer("struct ompi_request_t") == "request"
    assert names.of_pointer("ompi_status_public_t") is names.of_pointer("int") is names.of_pointer(None) is None


def test_reasons_are_short() -> None:
    assert words.reason(UserError("MPI_Init has not been called", kind="not_initialized")) == "MPI is not initialised"
    assert words.reason(UserError("the MPI library x is not Open MPI", kind="unsupported_mpi")) is None
    long = words.reason(UserError("a\n" + "b " * 200, kind="fault"))
    assert long is not None and len(long) == 100 and long.startswith("a b b") and long.endswith("…")


def test_words_around_values() -> None:
    assert words.with_reason("0x10", "no process") == "0x10 (no process)"
    assert words.with_reason("0x10", None) == "0x10"
    assert words.pointed(16, "MPI_COMM_NULL") == "0x10 -> MPI_COMM_NULL"
    assert words.address_integer(255, 8) == "255 (0xff)"
    assert words.address_integer(-1, 8) == "-1 (0xffffffffffffffff)"
    assert words.address_integer(-2, 4) == "-2 (0xfffffffe)"
