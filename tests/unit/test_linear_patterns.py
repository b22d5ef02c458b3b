"""Regular expressions over what strangers wrote: none takes more than linear time, whatever stands there.

Every pattern of every file is tried, by what stands in the code, so that a new one is tried, too.
"""

from __future__ import annotations

import ast
import pathlib
import re
import time
from typing import Any, Iterator, List, NamedTuple, Union

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "mpi_queues"

#: Characters in one text, and what nobody minds (seconds). Quadratic time is a fifth of a second here.
SHORT = 4_000
UNSUSPICIOUS = 0.03

#: What is repeated: pieces of sources, paths, command lines and tables.
PIECES = (
    *"a 0\t\n\"'\\/(){}[]<>=,;:.-_#*&$@!%x",
    *("a ", "a.", "a->", "a::", "0'1", "/*", "//", "*/", 'R"(', "\\\n", "\\a", "(a", "a(", "a[", "(a)", "()", "(("),
    *("- ", "a=", "==", "a,", "-a", "1:", "1-", "1.", "@1", ") (", "--a=", "pid 1 (", "MPI_A", "MPI_A("),
    *("PMPI_Send (", "#define a", "# ", "\n#", " #", "\n ", "const ", "static_cast<", "libmpi_a", "/lib", "/libmpi-"),
    *("1 AT_A ", "(rank, host, exe, pid) = (1, a, ", ", 1)", "0x1 - ", "frame at 0x1", "unsigned long ", "hydra_a"),
)


class Pattern(NamedTuple):
    where: str
    text: Union[str, bytes]
    flags: int
    #: Whether it is looked for at all places of a text, or at one.
    searched: bool


def literal(node: ast.expr) -> Union[str, bytes, None]:
    """The text of a pattern; what is put in is a name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [str(one.value) if isinstance(one, ast.Constant) else "MPI_Send" for one in node.values]
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal(node.left), literal(node.right)
        return left + right if isinstance(left, str) and isinstance(right, str) else None
    return None


#: Functions of ``re``, and methods of patterns, that look at one place.
_AT_ONE = {"match", "fullmatch"}
_NAMES = {"compile", "search", "sub", "findall", "finditer", "split", *_AT_ONE}
_FILES = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def used(name: str, own: str) -> bool:
    """Whether the pattern with this name of a variable is searched for, in its own file or anywhere in the package;
    also where that is not seen."""
    methods = {
        method
        for text in ([own] if name.startswith("_") else _FILES.values())
        for method in re.findall(rf"\b{re.escape(name)}(?:\[\w+\])?\.([a-z]+)\(", text)
    }
    return not methods or not methods <= _AT_ONE


def patterns() -> Iterator[Pattern]:
    for path, content in _FILES.items():
        tree = ast.parse(content)
        names = {
            id(inner): target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name)
            for inner in ast.walk(node.value)
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _NAMES):
                continue
            if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"):
                continue
            where = f"{path.relative_to(PACKAGE)}:{node.lineno}"
            text = literal(node.args[0])
            assert text is not None, f"{where}: a pattern that is not told by its code cannot be tried"
            flags = 0
            for flag in re.findall(r"\bre\.([A-Z]+)\b", ast.unparse(node)):
                flags |= int(getattr(re, flag))
            searched = used(names[id(node)], content) if node.func.attr == "compile" and id(node) in names else True
            yield Pattern(where, text, flags, searched and node.func.attr not in _AT_ONE)


FOUND = list(patterns())


def seconds(known: re.Pattern[Any], subject: Union[str, bytes], *, searched: bool) -> float:
    """Processor time of a search for all places, or of a look at the first."""
    started = time.process_time()
    if searched:
        for _ in known.finditer(subject):
            pass
    known.match(subject)
    known.fullmatch(subject)
    return time.process_time() - started


def slow(pattern: Pattern) -> List[str]:
    """The texts with which it takes more than linear time."""
    known = re.compile(pattern.text, pattern.flags)
    for piece in PIECES:
        for begin, end in (("", "!"), ("a(", "\n")):
            times = []
            for length in (SHORT, 2 * SHORT):
                text = begin + piece * (length // len(piece)) + end
                subject = text.encode() if isinstance(pattern.text, bytes) else text
                times.append(seconds(known, subject, searched=pattern.searched))
                if times[-1] < UNSUSPICIOUS:
                    break
            else:
                # Twice as long: twice the time, or four times. What a busy machine does is no pattern's fault.
                if times[1] > 3 * times[0]:
                    return [f"{begin!r} + {piece!r} * n + {end!r}: {times[0]:.2f} s, then {times[1]:.2f} s"]
    return []


@pytest.mark.parametrize("pattern", FOUND, ids=[one.where for one in FOUND])
def test_no_pattern_takes_more_than_linear_time(pattern: Pattern) -> None:
    assert slow(pattern) == []
