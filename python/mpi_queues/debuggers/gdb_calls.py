"""What the application gave MPI functions, in gdb: expressions in the frames of the callers."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, cast

import gdb

from .. import _native
from ..calls import arithmetic, constants
from ..calls.source import Unknown
from . import arguments, called, gdb_handles, gdb_quiet
from .base import DebuggedProcess, StackDict
from .callers import Caller, CallFrame, Evaluated
from .fingerprints import Fingerprints, Place, kept_registers
from .system_libraries import is_application

#: Nothing is called, written or fetched, and each frame has the language of its source, whatever the user has set. gdb
#: lets nobody forbid writes to registers while there is a process: ``expressions.check`` refuses assignments before.
_GUARDS = {
    "may-call-functions": "off",
    "may-write-memory": "off",
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


#: The first line of `info frame` (gdb/stack.c: info_frame_command_core).
_FRAME_AT = re.compile(r"frame at (0x[0-9a-f]+)")

#: What `info symbol` says of the beginning of a function; of other places it has `name + offset`.
_FUNCTION = re.compile(r"(\w+) in section ")

#: A section in what `info files` says (gdb/target.c: print_section_info).
_TEXT = re.compile(r"(0x[0-9a-f]+) - (0x[0-9a-f]+) is \.text(?: in |$)", re.MULTILINE)


@contextmanager
def guarded() -> Iterator[None]:
    """For everything in this file."""
    with gdb_quiet.settings(_GUARDS):
        yield


class Calls:
    """The calls in the stacks of one inferior, which is selected, at one stop."""

    def __init__(self, inferior: Any, process: DebuggedProcess) -> None:
        self._inferior = inferior
        self._process = process
        self._fingerprints = Fingerprints(process)
        self._executable = str(inferior.progspace.filename or "")
        self._family: Optional[constants.Family] = None
        self._ours: Dict[str, bool] = {}
        self._texts: Optional[List[Tuple[int, int]]] = None

    def is_application(self, frame: Any) -> bool:
        """Whether a frame's code is the application's."""
        path = str(gdb.solib_name(frame.pc()) or self._executable)
        known = self._ours.get(path)
        if known is None:
            known = self._ours[path] = is_application(path, self._executable)
        return known

    def tell(self, stack: StackDict, frames: List[Any]) -> None:
        """Adds what the outermost MPI function was given, and the fingerprint."""
        found = _native.mpi_frame([frame["function"] for frame in stack["frames"]])
        ours = [at for at, frame in enumerate(stack["frames"]) if frame.get("application")]
        if found is None:
            hidden = None
            # Where the place that is called cannot be looked at nothing is said of it.
            with suppress(gdb.error):
                hidden = called.mpi_call(stack["frames"], self._process, lambda at: int(frames[at].pc()), _name_of)
            if hidden is not None:
                stack["frames"].insert(hidden[0], called.frame(hidden[1]))
                frames.insert(hidden[0], None)
                self.tell(stack, frames)
                return
        at = found[0] + 1 if found is not None else ours[0] if ours else len(frames)
        if at >= len(frames):
            return
        try:
            stack["fingerprint"] = self._fingerprints.of(_place(frames, at, max(ours, default=at)))
        except (gdb.error, ValueError):
            stack["fingerprint"] = None
        if found is None:
            return
        try:
            caller = _GdbCaller(self._process, frames[at], self._text)
            family = self._known_family()
            stack["arguments"], stack["arguments_unknown"] = arguments.arguments(found[1], caller, family)
        except gdb.error as error:
            stack["arguments_unknown"] = _sentence(error)

    def _text(self, address: int) -> Optional[int]:
        """Where the section ``.text`` begins that has an address."""
        if self._texts is None:
            found = _TEXT.findall(gdb.execute("info files", to_string=True))
            self._texts = [(int(begin, 16), int(end, 16)) for begin, end in found]
        return next((begin for begin, end in self._texts if begin <= address < end), None)

    def _known_family(self) -> constants.Family:
        if self._family is None:
            self._family = constants.family(self._symbol, _libraries)
        return self._family

    def _symbol(self, name: str) -> Optional[int]:
        found = self._process.symbol(name)
        return None if found is None else found[0]


def _place(frames: List[Any], at: int, outermost: int) -> Place:
    """What there is in a frame; the stack ends with that of the frame ``outermost``."""
    frame = frames[at]
    kept = kept_registers(str(frame.architecture().name()))
    registers = tuple(_register(frame, name) for name in kept)
    # A Fortran program's stack goes on to its first frame, which has no end.
    ends = (_end(frames[index]) for index in range(max(at, outermost), at - 1, -1))
    return Place(int(frame.pc()), _register(frame, "sp") or 0, next(filter(None, ends), 0), registers)


def _register(frame: Any, name: str) -> Optional[int]:
    try:
        return int(frame.read_register(name)) & ((1 << 64) - 1)
    except (gdb.error, ValueError):
        # Not saved by whom it has called.
        return None


def _end(frame: Any) -> int:
    """Where the stack of a frame ends: its canonical frame address."""
    older = frame.older()
    if older is not None:
        return _register(older, "sp") or 0
    # gdb walks no further than main.
    frame.select()
    found = _FRAME_AT.search(gdb.execute("info frame", to_string=True))
    return int(found[1], 16) if found is not None else 0


def _name_of(address: int) -> Optional[str]:
    found = _FUNCTION.match(gdb.execute(f"info symbol {address:#x}", to_string=True))
    return found[1] if found is not None else None


def _libraries() -> str:
    return " ".join(str(one.filename) for one in gdb.objfiles())


class _GdbCaller(Caller):
    def __init__(self, process: DebuggedProcess, frame: Any, text: Callable[[int], Optional[int]]) -> None:
        self.process = process
        self._frame = frame
        self._text = text
        self._selected = False
        where = frame.find_sal()
        known = where is not None and where.symtab is not None and where.line > 0
        self.file = str(where.symtab.fullname()) if known else None
        self.line = int(where.line) if known else None
        self.built = _built(where.symtab.objfile) if known else None

    def evaluate(self, text: str, *, fortran: bool) -> Evaluated:
        try:
            if not self._selected:
                self._frame.select()
                self._selected = True
            return _evaluated(gdb.parse_and_eval(text))
        except (gdb.error, ValueError, OverflowError) as error:
            reason = Unknown(_sentence(error))
        if not fortran:
            raise reason
        # To gdb names of functions of Fortran are no variables: rank, size, kind, shape (gdb/f-exp.y, f_intrinsics).
        variable = self._variable(text)
        if variable is not None:
            return variable
        try:
            return Evaluated(arithmetic.value_of(text, self._leaf), None, None)
        except Unknown:
            raise reason from None

    def _variable(self, name: str) -> Optional[Evaluated]:
        try:
            return _evaluated(self._frame.read_var(name.lower()))
        except (gdb.error, ValueError, TypeError):
            return None

    def _leaf(self, text: str) -> int:
        found = self._variable(text)
        if found is None:
            try:
                found = _evaluated(gdb.parse_and_eval(text))
            except (gdb.error, ValueError, OverflowError) as error:
                raise Unknown(_sentence(error)) from None
        if found.width is not None:
            raise Unknown(f"{text[:60]} is no integer")
        return found.number

    def frames(self) -> Iterator[CallFrame]:
        frame = self._frame
        try:
            while frame is not None:
                if frame.type() != gdb.INLINE_FRAME:
                    found = self._call_frame(frame)
                    if found is None:
                        return
                    yield found
                frame = frame.older()
        except gdb.error:
            # The stack ends here.
            return

    def _call_frame(self, frame: Any) -> Optional[CallFrame]:
        symtab, text = frame.find_sal().symtab, self._text(int(frame.pc()))
        if symtab is None or text is None:
            return None
        name, build_id = str(symtab.objfile.filename), symtab.objfile.build_id
        path = name.removeprefix("target:")
        if path != name and build_id is None:
            # Whether the file of that name on this machine is the same cannot be told.
            return None
        registers: Dict[str, int] = {}
        cfa = None
        # gdb makes up the frame of a function that jumped to the next one: nothing of it is left.
        if frame.type() == gdb.NORMAL_FRAME:
            names = ("rsp", *kept_registers(str(frame.architecture().name())))
            held = {name: _register(frame, name) for name in names}
            registers = {name: value for name, value in held.items() if value is not None}
            cfa = _end(frame) or None
            # That may have selected it.
            self._selected = False
        return CallFrame(path, build_id, int(frame.pc()), text, registers, cfa)


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
