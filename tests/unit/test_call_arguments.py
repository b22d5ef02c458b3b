"""The arguments of calls, worked out in Rust for callers of Python: what these raise, and how long it may take."""

from __future__ import annotations

import os
import pathlib
import time
from typing import Iterator, Optional

import pytest
from mpi_queues import _native
from mpi_queues._native import Unknown
from mpi_queues.debuggers.callers import CallFrame
from mpi_queues.debuggers.values import Scope, Typed
from support.callers import MadeUpCaller, MadeUpScope

C = """\
#define TAG (BASE + 1)
#define BASE 7
void f(void) {
    MPI_Send(&data, n + 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    MPI_Send(gone, missing, 3 +, 1, 1, 1);
    MPI_Barrier(comm, 1);
    MPI_Wait(&n, status);
}
"""
FORTRAN = "call MPI_Recv(n, n + 1, tag=-1, datatype=t, source=MPI_ANY_SOURCE, comm=n, status=n)\n"


@pytest.fixture
def source(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "a.c"
    path.write_text(C)
    (tmp_path / "a.f90").write_text(FORTRAN)
    return str(path)


def caller(path: str, line: int, **more: object) -> MadeUpCaller:
    variables = {"n": 3, "data": 5}
    return MadeUpCaller(path, line, time.time() + 10, variables=variables, **more)  # type: ignore[arg-type]


def test_a_call_of_c(source: str) -> None:
    found, reason = caller(source, 4).call("MPI_Send")
    assert reason is None
    assert found == [
        {"name": "buf", "expression": "&data", "value": 0x1000},
        {"name": "count", "expression": "n + 1", "value": 4},
        {"name": "datatype", "expression": "MPI_INT", "value": None, "meaning": "MPI_INT"},
        {"name": "dest", "expression": "MPI_PROC_NULL", "value": -1, "meaning": "MPI_PROC_NULL"},
        {"name": "tag", "expression": "TAG", "value": 8},
        {"name": "comm", "expression": "MPI_COMM_WORLD", "value": 0x44000000, "meaning": "MPI_COMM_WORLD"},
    ]


def test_handles_in_memory(source: str) -> None:
    found, _ = caller(source, 8, memory={0x1000: b"\x07\0\0\xff"}).call("MPI_Wait")
    assert found[0] == {"name": "request", "expression": "&n", "value": 0x1000, "values": [-0xFFFFF9]}
    found, _ = caller(source, 8).call("MPI_Wait")
    assert found[0]["value"] == 0x1000
    assert found[0]["unknown"] == "the memory at 0x1000 cannot be read"
    assert found[1]["unknown"] == "no variable status"


def test_what_has_no_value_has_a_reason(source: str) -> None:
    found, reason = caller(source, 6).call("MPI_Send")
    assert reason is None
    assert [one.get("unknown") for one in found] == [
        "no variable gone",
        "no variable missing",
        "something is missing at its end",
        None,
        None,
        None,
    ]
    assert caller(source, 7).call("MPI_Barrier") == (
        [],
        "the call of MPI_Barrier has 2 arguments in the source, not 1, and the debug information does not describe the "
        "call (with -O1 and higher it does)",
    )
    for function, reason in [
        ("MPI_Nothing", "the parameters of MPI_Nothing are not known here"),
        ("MPI_Send", "the application has no debug information there"),
    ]:
        found, said = MadeUpCaller(None, None, None).call(function)
        assert found == [] and said is not None and said.startswith(f"{reason}, and ")


def test_a_call_of_fortran(source: str) -> None:
    found, reason = caller(source.replace(".c", ".f90"), 1).call("MPI_Recv")
    assert reason is None
    assert [(one["name"], one["value"], one.get("meaning")) for one in found] == [
        ("buf", 0x1000, None),
        ("count", 4, None),
        ("datatype", None, None),
        ("source", -2, "MPI_ANY_SOURCE"),
        ("tag", -1, "MPI_ANY_TAG"),
        ("comm", 3, None),
        ("status", 0x1000, None),
    ]


class Failing(MadeUpScope):
    """A debugger that fails otherwise than with ``Unknown``."""

    def __init__(self, error: BaseException) -> None:
        super().__init__({})
        self.error = error
        self.asked = 0

    def variable(self, name: str) -> Optional[Typed]:
        self.asked += 1
        raise self.error


class WithScope(MadeUpCaller):
    made: Scope

    def scope(self, *, fortran: bool) -> Scope:
        return self.made


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), ValueError("odd"), SystemExit(3)])
def test_what_debuggers_raise_goes_on(source: str, error: BaseException) -> None:
    failing = WithScope(source, 6, time.time() + 10)
    failing.made = scope = Failing(error)
    with pytest.raises(type(error)) as raised:
        failing.call("MPI_Send")
    assert raised.value is error
    # Nothing more is asked then.
    assert scope.asked == 1
    with pytest.raises(type(error)):
        _native.value_of_c("a", Failing(error))


