"""Handles that an expression of gdb names, for ``mpi print``. Nothing in the program is called or written."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple, Union

import gdb

from ..errors import UserError
from ..handle_types import KINDS
from . import gdb_handles

#: An array with more elements is not taken apart.
MAX_ELEMENTS = 10_000

_MAX_DIMENSIONS = 15

#: Assignments of C and Fortran; not the comparisons ==, !=, <=, >= and Fortran's /=.
_ASSIGNMENT = re.compile(r"(?<![=!<>/])=(?!=)|<<=|>>=|\+\+|--")
_QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")

#: What an index can follow as it is.
_SIMPLE = re.compile(r"[\w.$%:()\[\]-]+\Z")

#: gdb's settings that keep an expression from doing something to the program, where this gdb has them.
_GUARDS = ("may-call-functions", "may-write-memory")


class Found(NamedTuple):
    """A handle, and what it is called."""

    expression: str
    kind: str
    value: Union[int, bytes]
    fortran: bool


def evaluate(expression: str, kind: Optional[str]) -> Tuple[Any, List[Found]]:
    """The handles that an expression of the selected frame names, and the inferior that they are of; ``kind`` is that
    of integers and plain addresses.

    Raises:
        UserError: where it cannot be evaluated, or is no handle.
    """
    if _ASSIGNMENT.search(_QUOTED.sub("", expression)):
        raise UserError(
            f"{expression} changes the program, which mpi print does not",
            help=f"to change it all the same, type: print {expression}",
            kind="usage",
        )
    try:
        with _guarded():
            value = gdb_handles.without_reference(gdb.parse_and_eval(expression))
            return gdb_handles.inferior_of(value), list(_handles(value, expression, kind))
    except (gdb.error, ValueError) as error:
        # An integer that is no number to Python is a ValueError (an undefined value of a register).
        raise UserError(
            f"cannot evaluate {expression}: {_sentence(error)}",
            help="to see the variables of this frame, type: info locals; of its caller: up",
            kind="expression",
        ) from None


def _sentence(error: Exception) -> str:
    return str(error).strip().rstrip(".")


@contextmanager
def _guarded() -> Iterator[None]:
    changed: List[str] = []
    try:
        for name in _GUARDS:
            if _is_on(name):
                gdb.execute(f"set {name} off", to_string=True)
                changed.append(name)
        yield
    finally:
        for name in changed:
            gdb.execute(f"set {name} on", to_string=True)


def _is_on(name: str) -> bool:
    try:
        return bool(gdb.parameter(name))
    except RuntimeError:
        # An older gdb than the setting.
        return False


def _handles(value: Any, expression: str, kind: Optional[str]) -> Iterator[Found]:
    real = value.type.strip_typedefs()
    if real.code == gdb.TYPE_CODE_ARRAY:
        if kind == "status" and real.target().strip_typedefs().code == gdb.TYPE_CODE_INT:
            yield Found(expression, kind, _bytes_of_integers(value, real, expression), False)
            return
        if not _SIMPLE.match(expression):
            expression = f"({expression})"
        fortran = "fortran" in gdb.execute("show language", to_string=True)
        for name, element in _elements(value, expression, fortran):
            yield _handle(element, name, kind)
        return
    yield _handle(value, expression, kind)


def _handle(value: Any, expression: str, kind: Optional[str]) -> Found:
    """The handle that one value is, or points at."""
    how = gdb_handles.kind_of(value.type)
    pointed = gdb_handles.pointed_type(value.type)
    if how is None and pointed is not None:
        how = gdb_handles.kind_of(pointed)
        if how is not None:
            value, expression = value.dereference(), f"*{expression}"
    if how is not None:
        if kind is not None and kind != how.kind:
            raise UserError(
                f"{expression} is an {KINDS[how.kind]}, not an {KINDS[kind]}",
                help=f"type: mpi print {expression}",
                kind="usage",
            )
        found_kind, found, fortran = gdb_handles.handle_in(value, how)
        # A value of gdb's history is as it was; any other is what lies at its address.
        if found_kind == "status" and not how.member and not expression.startswith("$") and value.address is not None:
            found = int(value.address)
        return Found(expression, found_kind, found, fortran)
    return _by_kind(value, expression, kind)


def _by_kind(value: Any, expression: str, kind: Optional[str]) -> Found:
    """A value whose type tells nothing."""
    real = value.type.strip_typedefs()
    plain = real.code == gdb.TYPE_CODE_PTR and real.target().strip_typedefs().code in _UNTYPED
    if kind is not None and plain:
        return Found(expression, kind, gdb_handles.address_in(value), False)
    if kind == "status" and real.code == gdb.TYPE_CODE_INT:
        raise UserError(
            f"{expression} is one integer; a status of Fortran is an array of them, or a type(MPI_Status)",
            help="name the array: mpi print -kind status EXPRESSION",
            kind="usage",
        )
    if kind is not None and real.code == gdb.TYPE_CODE_INT and gdb_handles.integer_name(value.type) is None:
        return Found(expression, kind, int(value), True)
    raise _no_handle(value, expression, real, kind)


#: What a pointer points at that says nothing of it: void, or a structure that is only declared.
_UNTYPED = (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_STRUCT)


def _no_handle(value: Any, expression: str, real: Any, kind: Optional[str]) -> UserError:
    type_name = " ".join(str(value.type).split())[:100]
    help_text = f"to see its value, type: print {expression}"
    integer = gdb_handles.integer_name(value.type)
    if integer is not None:
        return UserError(f"{expression} is an {integer}, a number and no handle", help=help_text, kind="no_handle")
    if real.code == gdb.TYPE_CODE_INT:
        help_text = f"if it is a handle of Fortran, name its kind: mpi print -kind comm {expression}"
    elif real.code == gdb.TYPE_CODE_PTR and kind is not None:
        help_text = f"to look at what it points at, type: mpi print -kind {kind} *{expression}"
    elif real.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        help_text = f"name a member that is one: mpi print {expression}.MEMBER"
    return UserError(
        f"{expression} is of the type {type_name}, which is no MPI handle", help=help_text, kind="no_handle"
    )


def _bytes_of_integers(value: Any, real: Any, expression: str) -> bytes:
    """The bytes of a status of Fortran, ``integer status(MPI_STATUS_SIZE)``."""
    low, high = real.range()
    width = int(real.target().sizeof)
    if not 0 < (high - low + 1) * width <= gdb_handles.MAX_STATUS_BYTES:
        raise UserError(f"{expression} has {high - low + 1} integers: no status has as many", kind="no_handle")
    order = gdb_handles.byte_order()
    return b"".join(gdb_handles.unsigned(value[at], width).to_bytes(width, order) for at in range(low, high + 1))


def _elements(value: Any, expression: str, fortran: bool) -> Iterator[Tuple[str, Any]]:
    """The elements of an array, of however many dimensions, with what they are called."""
    dimensions: List[Tuple[int, int]] = []
    type_ = value.type.strip_typedefs()
    count = 1
    while type_.code == gdb.TYPE_CODE_ARRAY and len(dimensions) < _MAX_DIMENSIONS:
        low, high = type_.range()
        dimensions.append((int(low), int(high)))
        count *= max(0, high - low + 1)
        type_ = type_.target().strip_typedefs()
    if count > MAX_ELEMENTS:
        raise UserError(
            f"{expression} has {count:,} elements; mpi print takes at most {MAX_ELEMENTS:,}",
            help=f"name fewer: mpi print {expression}({dimensions[0][0]}), or {expression}[0]@100 in C",
            kind="usage",
        )
    yield from _walk(value, expression, [], dimensions, fortran)


def _walk(
    value: Any, expression: str, above: List[int], dimensions: List[Tuple[int, int]], fortran: bool
) -> Iterator[Tuple[str, Any]]:
    if not dimensions:
        if fortran:
            # gdb nests arrays of Fortran with the last index outside (dwarf2/read.c: read_array_type).
            yield f"{expression}({','.join(str(index) for index in reversed(above))})", value
        else:
            yield expression + "".join(f"[{index}]" for index in above), value
        return
    low, high = dimensions[0]
    for index in range(low, high + 1):
        yield from _walk(value[index], expression, [*above, index], dimensions[1:], fortran)
