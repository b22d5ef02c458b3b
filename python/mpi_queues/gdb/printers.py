"""gdb's pretty-printers of MPI handles: in ``print``, ``info locals``, backtraces, MI, and so in editors."""

from __future__ import annotations

import os
from typing import Any, Dict, Optional

import gdb
import gdb.printing

from .. import _native
from ..debuggers.base import DebuggerError
from ..errors import UserError, as_user_error
from ..printers import names, words
from ..system.output import in_a_line
from . import handles as gdb_handles
from .events import symbol_address, symbols_in_events
from .sessions import Sessions

#: What gdb raises for values that cannot be read, and what may follow from values that are not as their types say.
_UNREADABLE = (gdb.error, ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)

#: Symbols that only Open MPI or MPICH has, for programs that are linked with one statically.
_SYMBOLS = ("ompi_mpi_comm_world", "MPIR_Process")


class HandlePrinter:
    """What gdb asks for the text of one value."""

    def __init__(self, value: Any, text: str) -> None:
        self._value = value
        self._text = text

    def to_string(self) -> str:
        """The line; with print/x and the like, the number that a person wants then."""
        # gdb says which format only while it asks this, and only since 13.
        options = getattr(gdb, "print_options", None)
        letter = options().get("format") if options is not None else None
        if letter is not None:
            return str(self._value.format_string(raw=True, format=letter))
        return _encodable(in_a_line(self._text))


def _encodable(text: str) -> str:
    """The text in characters that the target's charset has: gdb would raise for others."""
    if text.isascii():
        return text
    charset = gdb.target_charset()
    try:
        return text.encode(charset, "backslashreplace").decode(charset)
    except LookupError:
        # A charset of gdb's (iconv's) that Python does not know.
        return text.encode("ascii", "backslashreplace").decode("ascii")


class MpiPrinters(gdb.printing.PrettyPrinter):
    """The collection ``mpi``, with one sub-printer for each type."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        types = sorted([*names.TYPEDEFS, *names.INTEGERS])
        self._of: Dict[str, Any] = {name: gdb.printing.SubPrettyPrinter(name) for name in types}
        self._of.update({kind: self._of[name] for name, kind in names.TYPEDEFS.items()})
        super().__init__("mpi", [self._of[name] for name in types])

    def __call__(self, value: Any) -> Optional[HandlePrinter]:
        """gdb asks this for every value that it prints; None: gdb prints it itself."""
        type_ = value.type
        if type_.code not in gdb_handles.MAY_BE:
            return None
        try:
            text = self._text(value, type_)
        except _UNREADABLE:
            # gdb shows what there is in its own words; an exception would stand in the middle of whatever is shown.
            return None
        return HandlePrinter(value, text) if text is not None else None

    def _text(self, value: Any, type_: Any) -> Optional[str]:
        how = gdb_handles.kind_of(type_)
        if how is not None:
            return self._handle(value, how) if self._wanted(how.kind) else None
        pointed = gdb_handles.pointed_type(type_)
        if pointed is not None:
            how = gdb_handles.kind_of(pointed)
            return self._pointer(value, how) if how is not None and self._wanted(how.kind) else None
        integer = gdb_handles.integer_name(type_)
        if integer is None or not self._wanted(integer):
            return None
        number = int(value)
        return words.address_integer(number, int(type_.sizeof)) if integer == "MPI_Aint" else str(number)

    def _wanted(self, name: str) -> bool:
        return bool(self._of[name].enabled)

    def _handle(self, value: Any, how: names.Wrapper) -> Optional[str]:
        kind, handle, fortran = gdb_handles.handle_in(value, how)
        try:
            return self._sessions.of(gdb_handles.inferior_of(value)).summary(kind, handle, fortran)
        except (UserError, _native.NativeError, DebuggerError) as error:
            why = words.reason(as_user_error(error))
            return words.with_reason(value.format_string(raw=True), why) if why is not None else None

    def _pointer(self, value: Any, how: names.Wrapper) -> Optional[str]:
        address = gdb_handles.address_in(value)
        if address == 0:
            return None
        try:
            shown = self._handle(value.dereference(), how)
        except gdb.MemoryError:
            shown = words.UNREADABLE
        return words.pointed(address, shown) if shown is not None else None


class Registration:
    """Registers the printers with each program in which an MPI library is seen."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        gdb.events.new_objfile.connect(self._loaded)
        for inferior in gdb.inferiors():
            for objfile in inferior.progspace.objfiles():
                self._look(objfile)

    def _loaded(self, event: Any) -> None:
        self._look(event.new_objfile)

    def _look(self, objfile: Any) -> None:
        space = objfile.progspace
        if any(isinstance(known, MpiPrinters) for known in space.pretty_printers):
            return
        if _is_mpi(objfile, space):
            gdb.printing.register_pretty_printer(space, MpiPrinters(self._sessions))


def _is_mpi(objfile: Any, space: Any) -> bool:
    name = objfile.filename
    if not name:
        return False
    if _native.is_mpi_library(os.path.basename(name).encode("utf-8", "replace").decode()):
        return True
    with symbols_in_events():
        return name == space.filename and any(symbol_address(symbol) is not None for symbol in _SYMBOLS)
