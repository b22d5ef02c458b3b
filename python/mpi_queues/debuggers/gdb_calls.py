"""What the application gave MPI functions, in gdb: expressions in the frames of the callers."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Optional, cast

import gdb

from .. import _native
from ..calls import constants
from ..calls.source import Unknown
from . import arguments, gdb_handles, gdb_quiet
from .arguments import Caller, Evaluated
from .base import StackDict
from .system_libraries import is_application

#: Nothing is called, written or fetched, and each frame has the language of its source, whatever the user has set.
_GUARDS = {
    "may-call-functions": "off",
    "may-write-memory": "off",
    "may-write-registers": "off",
    "debuginfod enabled": "off",
    "language": "auto",
}

_NUMBERS = (
    gdb.TYPE_CODE_INT,
    gdb.TYPE_CODE_ENUM,
    gdb.TYPE_CODE_BOOL,
    gdb.TYPE_CODE_CHAR,
    gdb.TYPE_CODE_RANGE,
)


@contextmanager
def guarded() -> Iterator[None]:
    """For everything in this file."""
    with gdb_quiet.settings(_GUARDS):
        yield


class Calls:
    """The calls in the stacks of one inferior, which is selected, at one stop."""

    def __init__(self, inferior: Any, symbol: Callable[[str], Optional[int]]) -> None:
        self._inferior = inferior
        self._symbol = symbol
        self._executable = str(inferior.progspace.filename or "")
        self._family: Optional[constants.Family] = None
        self._ours: Dict[str, bool] = {}

    def is_application(self, frame: Any) -> bool:
        """Whether a frame's code is the application's."""
        path = str(gdb.solib_name(frame.pc()) or self._executable)
        known = self._ours.get(path)
        if known is None:
            known = self._ours[path] = is_application(path, self._executable)
        return known

    def tell(self, stack: StackDict, frames: List[Any]) -> None:
        """Adds what the outermost MPI function was given."""
        found = _native.mpi_frame([frame["function"] for frame in stack["frames"]])
        if found is None or found[0] + 1 >= len(frames):
            return
        index, function = found
        try:
            frame = frames[index + 1]
            caller = _GdbCaller(self._inferior, frame)
            stack["arguments"], stack["arguments_unknown"] = arguments.arguments(function, caller, self._known_family())
        except gdb.error as error:
            stack["arguments_unknown"] = _sentence(error)

    def _known_family(self) -> constants.Family:
        if self._family is None:
            self._family = constants.family(self._symbol, _libraries)
        return self._family


def _libraries() -> str:
    return " ".join(str(one.filename) for one in gdb.objfiles())


class _GdbCaller(Caller):
    def __init__(self, inferior: Any, frame: Any) -> None:
        self._inferior = inferior
        self._frame = frame
        self._selected = False
        where = frame.find_sal()
        known = where is not None and where.symtab is not None and where.line > 0
        self.file = str(where.symtab.fullname()) if known else None
        self.line = int(where.line) if known else None
        self.built = _built(where.symtab.objfile) if known else None
        self.byte_order = gdb_handles.byte_order()

    def evaluate(self, text: str, *, fortran: bool) -> Evaluated:
        try:
            if not self._selected:
                self._frame.select()
                self._selected = True
            return _evaluated(gdb.parse_and_eval(text))
        except (gdb.error, ValueError, OverflowError) as error:
            raise Unknown(_sentence(error)) from None

    def read(self, address: int, length: int) -> bytes:
        try:
            return bytes(self._inferior.read_memory(address, length))
        except (gdb.error, OverflowError, ValueError, MemoryError):
            raise Unknown(f"the memory at {address:#x} cannot be read") from None


def _evaluated(value: Any) -> Evaluated:
    value = gdb_handles.without_reference(value)
    real = value.type.strip_typedefs()
    if value.is_optimized_out:
        raise Unknown("optimised away")
    place = _address(value)
    if real.code == gdb.TYPE_CODE_ARRAY:
        if place is None:
            raise Unknown("the array is in no memory")
        element = real.target()
        while element.strip_typedefs().code == gdb.TYPE_CODE_ARRAY and "ortran" in _language():
            element = element.strip_typedefs().target()
        return Evaluated(place, int(element.strip_typedefs().sizeof), place)
    if real.code == gdb.TYPE_CODE_PTR:
        return Evaluated(int(value), int(real.target().strip_typedefs().sizeof), place)
    if real.code == gdb.TYPE_CODE_FUNC:
        return Evaluated(int(value.address), None, None)
    if real.code in _NUMBERS:
        return Evaluated(int(value), None, place)
    wrapper = gdb_handles.kind_of(value.type)
    if wrapper is not None and wrapper.kind != "status":
        _, number, _ = gdb_handles.handle_in(value, wrapper)
        return Evaluated(cast(int, number), None, place)
    # A buffer of Fortran, which has an address whatever it is.
    return Evaluated(place, int(real.sizeof), place) if place is not None else _no_number(value)


def _no_number(value: Any) -> Evaluated:
    raise Unknown(f"a value of the type {str(value.type)[:60]} is no number")


def _address(value: Any) -> Optional[int]:
    address = value.address
    return None if address is None else int(address)


def _language() -> str:
    return str(gdb.execute("show language", to_string=True))


def _built(objfile: Any) -> Optional[float]:
    """When the file with the code was built; for one with separate debug information, the file itself."""
    owner = getattr(objfile, "owner", None) or objfile
    try:
        return os.stat(str(owner.filename).removeprefix("target:")).st_mtime
    except OSError:
        return None


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return "optimised away" if "optimized out" in text else text or "gdb does not say why"
