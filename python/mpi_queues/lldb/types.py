"""Structure layouts from lldb's own types, in the form of ``crates/layouts/src/lib.rs``."""

from __future__ import annotations

from typing import Any, Iterator, Optional

import lldb

from ..debuggers.base import TypeDict
from ..debuggers.type_fields import NAME, Member, fields_of

_NESTED = (lldb.eTypeClassStruct, lldb.eTypeClassUnion, lldb.eTypeClassClass)
_POINTERS = (lldb.eTypeClassPointer, lldb.eTypeClassFunction, lldb.eTypeClassReference)


def type_layout(target: Any, name: str) -> Optional[TypeDict]:
    """A complete structure type by tag or typedef name, else None."""
    if not NAME.match(name):
        return None
    for found in target.FindTypes(name):
        real = found.GetCanonicalType()
        # A declaration without members is all that an application sees of MPI's own structures.
        if real.GetTypeClass() in _NESTED and real.IsTypeComplete() and real.GetNumberOfFields():
            return {"size": int(real.GetByteSize()), "fields": fields_of(real, _members), "build_id": _build_id(found)}
    return None


def _build_id(found: Any) -> Optional[str]:
    """That of the file of a type; None without one: of such files lldb makes one up, of four bytes."""
    digits = str(found.GetModule().GetUUIDString() or "").replace("-", "").lower()
    return digits if len(digits) > 8 else None


def _members(structure: Any) -> Iterator[Member]:
    for index in range(int(structure.GetNumberOfFields())):
        member = structure.GetFieldAtIndex(index)
        # Bit-fields cannot be expressed in bytes.
        if member.IsBitfield() or member.GetOffsetInBits() % 8:
            continue
        declared = member.GetType()
        real = declared.GetCanonicalType()
        label = member.GetName()
        yield Member(
            str(label) if label else None,
            int(member.GetOffsetInBytes()),
            int(real.GetByteSize()),
            _kind(real),
            _type_name(declared),
            real if real.GetTypeClass() in _NESTED else None,
        )


def _kind(real: Any) -> Optional[str]:
    type_class = real.GetTypeClass()
    if type_class == lldb.eTypeClassUnion:
        return "union"
    if type_class in _NESTED:
        return "struct"
    if type_class == lldb.eTypeClassArray:
        return "array"
    if type_class in _POINTERS:
        return "pointer"
    flags = real.GetTypeFlags()
    if type_class == lldb.eTypeClassEnumeration:
        members = real.GetEnumMembers()
        negative = any(members.GetTypeEnumMemberAtIndex(i).GetValueAsSigned() < 0 for i in range(members.GetSize()))
        return "signed" if negative else "unsigned"
    if flags & lldb.eTypeIsFloat:
        return "float"
    if flags & (lldb.eTypeIsInteger | lldb.eTypeIsScalar):
        return "signed" if flags & lldb.eTypeIsSigned else "unsigned"
    return None


def _type_name(declared: Any) -> str:
    name = " ".join(str(declared.GetName() or "").split())
    if not name or "unnamed" in name or "anonymous" in name:
        # lldb names an anonymous structure by the place of its declaration.
        return "union {...}" if declared.GetTypeClass() == lldb.eTypeClassUnion else "struct {...}"
    # gdb writes the tag's keyword, and an array's bounds after a space; lldb does the latter only.
    return name[:200]
