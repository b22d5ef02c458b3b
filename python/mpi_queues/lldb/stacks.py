"""lldb's stacks, with what files say of frames where lldb tells it in other words than gdb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

import lldb

from .. import _native
from ..debuggers import system_calls
from ..debuggers.base import FrameDict, StackDict, SystemCallDict
from ..debuggers.local import TracedProcess
from ..debuggers.mapped_images import Mistaken
from ..debuggers.names import without_parameters
from ..system.paths import shown
from .calls import Calls
from .files import named

#: As in ``gdb_stacks``.
MAX_FRAMES = 256
MAX_THREADS = 1024

#: What lldb calls a place between the symbols of a stripped file (Symbol::SynthesizeNameIfNeeded).
_UNNAMED = "___lldb_unnamed_symbol"

_FORTRAN = tuple(
    number
    for name in ("Fortran77", "Fortran90", "Fortran95", "Fortran03", "Fortran08", "Fortran18")
    if (number := getattr(lldb, f"eLanguageType{name}", None)) is not None
)

#: What is asked of a file: which one, and what about.
_Question = Tuple[Any, Any]


class _Answers:
    """Answers about files, each asked once; those about one file are asked together."""

    def __init__(self, ask: Callable[[Any, List[Any]], List[Any]]) -> None:
        self._ask = ask
        self._known: Dict[_Question, Any] = {}

    def learn(self, questions: Iterable[Optional[_Question]]) -> None:
        unknown: Dict[Any, List[Any]] = {}
        for question in {question for question in questions if question is not None} - self._known.keys():
            unknown.setdefault(question[0], []).append(question[1])
        for file, items in unknown.items():
            for item, answer in zip(items, self._ask(file, items)):
                self._known[file, item] = answer

    def get(self, question: Optional[_Question]) -> Any:
        return None if question is None else self._known[question]


#: What code that a signal's handler returns to is called: glibc's on x86-64, the kernel's on AArch64.
_TRAMPOLINES = ("__restore_rt", "__kernel_rt_sigreturn")


@dataclass
class _Raw:
    """A frame as lldb tells it, and what its files are asked."""

    function: Optional[str]
    line: Optional[int]
    #: The file with debug information; the paths of the compile unit and of the source file.
    source: Optional[Tuple[str, Tuple[str, str]]]
    #: The file with symbols, and where the function begins, where there is no debug information.
    symbol: Optional[Tuple[str, int]]
    #: The file with debug information and the path of the compile unit; where the function begins.
    scope: Optional[Tuple[Tuple[str, str], int]]
    #: The file of the code, and the place in it.
    code: Optional[Tuple[str, int]]
    #: None where there is none.
    image: Optional[str]
    application: bool
    #: The signal for which the kernel called a handler here, 0 where it is not known; None where it did not.
    signal: Optional[int]


class Stacks:
    """The stacks of one process, at whatever stop."""

    def __init__(self, process: Any) -> None:
        self._process = process
        self._sources = _Answers(_native.source_names)
        self._symbols = _Answers(_native.symbol_names)
        self._scopes = _Answers(lambda file, starts: _native.scoped_names(file[0], file[1], starts))
        self._outermost = _Answers(lambda file, places: [_native.is_outermost(file, place) for place in places])

    def read(self, debugged: TracedProcess) -> Tuple[List[StackDict], bool]:
        """The stack of each thread, by thread number; and whether every thread has one. ``debugged`` is the process."""
        threads = sorted(self._process, key=lambda thread: int(thread.GetIndexID()))
        raw, wrong = [], {}
        for thread in threads[:MAX_THREADS]:
            number = int(thread.GetIndexID())
            stack, wrong[number] = _frames(thread, debugged)
            raw.append((number, stack))
        frames = [frame for _, stack in raw for frame in stack]
        self._sources.learn(frame.source for frame in frames)
        self._symbols.learn(frame.symbol for frame in frames)
        self._scopes.learn(frame.scope for frame in frames)
        self._outermost.learn(stack[-1].code for _, stack in raw if stack)
        found = [self._stack(number, stack, wrong[number]) for number, stack in raw if stack or wrong[number]]
        calls = Calls(debugged, self._process.GetTarget())
        by_number = {int(thread.GetIndexID()): thread for thread in threads[:MAX_THREADS]}
        for told in found:
            thread = by_number[told["thread"]]
            told["kernel_thread"] = int(thread.GetThreadID())
            told["main"] = told["kernel_thread"] == int(self._process.GetProcessID())
            told["system_call"] = _system_call(thread, debugged)
            if told["system_call"] is not None:
                told["thread_pointer"] = _register(thread.GetFrameAtIndex(0), "fs_base")
            if wrong[told["thread"]] is None:
                calls.tell(told, thread)
            else:
                _native.refuse_call(told, str(wrong[told["thread"]]))
        return found, 0 < len(found) == len(threads)

    def _symbol(self, frame: _Raw) -> Optional[str]:
        """Of the many names that a library may give a function, the one that gdb takes."""
        name: Optional[str] = self._symbols.get(frame.symbol)
        # lldb shows a C++ name as it is in the source.
        return None if name is None or name.startswith("_Z") else name

    def _stack(self, number: int, raw: List[_Raw], wrong: Optional[Mistaken]) -> StackDict:
        frames: List[FrameDict] = []
        for frame in raw:
            path = frame.source[1][1] if frame.source is not None else None
            told: FrameDict = {
                "function": self._scopes.get(frame.scope) or self._symbol(frame) or frame.function,
                # lldb resolves a name to a path; where the file does not tell the name, the path has to do.
                "file": self._sources.get(frame.source) or path,
                "line": frame.line,
                "image": frame.image,
            }
            if frame.image is not None:
                told["application"] = frame.application
            if told["function"] in _TRAMPOLINES:
                told["signal"] = frame.signal or 0
            frames.append(told)
        if wrong is not None:
            frames.append({"function": None, "file": None, "line": None})
            return {"thread": number, "complete": False, "frames": frames}
        # lldb does not tell why a stack ends: where nobody called, or where it got lost.
        ends = raw[-1].function == "main" or bool(self._outermost.get(raw[-1].code))
        # What called code of which lldb has no file is a guess.
        complete = len(raw) < MAX_FRAMES and ends and all(frame.image is not None for frame in raw)
        return {"thread": number, "complete": complete, "frames": frames}


def _frames(thread: Any, debugged: TracedProcess) -> Tuple[List[_Raw], Optional[Mistaken]]:
    """The frames down to one in code of another file than lldb has, and that file: what lldb says of such a place is
    not true, nor is who called it."""
    found: List[_Raw] = []
    for index in range(MAX_FRAMES):
        frame = thread.GetFrameAtIndex(index)
        if not frame.IsValid():
            break
        wrong = debugged.mistaken_at(int(frame.GetPC()))
        if wrong is not None:
            return found, wrong
        found.append(_raw(frame, innermost=index == 0))
        if found[-1].function in _TRAMPOLINES:
            found[-1].signal = _signal(frame, debugged)
        # As gdb does: what called main is the C library's.
        if found[-1].function == "main" and _in_executable(frame):
            break
    return found, None


def _raw(frame: Any, *, innermost: bool) -> _Raw:
    name = frame.GetFunctionName()
    # lldb puts the global scope before a function of C++ that C can call.
    function = None if not name or str(name).startswith(_UNNAMED) else without_parameters(str(name).removeprefix("::"))
    entry, unit, module = frame.GetLineEntry(), frame.GetCompileUnit(), frame.GetModule()
    known = entry.IsValid() and 0 < int(entry.GetLine()) < lldb.LLDB_INVALID_LINE_NUMBER
    symbols = _path(module.GetSymbolFileSpec()) or _path(module.GetFileSpec())
    scope = symbol = None
    if function is not None and not frame.GetFunction().IsValid():
        symbol = (symbols, int(frame.GetSymbol().GetStartAddress().GetFileAddress()))
        if unit.GetLanguage() in _FORTRAN:
            # lldb reads Fortran's line tables, not its functions.
            scope = ((symbols, shown(_path(unit.GetFileSpec()))), symbol[1])
    address = frame.GetPCAddress()
    file = _path(address.GetModule().GetFileSpec())
    return _Raw(
        function=function,
        line=int(entry.GetLine()) if known else None,
        # The core has the names of debug information in words, too.
        source=(symbols, (shown(_path(unit.GetFileSpec())), shown(_path(entry.GetFileSpec())))) if known else None,
        symbol=symbol,
        scope=scope,
        # In all but the innermost frame the counter stands after the call.
        code=(file, int(address.GetFileAddress()) - (0 if innermost else 1)) if file else None,
        image=file or None,
        application=_in_executable(frame) or _native.is_application(named(address.GetModule()), ""),
        signal=None,
    )


def _signal(frame: Any, debugged: TracedProcess) -> int:
    """The signal for which the kernel called a handler. lldb does not tell it."""
    if not debugged.local or debugged.pid is None:
        return 0
    return _native.handled_signal(debugged.pid, int(frame.GetThread().GetThreadID()), int(frame.GetSP()))


def _register(frame: Any, name: str) -> Optional[int]:
    found = frame.FindRegister(name)
    error = lldb.SBError()
    value = found.GetValueAsUnsigned(error) if found.IsValid() else 0
    return int(value) if found.IsValid() and error.Success() else None


def _system_call(thread: Any, debugged: TracedProcess) -> Optional[SystemCallDict]:
    """What a thread does in the kernel."""
    frame = thread.GetFrameAtIndex(0)

    def register(name: str) -> Optional[int]:
        return _register(frame, name)

    machine = str(thread.GetProcess().GetTarget().GetTriple()).split("-", 1)[0]
    found = system_calls.of_registers(machine, register)
    if found is None and debugged.host is not None and debugged.pid is not None:
        # lldb 19 has no register orig_rax.
        found = system_calls.of_proc(debugged.pid, int(thread.GetThreadID()), machine, register("rax"))
    return found


def _path(file: Any) -> str:
    return str(file.fullpath or "") if file.IsValid() else ""


def _in_executable(frame: Any) -> bool:
    executable = frame.GetThread().GetProcess().GetTarget().GetExecutable()
    return bool(frame.GetModule().GetFileSpec() == executable)


def code_place(target: Any, address: int) -> Optional[Tuple[Optional[str], Optional[str], Optional[int]]]:
    """Function, source file and line of an address of a process."""
    place = target.ResolveLoadAddress(address)
    if not place.IsValid() or not place.GetSection().IsValid():
        return None
    block, function, entry = place.GetBlock(), place.GetFunction(), place.GetLineEntry()
    inlined = block.GetContainingInlinedBlock() if block.IsValid() else None
    if inlined is not None and inlined.IsValid() and inlined.GetInlinedName():
        name = str(inlined.GetInlinedName())
    else:
        name = str((function if function.IsValid() else place.GetSymbol()).GetName() or "")
    function_name = without_parameters(name) if name and not name.startswith(_UNNAMED) else None
    known = entry.IsValid() and 0 < int(entry.GetLine()) < lldb.LLDB_INVALID_LINE_NUMBER
    if not known:
        return None if function_name is None else (function_name, None, None)
    file = str(entry.GetFileSpec().fullpath or "")
    unit, module = place.GetCompileUnit(), place.GetModule()
    debug = str(module.GetSymbolFileSpec().fullpath or module.GetFileSpec().fullpath or "")
    if unit.IsValid() and debug:
        # As gdb names it.
        told = _native.source_names(debug, [(str(unit.GetFileSpec().fullpath or ""), file)])
        file = told[0] or file
    return function_name, file or None, int(entry.GetLine())
