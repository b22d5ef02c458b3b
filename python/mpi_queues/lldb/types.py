"""Structure layouts from lldb's own types, in the form of ``crates/layouts/src/lib.rs``."""

from __future__ import annotations

import re
from typing import Any, Dict, Optional

import lldb

from ..debuggers.base import FieldDict, TypeDict

#: No MPI structure nests deeper or has more members; more is damaged debug information.
MAX_DEPTH = 16
MAX_FIELDS = 20_000

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

_NESTED = (lldb.eTypeClassStruct, lldb.eTypeClassUnion, lldb.eTypeClassClass)
_POINTERS = (lldb.eTypeClassPointer, lldb.eTypeClassFunction, lldb.eTypeClassReference)


def type_layout(target: Any, name: str) -> Optional[TypeDict]:
    """A complete structure type by tag or typedef name, else None."""
    if not _NAME.match(name):
        return None
    for found in target.FindTypes(name):
        real = found.GetCanonicalType()
        # A declaration without members is all that an application sees of MPI's own structures.
        if real.GetTypeClass() in _NESTED and real.IsTypeComplete() and real.GetNumberOfFields():
            fields: Dict[str, FieldDict] = {}
            _flatten(real, "", 0, fields, 0)
            return {"size": int(real.GetByteSize()), "fields": fields}
    return None


def _flatten(struct: Any, prefix: str, base: int, out: Dict[str, FieldDict], depth: int) -> None:
    if depth > MAX_DEPTH:
        return
    for index in range(int(struct.GetNumberOfFields())):
        member = struct.GetFieldAtIndex(index)
        # Bit-fields cannot be expressed in bytes.
        if member.IsBitfield() or member.GetOffsetInBits() % 8:
            continue
        if len(out) >= MAX_FIELDS:
            return
        offset = base + int(member.GetOffsetInBytes())
        declared = member.GetType()
        real = declared.GetCanonicalType()
        nested = real.GetTypeClass() in _NESTED
        label = member.GetName()
        if not label:
            if nested:
                _flatten(real, prefix, offset, out, depth + 1)
            continue
        kind = _kind(real)
        if kind is None:
            continue
        name = prefix + str(label)
        out[name] = {"offset": offset, "size": int(real.GetByteSize()), "kind": kind, "type": _type_name(declared)}
        if nested:
            _flatten(real, name + ".", offset, out, depth + 1)


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
