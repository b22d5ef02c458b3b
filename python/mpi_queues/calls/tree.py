"""Expressions of the program's source as trees, whatever language they were written in.

Only what looks is in these trees: no assignments, no calls of functions. What a source says is data that anybody can
have written, so no debugger's own parser ever sees it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple, Union

#: An expression with more characters, words and signs, or levels is none that a person typed; together they keep the
#: recursion over a tree far from Python's limit.
LONGEST = 2000
MOST_TOKENS = 200
DEEPEST = 50
#: A literal number is below this.
LARGEST = 1 << 64


class SyntaxProblem(Exception):
    """Why a text is no such expression, as a sentence without a capital and a full stop."""


@dataclass(frozen=True)
class Name:
    """A variable, with its namespaces; ``$rax``, in what a user typed, is a register or one of lldb's own variables."""

    name: str


@dataclass(frozen=True)
class Number:
    value: int


@dataclass(frozen=True)
class Member:
    """``base.name``; of a pointer, what it points at has the member."""

    base: Node
    name: str


@dataclass(frozen=True)
class Element:
    """One element, by an index from 0."""

    base: Node
    index: Node


@dataclass(frozen=True)
class Container:
    """What a container of C++ is asked: ``data`` or ``size``. Its members answer, no function is called."""

    base: Node
    asked: str


@dataclass(frozen=True)
class Unary:
    """``*``, ``&``, ``-``, ``+``, ``!`` or ``~``."""

    operator: str
    operand: Node


@dataclass(frozen=True)
class Cast:
    """To the type of that name with so many ``*`` after it."""

    type_name: str
    pointers: int
    operand: Node


@dataclass(frozen=True)
class SizeOfType:
    """The bytes of a type with so many ``*`` after its name."""

    type_name: str
    pointers: int


@dataclass(frozen=True)
class SizeOf:
    """The bytes of what an expression is."""

    operand: Node


@dataclass(frozen=True)
class Binary:
    """An operator between two numbers, or a pointer and a number."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Choice:
    """``condition ? first : second``."""

    condition: Node
    first: Node
    second: Node


@dataclass(frozen=True)
class Bounds:
    """``first:last`` among the indices of Fortran; None: as far as the array goes."""

    first: Union[Node, None]
    last: Union[Node, None]


@dataclass(frozen=True)
class Indexed:
    """``base(given, ...)`` of Fortran: an element or a section of an array, or an intrinsic function."""

    base: Node
    given: Tuple[Union[Node, Bounds], ...]


Node = Union[Name, Number, Member, Element, Container, Unary, Cast, SizeOfType, SizeOf, Binary, Choice, Indexed]
