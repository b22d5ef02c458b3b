"""The kinds of MPI handles, how people name them, and the dictionaries in which the core tells what they mean."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, TypedDict

from ._native import handle_kinds
from .errors import UsageError

#: The type in C of each kind, by the kind's word.
KINDS: Dict[str, str] = {word: c_type for word, c_type, _ in handle_kinds()}

#: What each kind is called in a sentence.
NOUNS: Dict[str, str] = {word: noun for word, _, noun in handle_kinds()}

#: The word for every kind that can be listed.
ALL = "all"


class HandleDict(TypedDict):
    """One handle and what it means; ``model::Handle`` in the core has the details."""

    kind: str
    handle: Optional[str]
    fortran: Optional[int]
    name: Optional[str]
    predefined: Optional[bool]
    freed: Optional[bool]
    #: ``live``, ``null``, ``freed``, ``invalid`` or ``unknown``.
    state: str
    detail: Optional[str]
    #: One line for people.
    summary: str
    #: By the names of docs/handles.md, in the order in which they are shown.
    facts: Dict[str, Any]
    #: Why facts are None.
    unknown: Dict[str, str]
    problems: List[str]


class HandleListDict(TypedDict):
    """The handles of one kind that a process has."""

    kind: str
    #: Whether these are all; ``detail`` says why not.
    complete: bool
    detail: Optional[str]
    handles: List[HandleDict]


def wanted(kind: str, values: Sequence[str]) -> Tuple[Tuple[str, Optional[str]], ...]:
    """What is asked of a process.

    Raises:
        UsageError: for a kind and values that do not go together.
    """
    if kind == ALL:
        if values:
            raise UsageError(f"{values[0]}: which kind of handle is it?", help=f"name one of {', '.join(KINDS)}")
        return ()
    if kind == "status" and not (values and all(value.lower().startswith("0x") for value in values)):
        raise UsageError(
            "a status belongs to the application, not to the MPI library, which has no list of them",
            help="name its address: status 0x…",
        )
    return tuple((kind, value) for value in values) if values else ((kind, None),)


def kind_of(word: str) -> str:
    """The kind that somebody names by its word or its type in C; ``all`` for every kind.

    Raises:
        UsageError: where there is none of that name.
    """
    for kind, type_name in KINDS.items():
        if word in (kind, type_name):
            return kind
    if word == ALL:
        return ALL
    raise UsageError(f"{word}: not a kind of handle", help=f"name one of {', '.join(KINDS)}, or all")


def kinds_of(words: Sequence[str]) -> Tuple[str, ...]:
    """The kinds that can be listed, by words or types in C; ``all`` is every one.

    Raises:
        UsageError: for a word that is none.
    """
    found: Dict[str, None] = {}
    for word in words:
        kind = kind_of(word)
        if kind == "status":
            raise UsageError("the MPI library has no list of statuses", help=f"name kinds of {', '.join(KINDS)}")
        found.update(dict.fromkeys(KINDS if kind == ALL else (kind,)))
    found.pop("status", None)
    return tuple(found)
