"""What the application gave MPI functions, in lldb: expressions in the frames of the callers."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Optional, Tuple, Union

import lldb

from .. import _native
from .._native import Unknown
from ..debuggers.base import DebuggedProcess, DebuggerError, StackDict
from ..debuggers.callers import Caller, CallFrame, Thread
from ..debuggers.calls import ProcessCalls
from ..debuggers.fingerprints import Place, kept_registers
from ..debuggers.values import Scope, Typed
from ..system import files
from .values import LldbScope, made


class Calls(ProcessCalls):
    """The calls in the stacks of one process at one stop."""

    def __init__(self, process: DebuggedProcess, target: Any) -> None:
        super().__init__(process)
        self.target = target

    def tell(self, stack: StackDict, thread: Any) -> None:
        """Adds what the outermost MPI function was given, and the fingerprint."""
        _native.add_call(stack, _LldbThread(self, thread))

    def caller(self, frame: Any) -> Caller:
        """A frame that called MPI."""
        return _LldbCaller(self.process, self.target, frame, self._known_family())

    def _libraries(self) -> str:
        return " ".join(str(module.GetFileSpec().GetFilename()) for module in self.target.module_iter())


def _place(frame: Any, outermost: Any, target: Any) -> Place:
    kept = kept_registers(str(target.GetTriple()).split("-", 1)[0])
    registers = tuple(_register(frame, name) for name in kept)
    return Place(int(frame.GetPC()), int(frame.GetSP()), int(outermost.GetCFA()), registers)


def _register(frame: Any, name: str) -> Optional[int]:
    found = frame.FindRegister(name)
    error = lldb.SBError()
    value = found.GetValueAsUnsigned(error) if found.IsValid() else 0
    return int(value) if found.IsValid() and error.Success() else None


class _LldbThread(Thread):
    def __init__(self, calls: Calls, thread: Any) -> None:
        self.process = calls.process
        self._calls = calls
        self._thread = thread

    def counter(self, at: int) -> int:
        return int(self._thread.GetFrameAtIndex(at).GetPC())

    def function_at(self, address: int) -> Optional[str]:
        place = self._calls.target.ResolveLoadAddress(address)
        symbol = place.GetSymbol()
        begins = symbol.IsValid() and symbol.GetStartAddress() == place
        return str(symbol.GetName()) if begins else None

    def fingerprint(self, at: int, outermost: int) -> Optional[str]:
        inner, outer = self._thread.GetFrameAtIndex(at), self._thread.GetFrameAtIndex(outermost)
        return self._calls.fingerprint(_place(inner, outer, self._calls.target))

    def caller(self, at: int) -> Caller:
        return self._calls.caller(self._thread.GetFrameAtIndex(at))


class _LldbCaller(Caller):
    def __init__(self, process: DebuggedProcess, target: Any, frame: Any, family: str) -> None:
        self.process = process
        self.family = family
        self._target = target
        self._frame = frame
        entry = frame.GetLineEntry()
        known = entry.IsValid() and 0 < int(entry.GetLine()) < lldb.LLDB_INVALID_LINE_NUMBER
        path = str(entry.GetFileSpec().fullpath or "") if known else ""
        self.file = path or None
        self.line = int(entry.GetLine()) if path else None
        self.built = _built(frame.GetModule())

    def scope(self, *, fortran: bool) -> Scope:
        return _NoVariables() if fortran else _ScopeWithEnumerators(self._target, self._frame)

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


class _ScopeWithEnumerators(LldbScope):
    """lldb finds no enumerator by its name."""

    def __init__(self, target: Any, frame: Any) -> None:
        super().__init__(target, frame)
        self._module = frame.GetModule()

    def variable(self, name: str) -> Optional[Typed]:
        found = super().variable(name)
        if found is not None:
            return found
        number = _enumerators(self._module).get(name)
        return None if number is None else made(self._target, number, self._target.GetBasicType(lldb.eBasicTypeLong))


class _NoVariables(Scope):
    """A frame of Fortran, of which lldb knows no variables and types."""

    def variable(self, name: str) -> Optional[Typed]:
        return None

    def has_type(self, name: str) -> bool:
        return False

    def missing(self, name: str) -> str:
        return f"lldb knows no variables of Fortran, such as {name[:60]}"

    def cast(self, value: Union[int, Typed], type_name: str, pointers: int) -> Union[int, Typed]:
        raise Unknown("lldb knows no types of Fortran")

    def size_of(self, type_name: str, pointers: int) -> int:
        raise Unknown("lldb knows no types of Fortran")


def _built(module: Any) -> Optional[float]:
    """When the file with the code was built."""
    path = str(module.GetFileSpec().fullpath or "")
    try:
        return files.about(path).written / 1e9
    except (OSError, ValueError):
        return None
