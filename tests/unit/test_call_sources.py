"""Calls of MPI functions in sources: found by the line that a debugger tells, with their arguments."""

from __future__ import annotations

import os
import pathlib
from typing import List

import pytest
from mpi_queues.calls import constants, expressions, macros, signatures, source
from mpi_queues.calls.source import Unknown

C = """\
#include "tags.h"
#define PEER 3
#ifdef OTHER
#define WIDTH 1
#else
#define WIDTH 2
#endif
void f(void) {
    /* MPI_Recv(nothing) */ MPI_Recv(buf, n * (2, 3), // one, two)
        MPI_INT, PEER, g("a,)b", ','), comm, &status);
    CHECK(
        MPI_Send(&x[i], 1, (MPI_Datatype){0}, 1, 2, comm)
    );
    MPI_Recv(a, 1, t, 0, 0, c, s); MPI_Recv(b, 1, t, 0, 0, c, s);
    if (1) PMPI_Barrier(comm);
    text = "MPI_Barrier(no)";
    MPI_Wait(
#ifdef OTHER
        &r,
#else
        &q,
#endif
        s);
}
"""
FORTRAN = """\
      program p ! call MPI_Recv(no)
      call mpi_recv(x, 1, MPI_REAL, &
        ! a comment, with commas
        MPI_ANY_SOURCE, mod(tag, 7), 'a, ''b', &
        st, ierr)
      if (rank == 0) call MPI_Barrier(comm, ierr)
      end
"""
FIXED = """\
C     CALL MPI_RECV(NO)
      CALL MPI_RECV(X, 1,
     &              MPI_REAL, 0, TAG, COMM, ST,
     +              IERR)
"""


@pytest.fixture
def sources(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "a.c").write_text(C)
    (tmp_path / "tags.h").write_text(
        "#ifndef TAGS_H\n#define TAGS_H\n#define TAG (BASE + 1)\n#define BASE 7\n#define WORLD MPI_COMM_WORLD\n"
        "#define CALL(x) x\n#define LONG 1 + \\\n 2 /* no */\n#define TWICE 1\n#undef TWICE\n#endif\n"
    )
    (tmp_path / "a.f90").write_text(FORTRAN)
    (tmp_path / "a.f").write_text(FIXED)
    return tmp_path


def opened(directory: pathlib.Path, name: str) -> source.Source:
    path = directory / name
    return source.read(str(path), os.stat(path).st_mtime + 10)


@pytest.mark.parametrize(
    ("line", "function", "arguments"),
    [
        (9, "MPI_Recv", ["buf", "n * (2, 3)", "MPI_INT", "PEER", "g(\"a,)b\", ',')", "comm", "&status"]),
        (10, "MPI_Recv", ["buf", "n * (2, 3)", "MPI_INT", "PEER", "g(\"a,)b\", ',')", "comm", "&status"]),
        (11, "MPI_Send", ["&x[i]", "1", "(MPI_Datatype){0}", "1", "2", "comm"]),
        (13, "MPI_Send", ["&x[i]", "1", "(MPI_Datatype){0}", "1", "2", "comm"]),
        (15, "MPI_Barrier", ["comm"]),
    ],
)
def test_calls_of_c(sources: pathlib.Path, line: int, function: str, arguments: List[str]) -> None:
    assert list(source.find(opened(sources, "a.c"), function, line).arguments) == arguments


@pytest.mark.parametrize(
    ("line", "function", "reason"),
    [
        (14, "MPI_Recv", "several calls of MPI_Recv stand in line 14 of a.c"),
        (16, "MPI_Barrier", "no call of MPI_Barrier stands in line 16 of a.c"),
        (2, "MPI_Recv", "no call of MPI_Recv stands in line 2 of a.c"),
        (99, "MPI_Recv", "the source a.c has no line 99"),
        (0, "MPI_Recv", "the source a.c has no line 0"),
        (-1, "MPI_Recv", "the source a.c has no line -1"),
    ],
)
def test_what_is_not_found_is_said(sources: pathlib.Path, line: int, function: str, reason: str) -> None:
    with pytest.raises(Unknown) as caught:
        source.find(opened(sources, "a.c"), function, line)
    assert str(caught.value) == reason


def test_a_call_with_conditions_inside_has_too_many_arguments(sources: pathlib.Path) -> None:
    assert list(source.find(opened(sources, "a.c"), "MPI_Wait", 17).arguments) == ["&r", "&q", "s"]


@pytest.mark.parametrize("line", [2, 4, 5])
def test_calls_of_fortran(sources: pathlib.Path, line: int) -> None:
    found = source.find(opened(sources, "a.f90"), "MPI_Recv", line).arguments
    assert list(found) == ["x", "1", "MPI_REAL", "MPI_ANY_SOURCE", "mod(tag, 7)", "'a, ''b'", "st", "ierr"]
    assert source.find(opened(sources, "a.f90"), "MPI_Barrier", 6).arguments == ("comm", "ierr")


