"""Integer expressions of C, for debuggers whose own would write to the program: the operators are worked out here,
names and what belongs to them (members, elements, casts) by the debugger."""

from __future__ import annotations

import re
from typing import Callable, Dict, List, Tuple

from .source import Unknown

#: The value of a name with its members, elements and casts.
Leaf = Callable[[str], int]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*(?![\w.]))|(?P<name>[A-Za-z_]\w*(?:::\w+)*)|"
    r"(?P<sign>->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^<>?:!~()\[\].,])|'(?P<letter>[^'\\])')"
)

#: How tightly operators bind (C11, 6.5.5 to 6.5.14).
_BINDING: Dict[str, int] = {
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
#: Functions of Fortran on integers: how many numbers they need, and their value.
_FUNCTIONS: Dict[str, Tuple[int, Callable[[List[int]], int]]] = {
    "mod": (2, lambda given: _applied("%", given[0], given[1])),
    "modulo": (2, lambda given: given[0] % given[1]),
    "min": (1, min),
    "max": (1, max),
    "abs": (1, lambda given: abs(given[0])),
    "int": (1, lambda given: given[0]),
}

#: Types of integers that a cast may name.
_INTEGERS = frozenset(("const", "signed", "unsigned", "short", "int", "long", "size_t", "MPI_Count", "MPI_Aint"))
_DEEPEST = 50
_MOST_TOKENS = 200


def value_of(text: str, leaf: Leaf) -> int:
    """The value of an expression.

    Raises:
        Unknown: where it is none of these, or ``leaf`` raises it.
    """
    parser = _Parser(text, leaf)
    value = parser.choice()
    if not parser.at_end():
        raise Unknown("the expression is not understood")
    return value


class _Parser:
    """Recursive descent over operators; what the debugger must know is cut out as text."""

    def __init__(self, text: str, leaf: Leaf) -> None:
        self._text = text
        self._leaf = leaf
        self._tokens: List[Tuple[str, str, int, int]] = []
        self._at = 0
        self._depth = 0
        at = 0
        text = text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None or len(self._tokens) > _MOST_TOKENS:
                raise Unknown("the expression is not understood")
            kind = match.lastgroup
            start = match.start(kind) - (kind == "letter")
            self._tokens.append((kind, match[kind], start, match.end()))
            at = match.end()

    def at_end(self) -> bool:
        return self._at >= len(self._tokens)

    def choice(self) -> int:
        """``a ? b : c``, of which only what is chosen is asked for in the end, but both must be known."""
        self._deeper()
        condition = self._binary(1)
        if self._sign() != "?":
            self._depth -= 1
            return condition
        self._at += 1
        first = self.choice()
        self._expect(":")
        second = self.choice()
        self._depth -= 1
        return first if condition else second

    def _binary(self, least: int) -> int:
        left = self._unary()
        while _BINDING.get(self._sign(), 0) >= least:
            operator = self._sign()
            self._at += 1
            left = _applied(operator, left, self._binary(_BINDING[operator] + 1))
        return left

    def _unary(self) -> int:
        self._deeper()
        sign = self._sign()
        if sign in ("-", "+", "!", "~"):
            self._at += 1
            operand = self._unary()
            value = {"-": -operand, "+": operand, "!": int(not operand), "~": ~operand}[sign]
        elif self._is_cast() and {word for _, word, _, _ in self._inside()} <= _INTEGERS:
            # Wider and narrower numbers are the same as long as they fit, as ranks, tags and counts do.
            self._at = self._closing(self._at) + 1
            value = self._unary()
        elif sign == "(" and not self._is_cast() and not self._goes_on(self._closing(self._at) + 1):
            self._at += 1
            value = self.choice()
            self._expect(")")
        else:
            value = self._known()
        self._depth -= 1
        return value

    def _known(self) -> int:
        """A number, or what the debugger knows: prefixes, casts, a name or parentheses, and what follows these."""
        start = self._at
        while self._sign() in ("*", "&") or self._is_cast():
            self._at = self._closing(self._at) + 1 if self._sign() == "(" else self._at + 1
        if self.at_end():
            raise Unknown("the expression is not understood")
        kind, word, _, _ = self._tokens[self._at]
        if kind == "sign" and word != "(":
            raise Unknown("the expression is not understood")
        if kind == "name" and self._tokens[self._at + 1 : self._at + 2] and self._tokens[self._at + 1][1] == "(":
            # A function of Fortran, or an element of an array of it; C's calls do not come here.
            if word.lower() in _FUNCTIONS:
                return self._function(word.lower())
            self._at = self._closing(self._at + 1) + 1
            return self._leaf(self._text[self._tokens[start][2] : self._tokens[self._at - 1][3]])
        self._at = self._closing(self._at) + 1 if word == "(" else self._at + 1
        while self._goes_on(self._at):
            bracket = self._tokens[self._at][1] == "["
            self._at = self._closing(self._at) + 1 if bracket else self._at + 2
        if self._at > len(self._tokens):
            raise Unknown("the expression is not understood")
        if self._at == start + 1 and kind == "number":
            return _number(word)
        if self._at == start + 1 and kind == "letter":
            return ord(word)
        return self._leaf(self._text[self._tokens[start][2] : self._tokens[self._at - 1][3]])

    def _function(self, name: str) -> int:
        end = self._closing(self._at + 1)
        given: List[int] = []
        self._at += 1
        while self._at < end:
            # Past the parenthesis or the comma.
            self._at += 1
            given.append(self.choice())
            if self._at != end and self._sign() != ",":
                raise Unknown("the expression is not understood")
        self._at = end + 1
        least, function = _FUNCTIONS[name]
        if len(given) < least or (name in ("mod", "modulo") and (len(given) != 2 or given[1] == 0)):
            raise Unknown(f"{name} is not understood with what it is given")
        return function(given)

    def _goes_on(self, at: int) -> bool:
        return at < len(self._tokens) and self._tokens[at][1] in ("[", ".", "->") and self._tokens[at][0] == "sign"

    def _is_cast(self) -> bool:
        """Whether ``(TYPE)`` begins here: words and stars, and something to cast after it."""
        if self._sign() != "(":
            return False
        end, inside = self._closing(self._at), self._inside()
        words = [word for kind, word, _, _ in inside if kind == "name"]
        stars = [word for kind, word, _, _ in inside if kind != "name"]
        following = self._tokens[end + 1] if end + 1 < len(self._tokens) else ("", "", 0, 0)
        operand = following[0] in ("name", "number", "letter") or following[1] == "("
        return bool(words) and inside[0][0] == "name" and set(stars) <= {"*"} and operand

    def _inside(self) -> List[Tuple[str, str, int, int]]:
        """What stands in the parentheses that begin here."""
        return self._tokens[self._at + 1 : self._closing(self._at)]

    def _closing(self, at: int) -> int:
        """The place of the parenthesis or bracket that closes the one at ``at``."""
        depth = 0
        for end in range(at, len(self._tokens)):
            kind, word, _, _ = self._tokens[end]
            depth += (kind == "sign" and word in "([") - (kind == "sign" and word in ")]")
            if depth == 0:
                return end
        raise Unknown("the expression is not understood")

    def _sign(self) -> str:
        if self.at_end() or self._tokens[self._at][0] != "sign":
            return ""
        return self._tokens[self._at][1]

    def _expect(self, sign: str) -> None:
        if self._sign() != sign:
            raise Unknown("the expression is not understood")
        self._at += 1

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unknown(f"the expression is nested more than {_DEEPEST} deep")


def _number(word: str) -> int:
    digits = word.rstrip("uUlL")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
    try:
        return int(digits, 8 if octal else 0)
    except ValueError:
        raise Unknown(f"{word} is no number") from None


def _applied(operator: str, left: int, right: int) -> int:
    if operator in ("/", "%"):
        if right == 0:
            raise Unknown("the expression divides by zero")
        # C rounds towards zero.
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator in ("<<", ">>"):
        if not 0 <= right < 64:
            raise Unknown("the expression shifts by more than a number has bits")
        return left << right if operator == "<<" else left >> right
    return {
        "*": left * right,
        "+": left + right,
        "-": left - right,
        "<": int(left < right),
        ">": int(left > right),
        "<=": int(left <= right),
        ">=": int(left >= right),
        "==": int(left == right),
        "!=": int(left != right),
        "&": left & right,
        "^": left ^ right,
        "|": left | right,
        "&&": int(bool(left) and bool(right)),
        "||": int(bool(left) or bool(right)),
    }[operator]
