"""Expressions that only look: what they are taken for, and what is refused."""

from __future__ import annotations

import pytest
from mpi_queues.debuggers import c_expressions
from mpi_queues.debuggers.c_expressions import Cast, Element, Member, Name, Node, Number, Sum, SyntaxProblem, Unary

A, B = Name("a"), Name("b")


def parse(text: str) -> Node:
    return c_expressions.parse(text, lambda name: name in ("MPI_Comm", "grid::own"))


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("a", A),
        (" a ", A),
        ("::a", Name("::a")),
        ("grid :: b", Name("grid::b")),
        ("$rsp", Name("$rsp")),
        ("17", Number(17)),
        ("0x1F", Number(31)),
        ("017", Number(15)),
        ("0", Number(0)),
        ("3UL", Number(3)),
        ("a.b", Member(A, "b")),
        ("a->b.c[1]", Element(Member(Member(A, "b"), "c"), Number(1))),
        ("a [ b + 1 ]", Element(A, Sum("+", B, Number(1)))),
        ("*a", Unary("*", A)),
        ("*a[1]", Unary("*", Element(A, Number(1)))),
        ("(*a).b", Member(Unary("*", A), "b")),
        ("&a.b", Unary("&", Member(A, "b"))),
        ("-1", Unary("-", Number(1))),
        ("a - b - 1", Sum("-", Sum("-", A, B), Number(1))),
        ("a - (b - 1)", Sum("-", A, Sum("-", B, Number(1)))),
        ("(MPI_Comm)0x10", Cast("MPI_Comm", 0, Number(16))),
        ("(grid::own)a", Cast("grid::own", 0, A)),
        ("(a)-1", Sum("-", A, Number(1))),
        ("(a)", A),
        ("(const MPI_Comm *const)a", Cast("MPI_Comm", 1, A)),
        ("(struct s **) a->b", Cast("s", 2, Member(A, "b"))),
        ("(unsigned long)a", Cast("unsigned long", 0, A)),
        ("*(MPI_Comm *)(a + 8)", Unary("*", Cast("MPI_Comm", 1, Sum("+", A, Number(8))))),
        ("(nix)&a", Cast("nix", 0, Unary("&", A))),
        ("(nix)(a)", Cast("nix", 0, A)),
        ("(int)(long)a", Cast("int", 0, Cast("long", 0, A))),
    ],
)
def test_what_is_taken(text: str, node: Node) -> None:
    assert parse(text) == node


@pytest.mark.parametrize(
    "text", ["a = 3", "a=b", "a.b += 1", "a++", "a--", "++a", "--a", "*a = 1", "a[b = 1]", "(a = 1)", "a <<= 2", "a--1"]
)
def test_nothing_is_changed(text: str) -> None:
    with pytest.raises(SyntaxProblem, match="it changes the program, which mpi print does not"):
        parse(text)


@pytest.mark.parametrize("text", ["f()", "a.f(1)", "a[f(1)]", "MPI_Comm(1)"])
def test_nothing_is_called(text: str) -> None:
    with pytest.raises(SyntaxProblem, match="it calls a function, and mpi print runs nothing"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "something is missing at its end"),
        ("(", "something is missing at its end"),
        ("a +", "something is missing at its end"),
        ("a.", "a name is missing at its end"),
        ("a->1", "a name is missing before '1'"),
        ("a[1", "']' is missing at its end"),
        ("(a", "')' is missing at its end"),
        ("a b", "does not know 'b' here"),
        ("a ? b : a", "does not know '?' here"),
        ("a == b", "does not know '==' here"),
        ("&&a", "does not know '&&' here"),
        ("'x'", 'does not know "\'" here'),
        ("09", "09 is no number"),
        ("3.5", "'3' has no meaning here"),
        ("a@3", "'@' has no meaning here"),
        ("a\0", "has no meaning here"),
        ("é", "'é' has no meaning here"),
        ("(" * 60 + "a" + ")" * 60, "nested more than 50 deep"),
        ("*" * 60 + "a", "nested more than 50 deep"),
        ("(int)" * 60 + "a", "nested more than 50 deep"),
        ("a" + ".b" * 60, "nested more than 50 deep"),
        (("*" * 40 + "(") * 6 + "a" + ")" * 6, "more than 200 words and signs"),
        ("a" + "+1" * 60, "more than 50 summands"),
        ("a" * 3000, "more than 2000 characters"),
    ],
)
def test_what_is_refused(text: str, problem: str) -> None:
    with pytest.raises(SyntaxProblem) as raised:
        parse(text)
    assert problem in str(raised.value)
