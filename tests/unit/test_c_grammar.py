"""Expressions of C that only look: what they are taken for, and what is refused."""

from __future__ import annotations

import pytest
from mpi_queues.calls import c_grammar
from mpi_queues.calls.tree import (
    Binary,
    Cast,
    Choice,
    Container,
    Element,
    Member,
    Name,
    Node,
    Number,
    SizeOf,
    SizeOfType,
    SyntaxProblem,
    Unary,
)

A, B = Name("a"), Name("b")


def parse(text: str) -> Node:
    """``nix`` is not known at all, one-letter names are variables."""
    known = {"MPI_Comm": True, "grid::own": True, "nix": None}
    return c_grammar.parse(text, lambda name: known.get(name, False), registers=True)


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
        ("a [ b + 1 ]", Element(A, Binary("+", B, Number(1)))),
        ("*a", Unary("*", A)),
        ("*a[1]", Unary("*", Element(A, Number(1)))),
        ("(*a).b", Member(Unary("*", A), "b")),
        ("&a.b", Unary("&", Member(A, "b"))),
        ("-1", Unary("-", Number(1))),
        ("a - b - 1", Binary("-", Binary("-", A, B), Number(1))),
        ("a - (b - 1)", Binary("-", A, Binary("-", B, Number(1)))),
        ("(MPI_Comm)0x10", Cast("MPI_Comm", 0, Number(16))),
        ("(grid::own)a", Cast("grid::own", 0, A)),
        ("(a)-1", Binary("-", A, Number(1))),
        ("(a)", A),
        ("(const MPI_Comm *const)a", Cast("MPI_Comm", 1, A)),
        ("(struct s **) a->b", Cast("s", 2, Member(A, "b"))),
        ("(unsigned long)a", Cast("unsigned long", 0, A)),
        ("*(MPI_Comm *)(a + 8)", Unary("*", Cast("MPI_Comm", 1, Binary("+", A, Number(8))))),
        ("(nix)&a", Cast("nix", 0, Unary("&", A))),
        ("(nix)(a)", Cast("nix", 0, A)),
        ("(int)(long)a", Cast("int", 0, Cast("long", 0, A))),
        ("int(a)", Cast("int", 0, A)),
        ("static_cast<unsigned long>(a + 1)", Cast("unsigned long", 0, Binary("+", A, Number(1)))),
        ("(a) * b", Binary("*", A, B)),
        ("(a) & 1", Binary("&", A, Number(1))),
        ("a.data()", Container(A, "data")),
        ("(int)a.b.size() - 1", Binary("-", Cast("int", 0, Container(Member(A, "b"), "size")), Number(1))),
        ("sizeof(int)", SizeOfType("int", 0)),
        ("sizeof(MPI_Comm *)", SizeOfType("MPI_Comm", 1)),
        ("sizeof(a) / sizeof a[0]", Binary("/", SizeOf(A), SizeOf(Element(A, Number(0))))),
        ("a ? b : a", Choice(A, B, A)),
        ("a == b", Binary("==", A, B)),
        ("a + b * 2 << 1", Binary("<<", Binary("+", A, Binary("*", B, Number(2))), Number(1))),
        ("!a && ~b", Binary("&&", Unary("!", A), Unary("~", B))),
        ("'x'", Number(120)),
        ("'\\n'", Number(10)),
        ("1'000'000", Number(1000000)),
        ("0x1'F", Number(31)),
        ("NULL", Number(0)),
        ("true", Number(1)),
    ],
)
def test_what_is_taken(text: str, node: Node) -> None:
    assert parse(text) == node


@pytest.mark.parametrize(
    "text", ["a = 3", "a=b", "a.b += 1", "a++", "a--", "++a", "--a", "*a = 1", "a[b = 1]", "(a = 1)", "a <<= 2", "a--1"]
)
def test_nothing_is_changed(text: str) -> None:
    with pytest.raises(SyntaxProblem, match="it changes the program"):
        parse(text)


@pytest.mark.parametrize("text", ["f()", "a.f(1)", "a[f(1)]", "MPI_Comm(1)", "a.data(1)", "data()", "a.begin()"])
def test_nothing_is_called(text: str) -> None:
    with pytest.raises(SyntaxProblem, match="it calls a function"):
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
        ("a b", "not 'b' here"),
        ("a ? b", "':' is missing at its end"),
        ("a == ", "something is missing at its end"),
        ("&&a", "not '&&' here"),
        ("'x", "has no meaning here"),
        ("0'1 + f() + 0'1", "it calls a function"),
        ("'\\x41'", "has no meaning here"),
        ('"s"', "'\"' has no meaning here"),
        ("static_cast<std::vector<int>>(a)", "the type of a cast is not understood"),
        ("99999999999999999999999", "a number in it is larger than a program's"),
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