def test_what_frames_raise_goes_on() -> None:
    class Frames(MadeUpCaller):
        def frames(self) -> Iterator[CallFrame]:
            raise KeyboardInterrupt
            yield

    with pytest.raises(KeyboardInterrupt):
        Frames(None, None, None).call("MPI_Send")


class Slow(MadeUpScope):
    def __init__(self, wait: object) -> None:
        super().__init__({})
        self._wait = wait

    def variable(self, name: str) -> Optional[Typed]:
        assert callable(self._wait)
        self._wait()
        return None


def busy() -> None:
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        pass


@pytest.mark.parametrize("wait", [busy, lambda: time.sleep(2.1)], ids=["processor", "real"])
def test_finding_it_out_takes_no_longer_than_ranks_can_wait(source: str, wait: object) -> None:
    slow = WithScope(source, 6, time.time() + 10)
    slow.made = Slow(wait)
    found, reason = slow.call("MPI_Send")
    assert reason is None
    assert [one["unknown"] for one in found] == ["no variable gone", *["finding it out would take too long"] * 5]


def test_numbers_of_any_size_and_names_of_any_bytes(source: str) -> None:
    large = MadeUpCaller(source, 4, time.time() + 10, variables={"n": 1 << 200, "data": 5})
    found, _ = large.call("MPI_Send")
    assert found[1]["value"] == 1
    negative = MadeUpCaller(source, 4, time.time() + 10, variables={"n": -(1 << 70), "data": 5})
    assert negative.call("MPI_Send")[0][1]["value"] == 1
    odd = os.fsdecode(b"/nowhere/\xff.c")
    assert "the source file /nowhere/\\xff.c is not on this machine" in str(
        MadeUpCaller(odd, 1, 1.0).call("MPI_Send")[1]
    )


def test_what_a_user_typed() -> None:
    scope = MadeUpScope({"$rax": 7, "n": 3})
    assert _native.value_of_c("1 + 2", scope) == 3
    found = _native.value_of_c("$rax", scope)
    assert isinstance(found, Typed) and found.number() == 7
    with pytest.raises(Unknown, match="it changes the program"):
        _native.value_of_c("n = 3", scope)
    with pytest.raises(Unknown, match="no variable nix"):
        _native.value_of_c("nix", scope)


def test_the_family_of_a_program() -> None:
    assert _native.mpi_family({"ompi_mpi_comm_world": 0x1000}.get, "libmpi.so.40") == "openmpi"
    assert _native.mpi_family({"MPI_UNWEIGHTED": 1}.get, "libmpich.so.12") == "mpich"
    assert _native.mpi_family({}.get, "/x/libmpi_abi.so.0") == "abi"
    assert _native.mpi_family({}.get, "libfoo.so") == ""

    def fails(name: str) -> Optional[int]:
        raise ValueError(name)

    with pytest.raises(ValueError, match="ompi_mpi_comm_world"):
        _native.mpi_family(fails, "")
