"""What the application gave MPI functions, in lldb: expressions in the frames of the callers."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, Optional, Tuple, cast

import lldb

from .. import _native
from ..calls import arithmetic, constants
from ..calls.source import Unknown
from ..errors import UserError
from . import arguments, called, lldb_expressions, lldb_handles
from .base import DebuggedProcess, DebuggerError, StackDict
from .callers import Caller, CallFrame, Evaluated
from .fingerprints import Fingerprints, Place, kept_registers
from .lldb_expressions import Problem


class Calls:
    """The calls in the stacks of one process at one stop."""

    def __init__(self, process: DebuggedProcess, target: Any) -> None:
        self._process = process
        self._target = target
        self._fingerprints = Fingerprints(process)
        self._family: Optional[constants.Family] = None

    def tell(self, stack: StackDict, thread: Any) -> None:
        """Adds what the outermost MPI function was given, and the fingerprint."""
        frames = stack["frames"]
        found = _native.mpi_frame([frame["function"] for frame in frames])
        hidden = None
        if found is None:
            hidden = called.mpi_call(
                frames, self._process, lambda at: int(thread.GetFrameAtIndex(at).GetPC()), self._name_of
            )
        if hidden is not None:
            # lldb's own frames are one fewer from here on.
            frames.insert(hidden[0], called.frame(hidden[1]))
            found = _native.mpi_frame([frame["function"] for frame in frames])
        shift = int(hidden is not None)
        ours = [at for at, frame in enumerate(frames) if frame.get("application")]
        at = found[0] + 1 if found is not None else ours[0] if ours else len(frames)
        if at >= len(frames):
            return
        frame = thread.GetFrameAtIndex(at - shift)
        outermost = thread.GetFrameAtIndex((max(at, *ours) if ours else at) - shift)
        stack["fingerprint"] = self._fingerprints.of(_place(frame, outermost, self._target))
        if found is not None:
            caller = _LldbCaller(self._process, self._target, frame)
            family = self._known_family()
            stack["arguments"], stack["arguments_unknown"] = arguments.arguments(found[1], caller, family)

    def _known_family(self) -> constants.Family:
        if self._family is None:
            self._family = constants.family(self._symbol, self._libraries)
        return self._family

    def _name_of(self, address: int) -> Optional[str]:
        place = self._target.ResolveLoadAddress(address)
        symbol = place.GetSymbol()
        begins = symbol.IsValid() and symbol.GetStartAddress() == place
        return str(symbol.GetName()) if begins else None

    def _symbol(self, name: str) -> Optional[int]:
        found = self._process.symbol(name)
        return None if found is None else found[0]

    def _libraries(self) -> str:
        return " ".join(str(module.GetFileSpec().GetFilename()) for module in self._target.module_iter())


def _place(frame: Any, outermost: Any, target: Any) -> Place:
    kept = kept_registers(str(target.GetTriple()).split("-", 1)[0])
    registers = tuple(_register(frame, name) for name in kept)
    return Place(int(frame.GetPC()), int(frame.GetSP()), int(outermost.GetCFA()), registers)


def _register(frame: Any, name: str) -> Optional[int]:
    found = frame.FindRegister(name)
    error = lldb.SBError()
    value = found.GetValueAsUnsigned(error) if found.IsValid() else 0
    return int(value) if found.IsValid() and error.Success() else None


class _LldbCaller(Caller):
    def __init__(self, process: DebuggedProcess, target: Any, frame: Any) -> None:
        self.process = process
        self._target = target
        self._frame = frame
        entry = frame.GetLineEntry()
        known = entry.IsValid() and 0 < int(entry.GetLine()) < lldb.LLDB_INVALID_LINE_NUMBER
        path = str(entry.GetFileSpec().fullpath or "") if known else ""
        self.file = path or None
        self.line = int(entry.GetLine()) if path else None
        self.built = _built(frame.GetModule())

    def evaluate(self, text: str, *, fortran: bool) -> Evaluated:
        if fortran:
            return Evaluated(arithmetic.value_of(text, _no_variables), None, None)
        try:
            return _evaluated(lldb_expressions.value_of(self._target, self._frame, text))
        except (Problem, UserError) as problem:
            reason = Unknown(_sentence(problem))
        try:
            return Evaluated(arithmetic.value_of(text, self._leaf), None, None)
        except Unknown as unknown:
            # What the parts lack says more than that the whole is not understood.
            raise (unknown if "not understood" not in str(unknown) else reason) from None

    def _leaf(self, text: str) -> int:
        try:
            found = _evaluated(lldb_expressions.value_of(self._target, self._frame, text))
        except (Problem, UserError) as problem:
            value = _enumerators(self._frame.GetModule()).get(text)
            if value is not None:
                return value
            raise Unknown(_sentence(problem)) from None
        if found.width is not None:
            raise Unknown(f"{text[:60]} is no integer")
        return found.number

    def read_code(self, address: int, length: int) -> bytes:
        try:
            return super().read_code(address, length)
        except DebuggerError:
            # Core files leave code out; lldb has it from the file.
            error = lldb.SBError()
            content = self._target.ReadMemory(self._target.ResolveLoadAddress(address), length, error)
            if not error.Success() or content is None or len(content) != length:
                raise
            return bytes(content)

    def frames(self) -> Iterator[CallFrame]:
        thread = self._frame.GetThread()
        inlined = False
        for index in range(int(self._frame.GetFrameID()), int(thread.GetNumFrames())):
            frame = thread.GetFrameAtIndex(index)
            # Of inlined functions and the one around them, which have one frame, only the first has the counter.
            found = None if inlined else self._call_frame(frame)
            if found is not None:
                yield found
            elif not inlined:
                return
            inlined = bool(frame.IsInlined())

    def _call_frame(self, frame: Any) -> Optional[CallFrame]:
        module = frame.GetModule()
        text = int(module.FindSection(".text").GetLoadAddress(self._target))
        path = str(module.GetSymbolFileSpec().fullpath or module.GetFileSpec().fullpath or "")
        if not path or text == lldb.LLDB_INVALID_ADDRESS:
            return None
        registers: Dict[str, int] = {}
        cfa = None
        # lldb makes up the frame of a function that jumped to the next one: nothing of it is left.
        if not frame.IsArtificial():
            names = ("rsp", *kept_registers(str(self._target.GetTriple()).split("-", 1)[0]))
            held = {name: _register(frame, name) for name in names}
            registers = {name: value for name, value in held.items() if value is not None}
            known = int(frame.GetCFA())
            cfa = known if known != lldb.LLDB_INVALID_ADDRESS else None
        build_id = str(module.GetUUIDString() or "").replace("-", "") or None
        return CallFrame(path, build_id, int(frame.GetPC()), text, registers, cfa)


#: The enumerators of each file with debug information.
_known_enumerators: Dict[Tuple[str, float], Dict[str, int]] = {}


def _enumerators(module: Any) -> Dict[str, int]:
    """The constants of all enumerations of a file, also with their scopes; lldb finds none by its name."""
    key = (str(module.GetFileSpec().fullpath or ""), _built(module) or 0.0)
    if key not in _known_enumerators:
        found: Dict[str, int] = {}
        clashing = set()
        for type_ in module.GetTypes(lldb.eTypeClassEnumeration):
            name = str(type_.GetName() or "")
            scope = name if not name.startswith("(") else ""
            for member in type_.GetEnumMembers():
                word, value = str(member.GetName()), int(member.GetValueAsSigned())
                outer = scope.rpartition("::")[0]
                for spelled in {word, f"{scope}::{word}" if scope else word, f"{outer}::{word}" if outer else word}:
                    if found.setdefault(spelled, value) != value:
                        clashing.add(spelled)
        _known_enumerators[key] = {word: value for word, value in found.items() if word not in clashing}
    return _known_enumerators[key]


def _no_variables(name: str) -> int:
    raise Unknown(f"lldb knows no variables of Fortran, such as {name[:60]}")


def _evaluated(value: Any) -> Evaluated:
    if isinstance(value, int):
        return Evaluated(value, None, None)
    type_ = lldb_handles.without_typedefs(value.GetType())
    real = type_.GetCanonicalType()
    kind = real.GetTypeClass()
    place = _address(value)
    if kind == lldb.eTypeClassArray:
        if place is None:
            raise Unknown("the array is in no memory")
        return Evaluated(place, int(type_.GetArrayElementType().GetByteSize()), place)
    if kind == lldb.eTypeClassPointer:
        return Evaluated(lldb_handles.integer_of(value), int(type_.GetPointeeType().GetByteSize()), place)
    if kind == lldb.eTypeClassEnumeration or lldb_handles.is_integer(real):
        return Evaluated(lldb_handles.integer_of(value), None, place)
    wrapper = lldb_handles.kind_of(value.GetType())
    if wrapper is not None and wrapper.kind != "status":
        return Evaluated(cast(int, lldb_handles.handle_in(value, wrapper)[1]), None, place)
    raise Unknown(f"a value of the type {lldb_expressions.type_name(value.GetType())[:60]} is no number")


def _address(value: Any) -> Optional[int]:
    address = value.GetLoadAddress()
    return None if address == lldb.LLDB_INVALID_ADDRESS else int(address)


def _built(module: Any) -> Optional[float]:
    """When the file with the code was built."""
    path = str(module.GetFileSpec().fullpath or "")
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None


def _sentence(problem: Exception) -> str:
    text = " ".join(str(problem).split()).rstrip(".")
    gone = "optimized out" in text or "not available" in text
    return "optimised away" if gone else text or "lldb does not say why"
