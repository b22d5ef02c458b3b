"""Summaries and children of MPI handles in lldb's category ``mpi``.

lldb calls them while it shows variables and stacks, on whatever thread it does that. They never raise and never run
the program; where the core cannot tell what a handle means, the raw value stands there with the reason.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import lldb

from .. import _native
from ..errors import UserError, as_user_error
from ..handle_types import HandleDict
from ..printers import children, names, words
from . import lldb_handles
from .base import DebuggerError
from .lldb_sessions import LldbTarget

CATEGORY = "mpi"

_EXPECTED = (UserError, _native.NativeError, DebuggerError)

#: A pointer to a pointer to a handle is followed, no further.
_MOST_POINTERS = 2

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


def handle_summary(value: Any, _: Any) -> Optional[str]:
    """The line of a handle, or of a pointer to one; None: as lldb shows it without us."""
    try:
        return _line(lldb_handles.without_reference(value), _MOST_POINTERS)
    except Exception:  # noqa: BLE001 - whatever lldb makes of damaged debug information
        return None


def address_summary(value: Any, _: Any) -> Optional[str]:
    """An MPI_Aint; None: as lldb shows it without us."""
    try:
        value = lldb_handles.without_reference(value)
        if not lldb_handles.is_integer(value.GetType()):
            return None
        return words.address_integer(lldb_handles.integer_of(value), int(value.GetByteSize()))
    except Exception:  # noqa: BLE001 - as above
        return None


class Facts:
    """The facts of a handle as its children; nothing is read before somebody opens it.

    The methods are those that lldb calls (its "synthetic children", lldb/docs/use/variable.rst).
    """

    def __init__(self, value: Any, _: Any) -> None:
        self._value = value
        self._rows: Optional[List[Tuple[str, str]]] = None

    def update(self) -> bool:
        """The process may have run."""
        self._rows = None
        return False

    def has_children(self) -> bool:
        return True

    def num_children(self, *_: Any) -> int:
        return len(self._known())

    def get_child_index(self, name: str) -> int:
        return next((at for at, row in enumerate(self._known()) if row[0] == name), -1)

    def get_child_at_index(self, index: int) -> Any:
        try:
            name, text = self._known()[index]
            return _text_value(self._value, name, text)
        except Exception:  # noqa: BLE001 - no such child
            return None

    def _known(self) -> List[Tuple[str, str]]:
        if self._rows is None:
            try:
                self._rows = _facts_of(self._value)
            except Exception:  # noqa: BLE001 - whatever lldb makes of damaged debug information
                self._rows = []
        return self._rows


def _line(value: Any, pointers: int) -> Optional[str]:
    how = lldb_handles.kind_of(value.GetType())
    if how is None:
        if not pointers or lldb_handles.pointed_type(value.GetType()) is None:
            return None
        address = lldb_handles.integer_of(value)
        behind = value.Dereference()
        if not address or behind.GetError().Fail():
            return None
        shown = _line(behind, pointers - 1)
        return words.pointed(address, shown) if shown else None
    kind, handle, fortran = lldb_handles.handle_in(value, how)
    try:
        return _describe(value, kind, handle, fortran, full=False)["summary"] or None
    except _EXPECTED as error:
        if not isinstance(handle, int):
            # lldb shows the members of a status.
            return None
        return words.with_reason(str(handle) if fortran else f"{handle:#x}", words.reason(as_user_error(error)))


def _facts_of(value: Any) -> List[Tuple[str, str]]:
    value = lldb_handles.without_reference(value)
    how = lldb_handles.kind_of(value.GetType())
    if how is None:
        return []
    try:
        return children.rows(_describe(value, *lldb_handles.handle_in(value, how), full=True))
    except _EXPECTED as error:
        return [("not_known", words.reason(as_user_error(error)) or "this MPI is not supported")]


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