def test_the_only_call_of_fortran_may_be_told_with_another_line(sources: pathlib.Path) -> None:
    assert source.find(opened(sources, "a.f90"), "MPI_Barrier", 2).arguments == ("comm", "ierr")
    (sources / "b.F90").write_text(FORTRAN)
    with pytest.raises(Unknown):
        source.find(opened(sources, "b.F90"), "MPI_Barrier", 2)


def test_calls_of_fortran_in_fixed_form(sources: pathlib.Path) -> None:
    found = source.find(opened(sources, "a.f"), "MPI_Recv", 4).arguments
    assert list(found) == ["X", "1", "MPI_REAL", "0", "TAG", "COMM", "ST", "IERR"]


def test_a_source_that_is_newer_or_not_there_is_not_read(sources: pathlib.Path) -> None:
    path = sources / "a.c"
    for built, reason in [
        (os.stat(path).st_mtime - 1, "the source a.c was changed after the program was built"),
        (None, "whether the source file a.c is the one that the program was built from is not known"),
    ]:
        with pytest.raises(Unknown) as caught:
            source.read(str(path), built)
        assert str(caught.value) == reason
    with pytest.raises(Unknown, match="is not on this machine"):
        source.read(str(sources / "b.c"), 1.0)


def test_names_of_the_preprocessor(sources: pathlib.Path) -> None:
    found = opened(sources, "a.c")
    built = os.stat(sources / "tags.h").st_mtime + 10

    def expanded(text: str) -> object:
        return macros.expanded(found, text, built)

    assert expanded("TAG * 2") == "(((7) + 1)) * 2"
    assert expanded("WORLD") == "(MPI_COMM_WORLD)"
    assert expressions.constant_in(str(expanded("WORLD"))) == "MPI_COMM_WORLD"
    assert expanded("LONG") == "(1 +   2)"
    assert expanded("CALL") is None and expanded("x.TAG") is None and expanded("n + 1") is None
    for name in ("WIDTH", "TWICE"):
        with pytest.raises(Unknown, match="several ways, or under a condition"):
            expanded(name)
    with pytest.raises(Unknown, match=r"tags\.h was changed"):
        macros.expanded(found, "TAG", os.stat(sources / "tags.h").st_mtime - 1)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("MPI_COMM_WORLD", "MPI_COMM_WORLD"),
        ("((MPI_COMM_SELF))", "MPI_COMM_SELF"),
        ("((MPI_Comm)(MPI_COMM_SELF))", "MPI_COMM_SELF"),
        ("(MPI_COMM_SELF)(", None),
        ("(MPI_A) + (MPI_B)", None),
        ("(MPI_COMM_SELF)", "MPI_COMM_SELF"),
        ("(MPI_Comm) MPI_COMM_SELF", "MPI_COMM_SELF"),
        ("(void *)MPI_BOTTOM", "MPI_BOTTOM"),
        ("MPI::INT", None),
        ("MPI_Comm", None),
        ("MPI_ANY_TAG + 1", None),
        ("comm", None),
        ("", None),
    ],
)
def test_constants_of_mpi(text: str, name: object) -> None:
    assert expressions.constant_in(text) == name


def test_parameters_of_the_standard() -> None:
    names = [one.name for one in signatures.parameters("MPI_Recv") or []]
    assert names == ["buf", "count", "datatype", "source", "tag", "comm", "status"]
    assert names == [one.name for one in signatures.parameters("MPI_Recv_c") or []]
    assert signatures.parameters("MPI_Finalize") == []
    for name in ("MPI_Nothing", "MPI_", "", "c", "MPI__c", "PMPI_Recv"):
        assert signatures.parameters(name) is None
    waitall = {one.name: one for one in signatures.parameters("MPI_Waitall") or []}
    assert waitall["array_of_requests"].length == "count"
    wrapped = [one.name for one in signatures.parameters("MPI_Rget_accumulate") or []]
    assert wrapped[-1] == "request" and len(wrapped) == 13


def test_constants_by_the_family() -> None:
    symbols = {"ompi_mpi_comm_world": 0x1000}
    known = constants.family(symbols.get, lambda: "libmpi.so.40")
    assert known.name == "openmpi"
    assert known.value("MPI_COMM_WORLD", fortran=False) == 0x1000
    assert known.value("MPI_COMM_WORLD", fortran=True) == 0
    assert known.meaning("source", -1) == "MPI_ANY_SOURCE" and known.meaning("dest", -2) == "MPI_PROC_NULL"
    mpich = constants.family({"MPI_UNWEIGHTED": 1}.get, lambda: "libmpich.so.12")
    assert mpich.meaning("source", -2) == "MPI_ANY_SOURCE" and mpich.meaning("root", -3) == "MPI_ROOT"
    assert mpich.meaning("recvtag", -1) == "MPI_ANY_TAG" and mpich.meaning("count", -1) is None
    unknown = constants.family({}.get, lambda: "libfoo.so")
    assert unknown.value("MPI_COMM_WORLD", fortran=False) is None and unknown.meaning("source", -1) is None
    assert constants.family({}.get, lambda: "/x/libmpi_abi.so.0").value("MPI_COMM_SELF", fortran=False) == 0x102
