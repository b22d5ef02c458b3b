"""Structure layouts from gdb's own types, in the form of ``crates/layouts/src/lib.rs``."""

from __future__ import annotations

from typing import Any, Iterator, Literal, Optional

import gdb

from ..debuggers.base import TypeDict
from ..debuggers.type_fields import NAME, Member, fields_of


def byte_order() -> Literal["little", "big"]:
    """That of the selected inferior."""
    number = _integer()
    sample = (1).to_bytes(int(number.sizeof), "little")
    return "little" if int(gdb.Value(sample, number)) == 1 else "big"


def pointer_size() -> int:
    """How many bytes an address of the selected inferior has."""
    return int(_integer().pointer().sizeof)


def opaque_pointer() -> Any:
    """``void *``, or where the language of the frame has no such type, a pointer to integers."""
    try:
        return gdb.lookup_type("void").pointer()
    except gdb.error:
        return _integer().pointer()


def fortran_is_spoken() -> bool:
    """Whether gdb's language is Fortran: that of the selected frame, or the one that the user has set."""
    return "fortran" in gdb.execute("show language", to_string=True)


def text_of(value: Any) -> str:
    """A text that the user has typed, in quotes of the language that gdb speaks.

    Raises:
        gdb.error: where it is none.
    """
    if value.type.code != gdb.TYPE_CODE_STRING:
        return str(value.string())
    # Of Fortran and others: Value.string takes none of these, and what needs their address makes gdb call malloc in the
    # program.
    known = getattr(value, "bytes", None)
    if known is not None:
        return bytes(known).decode("utf-8", "surrogateescape")
    # Value.bytes came with gdb 15. Marks that are escaped or doubled in what gdb prints are in no name of a person.
    shown = str(value.format_string(max_elements=0, repeat_threshold=0))
    if len(shown) < 2 or shown[0] not in "'\"" or shown[-1] != shown[0] or {"\\", shown[0]} & set(shown[1:-1]):
        raise gdb.error(f"not a plain text: {shown}")
    return shown[1:-1]


def _integer() -> Any:
    """An integer type of the selected inferior's architecture, without naming it.

    gdb looks up ``unsigned int`` in the language of the selected frame: in one of Fortran, gdb 14 and later have none.
    What Python makes of a number has the architecture that gdb had when the script began (gdb 10,
    python/python-internal.h: ``python_gdbarch``): another one where the script itself has attached.
    """
    return gdb.parse_and_eval("1").type


def type_layout(name: str) -> Optional[TypeDict]:
    """A complete structure type by tag or typedef name, else None."""
    if not NAME.match(name):
        return None
    for spelling in (name, f"struct {name}", f"union {name}"):
        try:
            named = gdb.lookup_type(spelling)
            found = named.strip_typedefs()
        except gdb.error:
            continue
        # A declaration without members is all that an application sees of MPI's own structures.
        if found.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION) and found.fields():
            return {"size": int(found.sizeof), "fields": fields_of(found, _members), "build_id": _build_id(named)}
    return None


def _build_id(type_: Any) -> Optional[str]:
    """That of the file of a type; Type.objfile came with gdb 9."""
    objfile = getattr(type_, "objfile", None)
    return str(objfile.build_id).lower() if objfile is not None and objfile.build_id else None


def _members(structure: Any) -> Iterator[Member]:
    for field in structure.fields():
        # Static members have no place in the object; bit-fields cannot be expressed in bytes.
        if not hasattr(field, "bitpos") or field.bitsize or field.bitpos % 8:
            continue
        real = field.type.strip_typedefs()
        nested = real.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
        yield Member(
            field.name, field.bitpos // 8, _size(real), _kind(real), _type_name(field.type), real if nested else None
        )


def _size(real: Any) -> int:
    if real.code == gdb.TYPE_CODE_ARRAY:
        low, high = real.range()
        # A flexible array has no upper bound; gdb says -1 or 0 elements.
        if high < low:
            return 0
    return int(real.sizeof)


def _kind(real: Any) -> Optional[str]:
    code = real.code
    if code == gdb.TYPE_CODE_STRUCT:
        return "struct"
    if code == gdb.TYPE_CODE_UNION:
        return "union"
    if code == gdb.TYPE_CODE_ARRAY:
        return "array"
    if code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_FUNC, gdb.TYPE_CODE_REF):
        return "pointer"
    if code == gdb.TYPE_CODE_FLT:
        return "float"
    if code == gdb.TYPE_CODE_BOOL:
        return "unsigned"
    if code == gdb.TYPE_CODE_ENUM:
        return "signed" if any(member.enumval < 0 for member in real.fields()) else "unsigned"
    if code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR):
        return "signed" if _is_signed(real) else "unsigned"
    return None


def _is_signed(real: Any) -> bool:
    # Type.is_signed came with gdb 12.
    known = getattr(real, "is_signed", None)
    if known is not None:
        return bool(known)
    return bool(gdb.Value(-1).cast(real) < 0)


def _type_name(type_: Any) -> str:
    if not type_.name and not type_.tag and type_.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        # str() of an anonymous structure is its whole body.
        return "union {...}" if type_.code == gdb.TYPE_CODE_UNION else "struct {...}"
    return " ".join(str(type_).split())[:200]
