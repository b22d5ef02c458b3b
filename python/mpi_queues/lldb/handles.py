"""Which values of lldb are MPI handles, and what the core needs to describe them. Nothing in the program is called."""

from __future__ import annotations

import functools
from typing import Any, List, Optional, Tuple, Union

import lldb

from ..errors import UserError
from ..printers import names
from ..printers.names import Wrapper

#: Typedefs of typedefs are followed so far; no program has as many.
MAX_TYPEDEFS = 32

#: No status has more members, or is larger; more is another structure of that name.
_MAX_MEMBERS = 16
MAX_STATUS_BYTES = 256

_STRUCTURES = (lldb.eTypeClassStruct, lldb.eTypeClassClass)

#: What the core describes: the value of a C handle, a Fortran integer, or the bytes of a status.
Handle = Tuple[str, Union[int, bytes], bool]


def kind_of(type_: Any) -> Optional[Wrapper]:
    """How values of a type hold a handle; None where they do not."""
    for _ in range(MAX_TYPEDEFS):
        type_class = type_.GetTypeClass()
        if type_class == lldb.eTypeClassTypedef:
            kind = names.TYPEDEFS.get(_name(type_))
            # Handles are pointers or integers, and a status is a structure: the type behind the name decides.
            if kind is not None and kind != "status" and _is_handle(type_):
                return Wrapper(kind, "", False)
            real = type_.GetCanonicalType()
            if kind == "status" and real.GetTypeClass() in _STRUCTURES:
                found = names.of_typedef(_name(type_), functools.partial(_members, real))
                if found is not None:
                    return found
            type_ = type_.GetTypedefedType()
        elif type_class == lldb.eTypeClassPointer:
            behind = type_.GetPointeeType().GetCanonicalType()
            kind = names.of_pointer(_name(behind)) if behind.GetTypeClass() in _STRUCTURES else None
            return Wrapper(kind, "", False) if kind is not None else None
        elif type_class in _STRUCTURES:
            return names.of_structure(_name(type_), functools.partial(_members, type_))
        else:
            return None
    return None


def _is_handle(type_: Any) -> bool:
    real = type_.GetCanonicalType()
    if real.GetTypeClass() == lldb.eTypeClassPointer:
        return True
    return is_integer(real) and int(real.GetByteSize()) == names.INTEGER_BYTES


def pointed_type(type_: Any) -> Optional[Any]:
    """What values of a pointer's type point at; None where it is no pointer's."""
    real = type_.GetCanonicalType()
    if real.GetTypeClass() != lldb.eTypeClassPointer:
        return None
    # As it was declared: the canonical type has no names of typedefs any more.
    return without_typedefs(type_).GetPointeeType()


def without_typedefs(type_: Any) -> Any:
    """The type behind a type's own typedefs; what it points at or consists of keeps its names."""
    for _ in range(MAX_TYPEDEFS):
        if type_.GetTypeClass() != lldb.eTypeClassTypedef:
            break
        type_ = type_.GetTypedefedType()
    return type_


def without_reference(value: Any) -> Any:
    """What a reference of C++ refers to, else the value itself; as it lies in memory, without children of ours."""
    value = value.GetNonSyntheticValue()
    return behind(value) if value.GetType().GetCanonicalType().IsReferenceType() else value


def behind(value: Any) -> Any:
    """What a pointer or reference points at, without children of ours."""
    return value.Dereference().GetNonSyntheticValue()


def is_integer(type_: Any) -> bool:
    """Whether values of a type are integers."""
    real = type_.GetCanonicalType()
    return real.GetTypeClass() == lldb.eTypeClassBuiltin and bool(real.GetTypeFlags() & lldb.eTypeIsInteger)


def integer_name(type_: Any) -> Optional[str]:
    """``MPI_Aint`` or ``MPI_Offset`` where a type is one of them, by whatever typedefs."""
    if not is_integer(type_):
        return None
    for _ in range(MAX_TYPEDEFS):
        if type_.GetTypeClass() != lldb.eTypeClassTypedef:
            break
        if _name(type_) in names.INTEGERS:
            return _name(type_)
        type_ = type_.GetTypedefedType()
    return None


def handle_in(value: Any, how: Wrapper) -> Handle:
    """The handle that a value holds.

    Raises:
        UserError: where the value cannot be read.
    """
    if how.member:
        value = value.GetChildMemberWithName(how.member)
    if how.kind == "status":
        return "status", status_bytes(value), False
    found = integer_of(value)
    # An integer in C is the handle's bits, one of Fortran has a sign.
    return how.kind, found if how.fortran else found & ((1 << (8 * int(value.GetByteSize()))) - 1), how.fortran


def integer_of(value: Any) -> int:
    """The value of a pointer or an integer; that of a pointer is not negative.

    Raises:
        UserError: where the value cannot be read.
    """
    error = lldb.SBError()
    signed = bool(value.GetType().GetCanonicalType().GetTypeFlags() & lldb.eTypeIsSigned)
    found = value.GetValueAsSigned(error) if signed else value.GetValueAsUnsigned(error)
    if error.Fail():
        raise UserError(said(error))
    return int(found)


def status_bytes(value: Any) -> bytes:
    """The bytes of a status, which may lie anywhere: in memory, in registers, in lldb's history.

    Raises:
        UserError: where the value cannot be read.
    """
    size = int(value.GetByteSize())
    if size > MAX_STATUS_BYTES:
        raise UserError(f"a status of {size} bytes: no status is that large", kind="no_handle")
    error = lldb.SBError()
    found = value.GetData().ReadRawData(error, 0, size) if size else None
    if found is None or error.Fail() or len(found) != size:
        raise UserError(said(value.GetError()))
    return bytes(found)


def said(error: Any) -> str:
    """What lldb says of an error, in a line."""
    text = " ".join(str(error.GetCString() or "").split())
    return text.removeprefix("error: ") or "lldb cannot read it"


def _members(type_: Any) -> List[str]:
    count = min(int(type_.GetNumberOfFields()), _MAX_MEMBERS)
    return [str(type_.GetFieldAtIndex(index).GetName()) for index in range(count)]


def _name(type_: Any) -> str:
    return str(type_.GetUnqualifiedType().GetName() or "")
