"""Which values of gdb are MPI handles, and what the core needs to describe them. Nothing in the program is called."""

from __future__ import annotations

import functools
from typing import Any, List, Optional, Tuple, Union

import gdb

from ..printers import names
from ..printers.names import Wrapper
from . import types as gdb_types

#: Typedefs of typedefs are followed so far; no program has as many.
MAX_TYPEDEFS = 32

#: No status has more members, or is larger; more is another structure of that name.
_MAX_MEMBERS = 16
MAX_STATUS_BYTES = 256

_REFERENCES = (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)

#: Types by code whose values may be handles.
MAY_BE = (gdb.TYPE_CODE_TYPEDEF, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_STRUCT)

#: What the core describes: the value of a C handle, a Fortran integer, or the bytes of a status.
Handle = Tuple[str, Union[int, bytes], bool]


def kind_of(type_: Any) -> Optional[Wrapper]:
    """How values of a type hold a handle; None where they do not."""
    for _ in range(MAX_TYPEDEFS):
        type_ = type_.unqualified()
        code = type_.code
        if code == gdb.TYPE_CODE_TYPEDEF:
            kind = names.TYPEDEFS.get(type_.name)
            # Handles are pointers or integers, and a status is a structure: the type behind the name decides.
            if kind is not None:
                real = type_.strip_typedefs()
                if _is_handle(real) and kind != "status":
                    return Wrapper(kind, "", False)
                if real.code == gdb.TYPE_CODE_STRUCT and not real.name:
                    return names.of_typedef(type_.name, functools.partial(_members, real))
            type_ = type_.target()
        elif code == gdb.TYPE_CODE_PTR:
            behind = type_.target().strip_typedefs().unqualified()
            kind = names.of_pointer(behind.tag) if behind.code == gdb.TYPE_CODE_STRUCT else None
            return Wrapper(kind, "", False) if kind is not None else None
        elif code == gdb.TYPE_CODE_STRUCT:
            return names.of_structure(type_.name, functools.partial(_members, type_))
        else:
            return None
    return None


def _is_handle(real: Any) -> bool:
    code = real.code
    return bool(code == gdb.TYPE_CODE_PTR or (code == gdb.TYPE_CODE_INT and int(real.sizeof) == names.INTEGER_BYTES))


def _members(type_: Any) -> List[str]:
    return [str(field.name) for field in type_.fields()[:_MAX_MEMBERS]]


def pointed_type(type_: Any) -> Optional[Any]:
    """What values of a pointer's type point at; None where it is no pointer's."""
    real = type_.strip_typedefs()
    return real.target() if real.code == gdb.TYPE_CODE_PTR else None


def integer_name(type_: Any) -> Optional[str]:
    """``MPI_Aint`` or ``MPI_Offset`` where a type is one of them, by whatever typedefs."""
    for _ in range(MAX_TYPEDEFS):
        type_ = type_.unqualified()
        if type_.code != gdb.TYPE_CODE_TYPEDEF:
            return None
        if type_.name in names.INTEGERS:
            return str(type_.name) if type_.strip_typedefs().code == gdb.TYPE_CODE_INT else None
        type_ = type_.target()
    return None


def without_reference(value: Any) -> Any:
    """What a reference of C++ refers to, else the value itself."""
    return value.referenced_value() if value.type.strip_typedefs().code in _REFERENCES else value


def handle_in(value: Any, how: Wrapper) -> Handle:
    """The handle that a value holds.

    Raises:
        gdb.error: where the value cannot be read.
    """
    if how.fortran:
        # The only member, whatever its letter case.
        return how.kind, int(value[value.type.strip_typedefs().fields()[0]]), True
    if how.member:
        value = value[how.member]
    if how.kind == "status":
        return "status", status_bytes(value), False
    return how.kind, address_in(value), False


def address_in(value: Any) -> int:
    """The address that a pointer is.

    Raises:
        gdb.error: where the value cannot be read.
    """
    return unsigned(value, int(value.type.sizeof))


def status_bytes(value: Any) -> bytes:
    """The bytes of a status, which may lie anywhere: in memory, in registers, in gdb's history.

    Raises:
        gdb.error: where the value cannot be read.
    """
    # Value.bytes came with gdb 15.
    type_ = value.type.strip_typedefs()
    size = int(type_.sizeof)
    if size > MAX_STATUS_BYTES:
        raise gdb.error(f"a status of {size} bytes")
    order = gdb_types.byte_order()
    found = bytearray(size)
    for field in type_.fields()[:_MAX_MEMBERS]:
        member, start, real = value[field], field.bitpos // 8, field.type.strip_typedefs()
        # The ABI of MPI 5 has an array of reserved integers, and so has Fortran's status of Open MPI 5: from 1 on.
        array = real.code == gdb.TYPE_CODE_ARRAY
        low = int(real.range()[0]) if array else 0
        width = int((real.target() if array else real).sizeof)
        for index in range(int(real.sizeof) // width if array else 1):
            number = unsigned(member[low + index] if array else member, width)
            found[start + index * width : start + (index + 1) * width] = number.to_bytes(width, order)
    return bytes(found)


def unsigned(value: Any, width: int) -> int:
    """An integer as the bytes that it has in memory say it."""
    return int(value) & ((1 << (8 * width)) - 1)


def inferior_of(value: Any) -> Any:
    """The inferior that a value is of: that of its type's program, else the selected one."""
    selected = gdb.selected_inferior()
    # Type.objfile came with gdb 9.
    objfile = getattr(value.type, "objfile", None)
    if objfile is None or objfile.progspace == selected.progspace:
        return selected
    return next((one for one in gdb.inferiors() if one.progspace == objfile.progspace), selected)
