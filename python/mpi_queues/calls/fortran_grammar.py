"""Expressions of Fortran that only look: names, components, elements and sections of arrays, and arithmetic.

Which of ``name(...)`` are intrinsic functions and which arrays is decided by the variables that there are.
"""

from __future__ import annotations

import re
from typing import List, Optional, Tuple, Union

from .tree import (
    DEEPEST,
    LARGEST,
    LONGEST,
    MOST_TOKENS,
    Binary,
    Bounds,
    Indexed,
    Member,
    Name,
    Node,
    Number,
    SyntaxProblem,
    Unary,
)

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>\d+)(?:_\w+)?(?![\w.]|\.\d)
      | (?P<truth>\.(?:true|false)\.)(?:_\w+)?
      | (?P<name>[a-z]\w*)
      | (?P<operator>\*\*|==|/=|[-+*/(),:%=])
      | (?P<other>\S)
    )""",
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
#: Of two numbers, by how tightly they bind (Fortran 2018, 10.1.2); the power is apart, as it goes from the right.
_BINDING = {"*": 2, "/": 2, "+": 1, "-": 1}

_Token = Tuple[str, str]


def parse(text: str) -> Node:
    """Takes an expression apart; names are in small letters then.

    Raises:
        SyntaxProblem: where it is none of these expressions.
    """
    if len(text) > LONGEST:
        raise SyntaxProblem(f"it has more than {LONGEST} characters")
    parser = _Parser(_tokens(text))
    node = parser.sum(1)
    parser.end()
    return node


def _tokens(text: str) -> List[_Token]:
    found: List[_Token] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        kind = match.lastgroup if match is not None else None
        if match is None or kind is None or kind == "other":
            raise SyntaxProblem(f"{text[at:].strip()[:1]!r} has no meaning here")
        found.append((kind, match[kind].lower()))
        if len(found) > MOST_TOKENS:
            raise SyntaxProblem(f"it has more than {MOST_TOKENS} words and signs")
        at = match.end()
    return found


class _Parser:
    """Recursive descent; the grammar stands in the methods."""

    def __init__(self, tokens: List[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def sum(self, least: int) -> Node:
        """``[+|-] power (OPERATOR power)*``, by how tightly operators bind."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise SyntaxProblem(f"it is nested more than {DEEPEST} deep")
        # A sign belongs to the whole product behind it, and only to the first of a sum.
        signed = least == 1 and self._next() in ("+", "-")
        node = Unary(self._take(), self.sum(2)) if signed else self._power()
        count = 0
        while _BINDING.get(self._next(), 0) >= least:
            operator = self._take()
            node = Binary(operator, node, self.sum(_BINDING[operator] + 1))
            count += 1
            if count > DEEPEST:
                raise SyntaxProblem(f"it has more than {DEEPEST} summands")
        self._depth -= 1
        return node

    def end(self) -> None:
        """Nothing may follow."""
        left = self._next()
        if left == "=":
            raise SyntaxProblem("it changes the program")
        if left:
            raise SyntaxProblem(f"only names, components, elements and arithmetic are known, not {left!r} here")

    def _power(self) -> Node:
        base = self._postfix()
        if self._next() != "**":
            return base
        self._take()
        sign = self._take() if self._next() in ("+", "-") else ""
        # From the right: 2**3**2 is 2**9.
        self._depth += 1
        if self._depth > DEEPEST:
            raise SyntaxProblem(f"it is nested more than {DEEPEST} deep")
        exponent = self._power()
        self._depth -= 1
        return Binary("**", base, Unary(sign, exponent) if sign else exponent)

    def _postfix(self) -> Node:
        """``primary (%name | (given, ...))*``"""
        node = self._primary()
        for _ in range(DEEPEST):
            word = self._next()
            if word == "%":
                self._take()
                node = Member(node, self._name())
            elif word == "(" and isinstance(node, (Name, Member)):
                self._take()
                node = Indexed(node, self._given())
            else:
                return node
        raise SyntaxProblem(f"it is nested more than {DEEPEST} deep")

    def _given(self) -> Tuple[Union[Node, Bounds], ...]:
        found: List[Union[Node, Bounds]] = []
        while self._next() != ")" or found:
            first: Optional[Node] = None if self._next() == ":" else self.sum(1)
            if self._next() == ":":
                self._take()
                found.append(Bounds(first, None if self._next() in (",", ")") else self.sum(1)))
            elif first is not None:
                found.append(first)
            if self._next() != ",":
                break
            self._take()
        self._expect(")")
        return tuple(found)

    def _primary(self) -> Node:
        kind, word = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        if kind == "number":
            self._take()
            if len(word) > 20 or int(word) >= LARGEST:
                raise SyntaxProblem("a number in it is larger than a program's")
            return Number(int(word))
        if kind == "truth":
            self._take()
            return Number(int(word == ".true."))
        if kind == "name":
            return Name(self._take())
        if word == "(":
            self._take()
            node = self.sum(1)
            self._expect(")")
            return node
        if not word:
            raise SyntaxProblem("something is missing at its end")
        self.end()
        raise AssertionError  # end() always raises where a word is left

    def _next(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _name(self) -> str:
        kind, word = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        if kind != "name":
            raise SyntaxProblem(f"a name is missing before {word!r}" if word else "a name is missing at its end")
        return self._take()

    def _expect(self, word: str) -> None:
        if self._next() == word:
            self._take()
            return
        if not self._next():
            raise SyntaxProblem(f"{word!r} is missing at its end")
        self.end()
        raise SyntaxProblem(f"{word!r} is missing before {self._next()!r}")
