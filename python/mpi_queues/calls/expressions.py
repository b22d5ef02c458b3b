"""What an argument's text is, before a debugger evaluates it."""

from __future__ import annotations

import re
from typing import Optional

from .constants import CONSTANT
from .source import Unknown

_ASSIGNMENT = re.compile(r"(?<![=!<>/])=(?!=)|<<=|>>=|\+\+|--")
_QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
_CAST = re.compile(r"\(\s*(?:const\s+)?(?:MPIX?_[A-Z]\w*|void|int|char|(?:unsigned\s+)?long)\s*\**\s*\)\s*(?=[(\w])")
_CXX_CAST = re.compile(r"\b(?:static|reinterpret|const)_cast\s*<([^<>]*)>\s*(?=\()")
#: A variable or member, with what is asked of it as a std::vector.
VECTOR_CALL = re.compile(r"(?<![\w.>])((?:[A-Za-z_]\w*(?:\.|->))*[A-Za-z_]\w*)\.(data|size)\s*\(\s*\)")
VECTOR_ELEMENT = re.compile(r"&\s*((?:[A-Za-z_]\w*(?:\.|->))*[A-Za-z_]\w*)\[([^\[\]]*)\]")
#: What looks like a call and is none.
_OPERATORS = frozenset(("sizeof", "alignof", "if", "and", "or", "not"))


def constant_in(text: str) -> Optional[str]:
    """The constant of MPI that an expression is, in parentheses and behind casts or not."""
    for _ in range(8):
        text = text.strip()
        bare = _CAST.sub("", text, count=1)
        if bare == text and _is_wrapped(text):
            bare = text[1:-1]
        if bare == text:
            break
        text = bare
    name = text.split("::")[-1]
    return name if CONSTANT.match(name) else None


def _is_wrapped(text: str) -> bool:
    """Whether the first parenthesis is closed by the last character."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return at > 0 and at == len(text) - 1
    return False


def constant_in_fortran(text: str) -> Optional[str]:
    """As :func:`constant_in`: names of Fortran may be in any letters."""
    name = text.strip().upper()
    return name if CONSTANT.match(name) else None


def plain_casts(text: str) -> str:
    """Casts of C++ as those of C."""
    return _CXX_CAST.sub(r"(\1)", text)


def is_name(text: str) -> bool:
    """Whether an expression is one name."""
    return re.fullmatch(r"[A-Za-z_]\w*", text) is not None


def check(text: str) -> None:
    """Refuses an expression of C whose value now need not be what the function was given, or that runs code.

    Raises:
        Unknown: with what it does.
    """
    bare = _QUOTED.sub('""', text)
    if _ASSIGNMENT.search(bare):
        raise Unknown("the expression changes variables")
    if "$" in bare:
        raise Unknown("a name with a dollar sign means something else to debuggers")
    for match in _CALL.finditer(bare):
        if match[1] not in _OPERATORS:
            raise Unknown(f"the expression calls {match[1]}")
