"""Expressions of C and C++ that only look: names, members, elements, pointers, casts, ``sizeof`` and arithmetic.

Assignments and calls are not in the language, so that nothing can be changed or run. What a std::vector is asked with
``data()`` and ``size()`` is in it: its members answer.
"""

from __future__ import annotations

import re
from typing import Callable, List, Optional, Tuple

from .tree import (
    DEEPEST,
    LARGEST,
    LONGEST,
    MOST_TOKENS,
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

#: Digits may have single quotes between them (C23, C++14), which begin no character then.
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>(?:0[xX][0-9a-fA-F](?:'?[0-9a-fA-F])*|\d(?:'?\d)*)[uUlL]{0,3})(?![\w.'])
      | (?P<name>(?:::\s*)?[A-Za-z_$]\w*(?:\s*::\s*[A-Za-z_~]\w*)*)
      | (?P<letter>'(?:[^'\\\n]|\\[0abfnrtv'"\\?])')
      | (?P<operator>->|\+\+|--|<<=|>>=|[-+*/%&|^]=|[=!<>]=|&&|\|\||<<|>>|[-+*&.\[\]()=!~<>/%|^?:,])
      | (?P<other>\S)
    )""",
    re.VERBOSE | re.ASCII,
)

_ESCAPES = {"0": 0, "a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}

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
        "bool",
        "float",
        "double",
    )
)
#: Those of one word that C++ writes like functions.
_INTEGERS = frozenset(("char", "short", "int", "long", "unsigned", "bool"))
#: Words that a type is found without.
_QUALIFIERS = frozenset(("const", "volatile", "struct", "class", "union", "enum", "typename"))

_ASSIGNMENTS = frozenset(("=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))

#: How tightly operators bind (C11, 6.5.5 to 6.5.14).
_BINDING = {
    **dict.fromkeys(("*", "/", "%"), 10),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("<", ">", "<=", ">="), 7),
    **dict.fromkeys(("==", "!="), 6),
    "&": 5,
    "^": 4,
    "|": 3,
    "&&": 2,
    "||": 1,
}
_PREFIXES = frozenset(("*", "&", "-", "+", "!", "~"))

_CXX_CASTS = frozenset(("static_cast", "reinterpret_cast", "const_cast"))
_CONSTANTS = {"NULL": 0, "nullptr": 0, "false": 0, "true": 1}

_Token = Tuple[str, str]


def parse(text: str, is_type: Callable[[str], Optional[bool]], *, registers: bool = False) -> Node:
    """Takes an expression apart; ``is_type`` says whether a name is that of a type, None where nothing has that name.
    ``registers``: names with a dollar sign are taken, which mean something to debuggers; only in what a user typed.

    Raises:
        SyntaxProblem: where it is none of these expressions.
    """
    if len(text) > LONGEST:
        raise SyntaxProblem(f"it has more than {LONGEST} characters")
    parser = _Parser(_tokens(text, registers), is_type)
    node = parser.choice()
    parser.end()
    return node


def _tokens(text: str, registers: bool) -> List[_Token]:
    found: List[_Token] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        kind = match.lastgroup if match is not None else None
        if match is None or kind is None or kind == "other":
            raise SyntaxProblem(f"{text[at:].strip()[:1]!r} has no meaning here")
        if "$" in match[kind] and kind == "name" and not registers:
            raise SyntaxProblem("a name with a dollar sign means something else to debuggers")
        found.append((kind, match[kind] if kind == "letter" else re.sub(r"\s+", "", match[kind])))
        if len(found) > MOST_TOKENS:
            raise SyntaxProblem(f"it has more than {MOST_TOKENS} words and signs")
        at = match.end()
    return found


class _Parser:
    """Recursive descent; the grammar stands in the methods."""

    def __init__(self, tokens: List[_Token], is_type: Callable[[str], Optional[bool]]) -> None:
        self._tokens = tokens
        self._is_type = is_type
        self._at = 0
        self._depth = 0

    def choice(self) -> Node:
        """``binary [? choice : choice]``"""
        node = self._binary(1)
        if self._next() == "?":
            self._take()
            first = self.choice()
            self._expect(":")
            node = Choice(node, first, self.choice())
        return node

    def end(self) -> None:
        """Nothing may follow."""
        left = self._next()
        if left in _ASSIGNMENTS:
            raise SyntaxProblem("it changes the program")
        if left == "(":
            raise SyntaxProblem("it calls a function")
        if left:
            raise SyntaxProblem(
                f"only names, members, elements, casts, numbers and arithmetic are known, not {left!r} here"
            )

    def _binary(self, least: int) -> Node:
        """``unary (OPERATOR unary)*``, by how tightly operators bind."""
        node = self._unary()
        count = 0
        while _BINDING.get(self._operator(), 0) >= least:
            operator = self._take()
            node = Binary(operator, node, self._binary(_BINDING[operator] + 1))
            count += 1
            if count > DEEPEST:
                raise SyntaxProblem(f"it has more than {DEEPEST} summands")
        return node

    def _unary(self) -> Node:
        """``(*|&|-|+|!|~) unary | (TYPE) unary | sizeof unary | sizeof (TYPE) | postfix``"""
        word = self._next()
        if word in ("&&", "--", "++"):
            self.end()
        self._deeper()
        if self._operator() in _PREFIXES:
            node: Node = Unary(self._take(), self._unary())
        elif self._tokens[self._at : self._at + 1] == [("name", "sizeof")]:
            self._take()
            named = self._type_in_parentheses(before_value=False)
            node = SizeOfType(*named) if named is not None else SizeOf(self._unary())
        else:
            cast = self._type_in_parentheses(before_value=True)
            node = Cast(*cast, self._unary()) if cast is not None else self._postfix()
        self._depth -= 1
        return node

    def _postfix(self) -> Node:
        """``primary (.name | ->name | [choice] | .data() | .size())*``"""
        node = self._primary()
        for _ in range(DEEPEST):
            word = self._operator()
            if word in (".", "->"):
                self._take()
                name = self._name()
                if name in ("data", "size") and [one[1] for one in self._tokens[self._at : self._at + 2]] == ["(", ")"]:
                    self._at += 2
                    node = Container(node, name)
                else:
                    node = Member(node, name)
            elif word == "[":
                self._take()
                node = Element(node, self.choice())
                self._expect("]")
            else:
                return node
        raise SyntaxProblem(f"it is nested more than {DEEPEST} deep")

    def _primary(self) -> Node:
        kind, word = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        if kind == "name":
            self._take()
            if word in _CXX_CASTS:
                return self._cxx_cast()
            if word in _INTEGERS and self._operator() == "(":
                return Cast(word, 0, self._parenthesised())
            return Number(_CONSTANTS[word]) if word in _CONSTANTS else Name(word)
        if kind == "number":
            self._take()
            return Number(_number(word))
        if kind == "letter":
            self._take()
            return Number(ord(word[1]) if len(word) == 3 else _ESCAPES.get(word[2], ord(word[2])))
        if word == "(":
            return self._parenthesised()
        if not word:
            raise SyntaxProblem("something is missing at its end")
        self.end()
        raise AssertionError  # end() always raises where a word is left

    def _cxx_cast(self) -> Node:
        """``static_cast<TYPE>(choice)``"""
        if self._operator() != "<":
            self._expect("<")
        named = self._type_until(self._at + 1, ">")
        if named is None:
            raise SyntaxProblem("the type of a cast is not understood")
        return Cast(*named, self._parenthesised())

    def _parenthesised(self) -> Node:
        """``(choice)``"""
        self._expect("(")
        node = self.choice()
        self._expect(")")
        return node

    def _type_in_parentheses(self, *, before_value: bool) -> Optional[Tuple[str, int]]:
        """``(TYPE)``, where that begins here. ``before_value``: also a name that nobody knows, if a value follows."""
        start, first = self._at, self._tokens[self._at + 1 : self._at + 2]
        named = self._type_until(self._at + 1, ")") if self._operator() == "(" else None
        if named is None:
            return None
        name, pointers = named
        known = True if first[0][1] in _TYPE_WORDS | _QUALIFIERS else self._is_type(name)
        after = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        # No value can follow another; but a variable in parentheses can be one of a product.
        followed = (
            after[0] in ("name", "number", "letter") or after[1] == "(" or (known is None and after[1] in ("*", "&"))
        )
        if pointers or known or (before_value and followed):
            return named
        self._at = start
        return None

    def _type_until(self, at: int, closing: str) -> Optional[Tuple[str, int]]:
        """A type's name and its stars up to a sign, which is passed."""
        words: List[str] = []
        while at < len(self._tokens) and self._tokens[at][0] == "name":
            words.append(self._tokens[at][1])
            at += 1
        pointers = 0
        while at < len(self._tokens) and self._tokens[at][1] in ("*", "const", "volatile"):
            pointers += self._tokens[at][1] == "*"
            at += 1
        if not words or at >= len(self._tokens) or self._tokens[at][1] != closing:
            return None
        self._at = at + 1
        return " ".join(word for word in words if word not in _QUALIFIERS), pointers

    def _next(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _operator(self) -> str:
        """The sign that is next, empty where a word is."""
        return self._next() if self._at < len(self._tokens) and self._tokens[self._at][0] == "operator" else ""

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

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise SyntaxProblem(f"it is nested more than {DEEPEST} deep")


def _number(word: str) -> int:
    digits = word.rstrip("uUlL").replace("'", "")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
    try:
        value = int(digits, 8 if octal else 0)
    except ValueError:
        raise SyntaxProblem(f"{word} is no number") from None
    if value >= LARGEST:
        raise SyntaxProblem("a number in it is larger than a program's")
    return value
