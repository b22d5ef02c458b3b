"""Summaries and children of MPI handles in lldb's category ``mpi``.

lldb calls them while it shows variables and stacks, on whatever thread it does that. They never raise and never run
the program; where the core cannot tell what a handle means, the raw value stands there with the reason.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import lldb

from .. import _native
from ..debuggers.base import DebuggerError
from ..errors import UserError, as_user_error
from ..handle_types import HandleDict
from ..printers import children, names, words
from ..printers.names import Wrapper
from ..system.output import in_a_line
from . import handles as lldb_handles
from .sessions import LldbTarget

CATEGORY = "mpi"

_EXPECTED = (UserError, _native.NativeError, DebuggerError)

#: No status has more members.
_MOST_MEMBERS = 16

#: The session of a target, by lldb's debugger and target.
Find = Callable[[Any, Any], LldbTarget]

#: By the number of lldb's debugger: a program may have several.
_find: Dict[int, Find] = {}


def install(debugger: Any, find: Find) -> None:
    """Makes the category known to this debugger, and switches it on."""
    _find[int(debugger.GetID())] = find
    category = debugger.CreateCategory(CATEGORY)
    # Without lldb's own form of the value before it: the words are those of other debuggers.
    shown = lldb.eTypeOptionCascade | lldb.eTypeOptionHideChildren | lldb.eTypeOptionHideValue
    summary = lldb.SBTypeSummary.CreateWithFunctionName(f"{__name__}.{handle_summary.__name__}", shown)
    # Below a pointer to a handle stands the handle.
    alone = lldb.eTypeOptionCascade | lldb.eTypeOptionSkipPointers
    facts = lldb.SBTypeSynthetic.CreateWithClassName(f"{__name__}.{Facts.__name__}", alone)
    pointers = (f"{tag} *" for tag in names.STRUCTURES)
    for name in (*names.TYPEDEFS, *pointers, names.STATUS_STRUCTURE, *names.CLASSES):
        category.AddTypeSummary(lldb.SBTypeNameSpecifier(name), summary)
        category.AddTypeSynthetic(lldb.SBTypeNameSpecifier(name), facts)
    # lldb shows an MPI_Offset in decimal by itself.
    integer = lldb.SBTypeSummary.CreateWithFunctionName(f"{__name__}.{address_summary.__name__}", shown | alone)
    category.AddTypeSummary(lldb.SBTypeNameSpecifier("MPI_Aint"), integer)
    category.SetEnabled(True)


def handle_summary(value: Any, _: Any) -> str:
    """The line of a handle, or of a pointer to one; empty: as lldb shows it without us."""
    try:
        return in_a_line(_line(lldb_handles.without_reference(value)) or "")
    except Exception:  # noqa: BLE001 - whatever lldb makes of damaged debug information
        return ""


def address_summary(value: Any, _: Any) -> str:
    """An MPI_Aint; empty: as lldb shows it without us."""
    try:
        value = lldb_handles.without_reference(value)
        if not lldb_handles.is_integer(value.GetType()):
            return ""
        return words.address_integer(lldb_handles.integer_of(value), int(value.GetByteSize()))
    except Exception:  # noqa: BLE001 - as above
        return ""


class Facts:
    """The facts of a handle as its children; nothing is read before somebody opens it. Where they are not known: what
    lldb has below the value.

    The methods are those that lldb calls (LLVM 19: lldb/docs/use/variable.rst, "Synthetic Children").
    """

    def __init__(self, value: Any, _: Any) -> None:
        self._value = lldb_handles.without_reference(value)
        self._rows: Optional[List[Tuple[str, str]]] = None
        self._asked = False

    def update(self) -> bool:
        """The process may have run; False: nothing is kept of what was given before."""
        self._asked = False
        return False

    def has_children(self) -> bool:
        """Whether it can be opened; cheap, as every value that is shown is asked."""
        return True

    def num_children(self, *_: Any) -> int:
        """How many there are."""
        rows = self._known()
        return int(self._value.GetNumChildren()) if rows is None else len(rows)

    def get_child_index(self, name: str) -> int:
        """Which child has that name; -1: none."""
        rows = self._known()
        if rows is None:
            return int(self._value.GetIndexOfChildWithName(name))
        return next((at for at, row in enumerate(rows) if row[0] == name), -1)

    def get_child_at_index(self, index: int) -> Any:
        """A child; None: there is none."""
        rows = self._known()
        if rows is None:
            return self._value.GetChildAtIndex(index)
        try:
            return _text_value(self._value, *rows[index])
        except Exception:  # noqa: BLE001 - no such child, or one that lldb cannot make
            return None

    def _known(self) -> Optional[List[Tuple[str, str]]]:
        if not self._asked:
            self._asked = True
            try:
                self._rows = _facts_of(self._value)
            except Exception:  # noqa: BLE001 - whatever lldb makes of damaged debug information
                self._rows = None
        return self._rows


def _line(value: Any) -> Optional[str]:
    how = lldb_handles.kind_of(value.GetType())
    if how is not None:
        return _of_handle(value, how)
    pointed = lldb_handles.pointed_type(value.GetType())
    how = lldb_handles.kind_of(pointed) if pointed is not None else None
    if how is None:
        return None
    address = lldb_handles.integer_of(value)
    there = lldb_handles.behind(value)
    shown = _of_handle(there, how) if there.GetError().Success() else words.UNREADABLE
    return words.pointed(address, shown) if shown is not None else None


def _of_handle(value: Any, how: Wrapper) -> Optional[str]:
    kind, handle, fortran = lldb_handles.handle_in(value, how)
    try:
        return _describe(value, kind, handle, fortran, full=False)["summary"]
    except _EXPECTED as error:
        why = words.reason(as_user_error(error))
        return words.with_reason(_raw(value, handle), why) if why is not None else None


def _raw(value: Any, handle: Union[int, bytes]) -> str:
    """The value as it lies in memory, in a line."""
    if isinstance(handle, int):
        return f"{handle:#x}"
    members = (value.GetChildAtIndex(index) for index in range(min(int(value.GetNumChildren()), _MOST_MEMBERS)))
    return "{" + ", ".join(f"{member.GetName()} = {member.GetValue()}" for member in members) + "}"


def _facts_of(value: Any) -> Optional[List[Tuple[str, str]]]:
    how = lldb_handles.kind_of(value.GetType())
    if how is None:
        return None
    try:
        return children.rows(_describe(value, *lldb_handles.handle_in(value, how), full=True))
    except _EXPECTED:
        return None


def _describe(value: Any, kind: str, handle: Union[int, bytes], fortran: bool, *, full: bool) -> HandleDict:
    target = value.GetTarget()
    debugger = target.GetDebugger()
    return _find[int(debugger.GetID())](debugger, target).describe_soon(kind, handle, fortran=fortran, full=full)


def _text_value(parent: Any, name: str, text: str) -> Any:
    """A text as a value of lldb's, which need not lie in memory."""
    target = parent.GetTarget()
    encoded = text.encode("utf-8", "replace") + b"\0"
    data = lldb.SBData()
    error = lldb.SBError()
    data.SetData(error, encoded, target.GetByteOrder(), target.GetAddressByteSize())
    characters = target.GetBasicType(lldb.eBasicTypeChar).GetArrayType(len(encoded))
    return parent.CreateValueFromData(name, data, characters)
