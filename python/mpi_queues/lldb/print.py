"""Handles that an expression of lldb names, for ``mpi print``."""

from __future__ import annotations

import math
import re
from typing import Any, Iterator, List, Optional, Tuple

import lldb

from .._native import Unknown
from ..debuggers.found import Found, check_kind, one_integer
from ..errors import UserError
from . import handles as lldb_handles
from . import values as lldb_values
from .values import type_name

#: An array with more elements is not taken apart.
MAX_ELEMENTS = 10_000

_MAX_DIMENSIONS = 15

#: What an index can follow as it is.
_SIMPLE = re.compile(r"[\w.$:>\[\]-]+\Z")

_STRUCTURES = (lldb.eTypeClassStruct, lldb.eTypeClassClass, lldb.eTypeClassUnion)


def evaluate(target: Any, frame: Optional[Any], expression: str, kind: Optional[str]) -> List[Found]:
    """The handles that an expression names in a frame; ``kind`` is that of integers and plain addresses.

    Raises:
        UserError: where it cannot be evaluated, or is no handle.
    """
    try:
        value = lldb_values.value_of(target, frame, expression)
        if isinstance(value, int):
            return [_integer(value, expression, kind)]
        return list(_handles(value, expression, kind))
    except Unknown as problem:
        raise UserError(
            f"cannot evaluate {expression}: {problem}",
            help=_elsewhere(frame) or "to see the variables of this frame, type: frame variable; of its caller: up",
            kind="expression",
        ) from None


def _elsewhere(frame: Optional[Any]) -> str:
    """What to do where lldb itself knows no variables."""
    if frame is None or not frame.IsValid():
        return "to list the threads, type: thread list"
    language = str(lldb.SBLanguageRuntime.GetNameForLanguageType(frame.GuessLanguage()) or "")
    if language.startswith("fortran"):
        return "lldb does not support Fortran variables: use gdb, or name the integer itself: mpi print -kind comm 3"
    return ""


def _handles(value: Any, expression: str, kind: Optional[str]) -> Iterator[Found]:
    counts, element = _dimensions(value.GetType())
    if not counts:
        yield _handle(value, expression, kind)
        return
    # A status of Fortran is an array of integers, several are one of more dimensions.
    statuses = kind == "status" and lldb_handles.is_integer(element)
    for name, one in _elements(value, expression, counts[:-1] if statuses else counts):
        if statuses:
            yield Found(name, "status", lldb_handles.status_bytes(one), False)
        else:
            yield _handle(one, name, kind)


def _handle(value: Any, expression: str, kind: Optional[str]) -> Found:
    """The handle that one value is, or points at."""
    how = lldb_handles.kind_of(value.GetType())
    pointed = lldb_handles.pointed_type(value.GetType())
    if how is None and pointed is not None:
        how = lldb_handles.kind_of(pointed)
        if how is not None:
            address = lldb_handles.integer_of(value)
            value, expression = lldb_handles.behind(value), f"*{expression}"
            if value.GetError().Fail():
                raise Unknown(f"memory at {address:#x} cannot be read")
    if how is None:
        return _by_kind(value, expression, kind)
    check_kind(expression, how.kind, kind)
    found_kind, found, fortran = lldb_handles.handle_in(value, how)
    address = int(value.GetLoadAddress())
    if found_kind == "status" and not how.member and address != lldb.LLDB_INVALID_ADDRESS:
        found = address
    return Found(expression, found_kind, found, fortran)


def _by_kind(value: Any, expression: str, kind: Optional[str]) -> Found:
    """A value whose type tells nothing."""
    type_ = value.GetType()
    pointed = lldb_handles.pointed_type(type_)
    if kind is not None and pointed is not None and _says_nothing(pointed):
        return Found(expression, kind, lldb_handles.integer_of(value), False)
    if lldb_handles.integer_name(type_) is None and lldb_handles.is_integer(type_):
        return _integer(lldb_handles.integer_of(value), expression, kind, type_name(type_))
    raise _no_handle(value, expression, kind)


def _integer(value: int, expression: str, kind: Optional[str], type_: str = "int") -> Found:
    if kind == "status":
        raise one_integer(expression)
    if kind is None:
        raise UserError(
            f"{expression} is of the type {type_}, which is not an MPI handle",
            help=f"if it is a Fortran handle, name its kind: mpi print -kind comm {expression}",
            kind="no_handle",
        )
    return Found(expression, kind, value, True)


def _says_nothing(pointed: Any) -> bool:
    """Whether a pointer to that may point at anything: void, or a structure that is only declared."""
    real = pointed.GetCanonicalType()
    return real.GetBasicType() == lldb.eBasicTypeVoid or real.GetTypeClass() in _STRUCTURES


def _no_handle(value: Any, expression: str, kind: Optional[str]) -> UserError:
    type_ = value.GetType()
    help_text = f"to see its value, type: frame variable {expression}"
    integer = lldb_handles.integer_name(type_)
    if integer is not None:
        return UserError(f"{expression} is an {integer}, a number, not a handle", help=help_text, kind="no_handle")
    if kind is not None and lldb_handles.pointed_type(type_) is not None:
        help_text = f"to look at what it points at, type: mpi print -kind {kind} *{expression}"
    elif type_.GetCanonicalType().GetTypeClass() in _STRUCTURES:
        help_text = f"name a member that is one: mpi print {expression}.MEMBER"
    return UserError(
        f"{expression} is of the type {type_name(type_)}, which is not an MPI handle", help=help_text, kind="no_handle"
    )


def _dimensions(type_: Any) -> Tuple[List[int], Any]:
    """How many elements an array's type has in each dimension, the outermost first, and their type."""
    counts: List[int] = []
    type_ = lldb_handles.without_typedefs(type_)
    while type_.GetTypeClass() == lldb.eTypeClassArray and len(counts) < _MAX_DIMENSIONS:
        element = type_.GetArrayElementType()
        width = int(element.GetByteSize())
        counts.append(int(type_.GetByteSize()) // width if width else 0)
        type_ = lldb_handles.without_typedefs(element)
    return counts, type_


def _elements(value: Any, expression: str, counts: List[int]) -> Iterator[Tuple[str, Any]]:
    """The elements of an array in its first dimensions, with what they are called."""
    total = math.prod(counts)
    if total > MAX_ELEMENTS:
        raise UserError(
            f"{expression} has {total:,} elements; mpi print takes at most {MAX_ELEMENTS:,}",
            help=f"name one of them: mpi print {expression}{'[0]' * len(counts)}",
            kind="usage",
        )
    name = expression if not counts or _SIMPLE.match(expression) else f"({expression})"
    yield from _walk(value, name, counts)


def _walk(value: Any, expression: str, counts: List[int]) -> Iterator[Tuple[str, Any]]:
    if not counts:
        yield expression, value
        return
    for index in range(counts[0]):
        element = value.GetChildAtIndex(index, lldb.eNoDynamicValues, False)
        if not element.IsValid():
            raise Unknown(f"{expression}[{index}] cannot be read")
        yield from _walk(element.GetNonSyntheticValue(), f"{expression}[{index}]", counts[1:])
