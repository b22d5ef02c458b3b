"""What the application gave MPI functions, in gdb: expressions in the frames of the callers."""

from __future__ import annotations

import functools
import re
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import gdb

from .. import _native
from .._native import Unknown
from ..debuggers.base import DebuggedProcess, StackDict
from ..debuggers.callers import Caller, CallFrame, Thread
from ..debuggers.calls import ProcessCalls
from ..debuggers.fingerprints import Place, kept_registers
from ..system import files
from . import quiet as gdb_quiet
from . import text as gdb_text
from .values import GdbScope, sentence

#: Each frame has the language of its source, whatever the user has set, and nothing is fetched. Nothing that is done
#: here calls or writes; where gdb did by itself, it may not.
_GUARDS = {
    "may-call-functions": "off",
    "may-write-memory": "off",
    "debuginfod enabled": "off",
    "language": "auto",
}

#: The first line of `info frame` (gdb/stack.c: info_frame_command_core).
_FRAME_AT = re.compile(r"frame at (0x[0-9a-f]+)")

#: What `info symbol` says of the beginning of a function; of other places it has `name + offset`.
_FUNCTION = re.compile(r"(\w+) in section ")

#: A section in what `info files` says (gdb/target.c: print_section_info).
_TEXT = re.compile(r"(0x[0-9a-f]+) - (0x[0-9a-f]+) is \.text(?: in |$)", re.MULTILINE)

#: A section of the program itself there.
_PROGRAM = re.compile(r"(0x[0-9a-f]+) - (0x[0-9a-f]+) is [._]\S*$", re.MULTILINE)

#: Functions of the page of code that the kernel maps (man 7 vdso).
_OF_THE_KERNEL = re.compile(
    r"(__vdso_|__kernel_)?(clock_gettime|clock_getres|gettimeofday|time|getcpu|getrandom)\Z|__kernel_"
)


@contextmanager
def guarded() -> Iterator[None]:
    """For everything in this file."""
    with gdb_quiet.settings(_GUARDS):
        yield


class Calls(ProcessCalls):
    """The calls in the stacks of one inferior, which is selected, at one stop."""

    def __init__(self, inferior: Any, process: DebuggedProcess) -> None:
        super().__init__(process)
        self._inferior = inferior
        self._executable = gdb_text.text(lambda: inferior.progspace.filename)
        self._ours: Dict[str, bool] = {}
        self._told: Optional[str] = None
        self._texts: Optional[List[Tuple[int, int]]] = None
        self._program: Optional[List[Tuple[int, int]]] = None

    def image(self, frame: Any) -> Optional[str]:
        """The file of a frame's code; None where gdb has none for it: made at run time, or a file that is gone."""
        pc = frame.pc()
        library = gdb_text.text(lambda: gdb.solib_name(pc)) or self.process.library_at(pc)
        if library:
            return library
        if (self._executable and self.process.is_in_program(pc)) or self._in_program(pc):
            return self._executable
        # The kernel's own page has symbols and no file, and so has code that its maker has told gdb of.
        name = frame.name()
        if name is None:
            return _native.VDSO if frame.type() == gdb.SIGTRAMP_FRAME else None
        return _native.VDSO if _OF_THE_KERNEL.match(name) else self._executable

    def has_file(self, frame: Any) -> bool:
        """Whether gdb itself has the file of a frame's code, and so what the file tells of who called it."""
        pc = frame.pc()
        return bool(gdb_text.text(lambda: gdb.solib_name(pc))) or self._in_program(pc)

    def _in_program(self, pc: int) -> bool:
        if self._program is None:
            found = _PROGRAM.findall(self._sections())
            self._program = [(int(begin, 16), int(end, 16)) for begin, end in found]
        return any(begin <= pc < end for begin, end in self._program)

    def _sections(self) -> str:
        """gdb prints thousands of lines for a process with many libraries: it is asked once a stop."""
        if self._told is None:
            self._told = gdb_text.execute("info files")
        return self._told

    def is_application(self, path: str) -> bool:
        """Whether code of a file is the application's."""
        known = self._ours.get(path)
        if known is None:
            known = self._ours[path] = _native.is_application(path, self._executable)
        return known

    def tell(self, stack: StackDict, frames: List[Any]) -> None:
        """Adds what the outermost MPI function was given, and the fingerprint."""
        try:
            _native.add_call(stack, _GdbThread(self, frames))
        except gdb.error as error:
            stack["arguments_unknown"] = sentence(error)

    def caller(self, frame: Any) -> Caller:
        """A frame that called MPI."""
        return _GdbCaller(self.process, frame, self._text, self._known_family())

    def _text(self, address: int) -> Optional[int]:
        """Where the section ``.text`` begins that has an address."""
        if self._texts is None:
            found = _TEXT.findall(self._sections())
            self._texts = [(int(begin, 16), int(end, 16)) for begin, end in found]
        return next((begin for begin, end in self._texts if begin <= address < end), None)

    def _libraries(self) -> str:
        return " ".join(gdb_text.text(functools.partial(getattr, one, "filename")) for one in gdb.objfiles())


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
    found = _FRAME_AT.search(gdb_text.execute("info frame"))
    return int(found[1], 16) if found is not None else 0


class _GdbThread(Thread):
    def __init__(self, calls: Calls, frames: List[Any]) -> None:
        self.process = calls.process
        self._calls = calls
        self._frames = frames

    def counter(self, at: int) -> int:
        with _unknown():
            return int(self._frames[at].pc())

    def function_at(self, address: int) -> Optional[str]:
        with _unknown():
            found = _FUNCTION.match(gdb_text.execute(f"info symbol {address:#x}"))
            return found[1] if found is not None else None

    def fingerprint(self, at: int, outermost: int) -> Optional[str]:
        try:
            return self._calls.fingerprint(_place(self._frames, at, outermost))
        except (gdb.error, ValueError):
            return None

    def caller(self, at: int) -> Caller:
        with _unknown():
            return self._calls.caller(self._frames[at])


@contextmanager
def _unknown() -> Iterator[None]:
    """What gdb refuses is not known."""
    try:
        yield
    except gdb.error as error:
        raise Unknown(sentence(error)) from None


class _GdbCaller(Caller):
    def __init__(
        self,
        process: DebuggedProcess,
        frame: Any,
        text: Callable[[int], Optional[int]],
        family: str,
    ) -> None:
        self.process = process
        self.family = family
        self._frame = frame
        self._text = text
        self._selected = False
        where = frame.find_sal()
        known = where is not None and where.symtab is not None and where.line > 0
        self.file = gdb_text.text(where.symtab.fullname) if known else None
        self.line = int(where.line) if known else None
        self.built = _built(where.symtab.objfile) if known else None

    def scope(self, *, fortran: bool) -> GdbScope:
        if not self._selected:
            try:
                self._frame.select()
            except gdb.error as error:
                raise Unknown(sentence(error)) from None
            self._selected = True
        return GdbScope(self._frame, fortran=fortran)

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
        name, build_id = gdb_text.text(lambda: symtab.objfile.filename), symtab.objfile.build_id
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


def _built(objfile: Any) -> Optional[float]:
    """When the file with the code was built; for one with separate debug information, the file itself."""
    owner = getattr(objfile, "owner", None) or objfile
    try:
        return files.about(gdb_text.text(lambda: owner.filename).removeprefix("target:")).written / 1e9
    except (OSError, ValueError):
        return None
