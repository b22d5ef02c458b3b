"""Expressions of C and C++ that only look: names, members, elements, pointers, casts and sums.

For a debugger whose own expressions allocate memory in the program and can write to it. Assignments and calls are not
in the language, so that nothing can be changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Callable, List, Tuple, Union


class SyntaxProblem(Exception):
    """Why a text is no such expression."""


@dataclass(frozen=True)
class Name:
    """A variable, with its namespaces; ``$rax`` is a register or a value of the debugger's history."""

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
    base: Node
    index: Node


@dataclass(frozen=True)
class Unary:
    """``*``, ``&`` or ``-``."""

    operator: str
    operand: Node


@dataclass(frozen=True)
class Cast:
    """To the type of that name with so many ``*`` after it."""

    type_name: str
    pointers: int
    operand: Node


@dataclass(frozen=True)
class Sum:
    """``+`` or ``-``."""

    operator: str
    left: Node
    right: Node


Node = Union[Name, Number, Member, Element, Unary, Cast, Sum]

#: More is no expression that a person typed; together they keep the recursion over a tree far from Python's limit.
_LONGEST = 2000
_MOST_TOKENS = 200
_DEEPEST = 50

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>0[xX][0-9a-fA-F]+|\d+)[uUlL]*(?![\w.])
      | (?P<name>(?:::\s*)?[A-Za-z_$]\w*(?:\s*::\s*[A-Za-z_~]\w*)*)
      | (?P<operator>->|\+\+|--|<<=|>>=|[-+*/%&|^]=|[=!<>]=|&&|\|\||<<|>>|[-+*&.\[\]()=!~<>/%|^?:,'"])
      | (?P<other>\S)
    )""",
    re.VERBOSE,
)

#: Words that begin the name of a type whatever names the program has.
_TYPE_WORDS = frozenset(
    (
        "const",
        "volatile",
        "struct",
        "class",
        "union",
        "enum",
        "unsigned",
        "signed",
        "char",
        "short",
        "int",
        "long",
        "void",
    )
)
#: Words that a type is found without.
_QUALIFIERS = frozenset(("const", "volatile", "struct", "class", "union", "enum"))

_ASSIGNMENTS = frozenset(("=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))


def parse(text: str, is_type: Callable[[str], bool]) -> Node:
    """Takes an expression apart; ``is_type`` says whether a name is that of a type.

    Raises:
        SyntaxProblem: where it is none of these expressions.
    """
    if len(text) > _LONGEST:
        raise SyntaxProblem(f"it has more than {_LONGEST} characters")
    parser = _Parser(_tokens(text), is_type)
    node = parser.sum()
    parser.end()
    return node


def _tokens(text: str) -> List[Tuple[str, str]]:
    found: List[Tuple[str, str]] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        kind = match.lastgroup if match is not None else None
        if match is None or kind is None or kind == "other":
            raise SyntaxProblem(f"{text[at:].strip()[:1]!r} has no meaning here")
        found.append((kind, re.sub(r"\s+", "", match[kind])))
        at = match.end()
    if len(found) > _MOST_TOKENS:
        raise SyntaxProblem(f"it has more than {_MOST_TOKENS} words and signs")
    return found


class _Parser:
    """Recursive descent; the grammar stands in the methods."""

    def __init__(self, tokens: List[Tuple[str, str]], is_type: Callable[[str], bool]) -> None:
        self._tokens = tokens
        self._is_type = is_type
        self._at = 0
        self._depth = 0

    def sum(self) -> Node:
        """``unary ((+|-) unary)*``"""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise SyntaxProblem(f"it is nested more than {_DEEPEST} deep")
        node = self._unary()
        for _ in range(_DEEPEST):
            if self._next() not in ("+", "-"):
                self._depth -= 1
                return node
            node = Sum(self._take(), node, self._unary())
        raise SyntaxProblem(f"it has more than {_DEEPEST} summands")

    def end(self) -> None:
        """Nothing may follow."""
        left = self._next()
        if left in _ASSIGNMENTS:
            raise SyntaxProblem("it changes the program, which mpi print does not")
        if left == "(":
            raise SyntaxProblem("it calls a function, and mpi print runs nothing in the program")
        if left:
            raise SyntaxProblem(
                f"mpi print takes names, members, elements, *, &, casts, + and -, and does not know {left!r} here"
            )

    def _unary(self) -> Node:
        """``(*|&|-) unary | (TYPE) unary | postfix``"""
        operators: List[str] = []
        while self._next() in ("*", "&", "-", "&&", "--"):
            if self._next() in ("&&", "--"):
                self.end()
            operators.append(self._take())
            if len(operators) > _DEEPEST:
                raise SyntaxProblem(f"it is nested more than {_DEEPEST} deep")
        cast = self._cast() if self._next() == "(" else None
        if cast is not None:
            self._depth += 1
            if self._depth > _DEEPEST:
                raise SyntaxProblem(f"it is nested more than {_DEEPEST} deep")
            node: Node = Cast(*cast, self._unary())
            self._depth -= 1
        else:
            node = self._postfix()
        for operator in reversed(operators):
            node = Unary(operator, node)
        return node

    def _postfix(self) -> Node:
        """``(name | number | (sum)) (.name | ->name | [sum])*``"""
        node = self._primary()
        for _ in range(_DEEPEST):
            word = self._next()
            if word in (".", "->"):
                self._take()
                node = Member(node, self._name())
            elif word == "[":
                self._take()
                node = Element(node, self.sum())
                self._expect("]")
            else:
                return node
        raise SyntaxProblem(f"it is nested more than {_DEEPEST} deep")

    def _primary(self) -> Node:
        kind, word = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        if kind == "name":
            return Name(self._name())
        if kind == "number":
            self._take()
            octal = len(word) > 1 and word[0] == "0" and word[1] not in "xX"
            try:
                return Number(int(word, 8 if octal else 0))
            except ValueError:
                raise SyntaxProblem(f"{word} is no number") from None
        if word == "(":
            self._take()
            node = self.sum()
            self._expect(")")
            return node
        if not word:
            raise SyntaxProblem("something is missing at its end")
        self.end()
        raise AssertionError  # end() always raises where a word is left

    def _cast(self) -> Union[Tuple[str, int], None]:
        """The type in parentheses that begins here, where there is one."""
        at, words = self._at + 1, []
        while at < len(self._tokens) and self._tokens[at][0] == "name":
            words.append(self._tokens[at][1])
            at += 1
        pointers = 0
        while at < len(self._tokens) and self._tokens[at][1] in ("*", "const", "volatile"):
            pointers += self._tokens[at][1] == "*"
            at += 1
        if not words or at >= len(self._tokens) or self._tokens[at][1] != ")":
            return None
        name = " ".join(word for word in words if word not in _QUALIFIERS)
        # No value can follow another; products and the like are not in the language.
        after = self._tokens[at + 1] if at + 1 < len(self._tokens) else ("", "")
        followed = after[0] in ("name", "number") or after[1] in ("(", "*", "&")
        if not (pointers or followed or words[0] in _TYPE_WORDS | _QUALIFIERS or self._is_type(name)):
            return None
        self._at = at + 1
        return name, pointers

    def _next(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _name(self) -> str:
        kind, word = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        if kind != "name":
            raise SyntaxProblem(f"a name is missing before {word!r}" if word else "a name is missing at its end")
        self._at += 1
        return word

    def _expect(self, word: str) -> None:
        if self._next() == word:
            self._at += 1
            return
        if not self._next():
            raise SyntaxProblem(f"{word!r} is missing at its end")
        self.end()
