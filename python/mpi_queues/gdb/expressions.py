"""Handles that an expression of gdb names, for ``mpi print``. Nothing in the program is called or written."""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

import gdb

from ..debuggers.found import Found, check_kind, one_integer
from ..errors import UserError
from . import handles as gdb_handles
from . import types as gdb_types

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


def evaluate(expression: str, kind: Optional[str]) -> Tuple[Any, List[Found]]:
    """The handles that an expression of the selected frame names, and the inferior that they are of; ``kind`` is that
    of integers and plain addresses.

    Raises:
        UserError: where it cannot be evaluated, or is no handle.
    """
    if _ASSIGNMENT.search(_QUOTED.sub("", expression)):
        raise UserError(
            f"{expression} changes the program, which mpi print never does",
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
    if real.code != gdb.TYPE_CODE_ARRAY:
        yield _handle(value, expression, kind)
        return
    dimensions = _dimensions(real)
    # A status of Fortran is an array of integers, several are one of more dimensions.
    statuses = kind == "status" and dimensions[-1].element.code == gdb.TYPE_CODE_INT
    for name, element in _elements(value, expression, dimensions, rows=statuses):
        if statuses:
            yield Found(name, "status", _bytes_of_integers(element, name), False)
        else:
            yield _handle(element, name, kind)


def _handle(value: Any, expression: str, kind: Optional[str]) -> Found:
    """The handle that one value is, or points at."""
    how = gdb_handles.kind_of(value.type)
    pointed = gdb_handles.pointed_type(value.type)
    if how is None and pointed is not None:
        how = gdb_handles.kind_of(pointed)
        if how is not None:
            value, expression = value.dereference(), f"*{expression}"
    if how is not None:
        check_kind(expression, how.kind, kind)
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
        raise one_integer(expression)
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
        return UserError(f"{expression} is an {integer}, a number, not a handle", help=help_text, kind="no_handle")
    if real.code == gdb.TYPE_CODE_INT:
        help_text = f"if it is a Fortran handle, name its kind: mpi print -kind comm {expression}"
    elif real.code == gdb.TYPE_CODE_PTR and kind is not None:
        help_text = f"to look at what it points at, type: mpi print -kind {kind} *{expression}"
    elif real.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        help_text = f"name a member that is one: mpi print {expression}.MEMBER"
    return UserError(
        f"{expression} is of the type {type_name}, which is not an MPI handle", help=help_text, kind="no_handle"
    )


def _bytes_of_integers(value: Any, expression: str) -> bytes:
    """The bytes of a status of Fortran, ``integer status(MPI_STATUS_SIZE)``."""
    (dimension,) = _dimensions(value.type.strip_typedefs())
    width = int(dimension.element.sizeof)
    if not 0 < dimension.length * width <= gdb_handles.MAX_STATUS_BYTES:
        raise UserError(f"{expression} has {dimension.length} integers: no status has that many", kind="no_handle")
    order = gdb_types.byte_order()
    indices = range(dimension.low, dimension.low + dimension.length)
    return b"".join(gdb_handles.unsigned(value[at], width).to_bytes(width, order) for at in indices)


class _Dimension(NamedTuple):
    """One dimension of an array."""

    low: int
    length: int
    #: The type of its elements, which may be arrays again.
    element: Any


def _dimensions(type_: Any) -> List[_Dimension]:
    """The dimensions of an array's type, as gdb nests them: the outermost first."""
    found: List[_Dimension] = []
    while type_.code == gdb.TYPE_CODE_ARRAY and len(found) < _MAX_DIMENSIONS:
        low, high = type_.range()
        type_ = type_.target().strip_typedefs()
        found.append(_Dimension(int(low), max(0, int(high) - int(low) + 1), type_))
    return found


def _elements(value: Any, expression: str, dimensions: List[_Dimension], *, rows: bool) -> Iterator[Tuple[str, Any]]:
    """The elements of an array with what they are called; with ``rows`` the innermost arrays in it."""
    name = expression if _SIMPLE.match(expression) else f"({expression})"
    if rows and len(dimensions) == 1:
        yield expression, value
        return
    walked = dimensions[:-1] if rows else dimensions
    count = math.prod(dimension.length for dimension in walked)
    if count > MAX_ELEMENTS:
        raise UserError(
            f"{expression} has {count:,} elements; mpi print takes at most {MAX_ELEMENTS:,}",
            help="name one of them, or fewer: in C mpi print ARRAY[0]@100, in Fortran mpi print ARRAY(1:100)",
            kind="usage",
        )
    fortran = gdb_types.fortran_is_spoken()
    for indices, element in _walk(value, [], walked):
        if fortran:
            # gdb nests arrays of Fortran with the last index outside (dwarf2/read.c: read_array_type).
            shown = ([":"] if rows else []) + [str(index) for index in reversed(indices)]
            yield f"{name}({','.join(shown)})", element
        else:
            yield name + "".join(f"[{index}]" for index in indices), element


def _walk(value: Any, above: List[int], dimensions: List[_Dimension]) -> Iterator[Tuple[List[int], Any]]:
    if not dimensions:
        yield above, value
        return
    for index in range(dimensions[0].low, dimensions[0].low + dimensions[0].length):
        yield from _walk(value[index], [*above, index], dimensions[1:])
