"""The fields of a structure from a debugger's own types, in the form of ``crates/layouts/src/lib.rs``."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional

from .base import FieldDict

#: No MPI structure nests deeper or has more members; more is damaged debug information.
MAX_DEPTH = 16
MAX_FIELDS = 20_000

#: A tag or the name of a typedef.
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Member(NamedTuple):
    """A member that has a place in bytes."""

    #: None of an anonymous structure, whose members are those of the one around it.
    name: Optional[str]
    #: From the beginning of the structure, in bytes.
    offset: int
    #: In bytes; 0 for a flexible array.
    size: int
    #: As of ``FieldDict``; None for what readers have no use for.
    kind: Optional[str]
    #: As people read it.
    type: str
    #: The structure that it is; None where it is none.
    inside: Optional[Any]


def fields_of(structure: Any, members: Callable[[Any], Iterator[Member]]) -> Dict[str, FieldDict]:
    """All of its fields, those of structures in it with a dot. ``members`` gives those of one structure."""
    found: Dict[str, FieldDict] = {}
    _flatten(structure, members, "", 0, found, 0)
    return found


def _flatten(
    structure: Any,
    members: Callable[[Any], Iterator[Member]],
    prefix: str,
    base: int,
    out: Dict[str, FieldDict],
    depth: int,
) -> None:
    if depth > MAX_DEPTH:
        return
    for member in members(structure):
        if len(out) >= MAX_FIELDS:
            return
        offset = base + member.offset
        if not member.name:
            if member.inside is not None:
                _flatten(member.inside, members, prefix, offset, out, depth + 1)
            continue
        if member.kind is None:
            continue
        name = prefix + member.name
        out[name] = {"offset": offset, "size": member.size, "kind": member.kind, "type": member.type}
        if member.inside is not None:
            _flatten(member.inside, members, name + ".", offset, out, depth + 1)
