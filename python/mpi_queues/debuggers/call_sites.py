"""What a function was given, by what optimising compilers write down of its call (``crates/calls/src/call_sites.rs``).

Such a value is what the argument was when the function was called, also where the program has no variable for it.
"""

from __future__ import annotations

import functools
import itertools
import os
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from .. import _native
from ..calls.constants import Family
from ..calls.signatures import Parameter, parameters
from ..calls.source import Unknown
from . import called
from .base import ArgumentDict
from .callers import Caller, CallFrame, signed

#: What an argument's ``origin`` is where it is known from here.
ORIGIN = "call site"

#: A value may be one that the function around the call was given, and so on outwards.
MAX_FRAMES = 4

#: Larger files with debug information are not searched: the process is stopped meanwhile (bytes).
MAX_FILE = 512 << 20

_MASK = (1 << 64) - 1

#: DWARF's numbers of registers (System V ABI for AMD64, figure 3.36).
_NUMBERS = {"rbx": 3, "rbp": 6, "rsp": 7, "r12": 12, "r13": 13, "r14": 14, "r15": 15}

#: Of Fortran's functions with this in their names buffers are given by descriptors (MPI-4.0, 19.1.5).
_DESCRIPTORS = "_f08ts"
_BUFFERS = ("buf", "addr", "base")


class Described:
    """The call of a function, as the debug information has it."""

    def __init__(self, function: str, caller: Caller, family: Family) -> None:
        """``function`` is the name in C.

        Raises:
            Unknown: where the debug information does not describe the call.
        """
        if parameters(function) is None:
            raise Unknown(f"the parameters of {function} are not known here")
        self._function = function
        self._caller = caller
        self._family = family
        chain = list(_chain(caller))
        target = chain[0].site.target if chain else None
        if target is None:
            raise Unknown("the debug information does not describe the call (with -O1 and higher it does)")
        self._fortran = _is_fortran(target, function)
        self._descriptors = _DESCRIPTORS in target
        self._parameters: List[Parameter] = parameters(function, fortran=self._fortran) or []
        self._numbers = {parameter.name: number for number, parameter in enumerate(self._parameters)}
        self._values = _values(chain, caller)

    def arguments(self) -> List[ArgumentDict]:
        """All that are known, and why the others are not."""
        found: List[ArgumentDict] = []
        for parameter in self._parameters:
            found.append(self.argument(parameter, found))
        return found

    def argument(self, parameter: Parameter, before: List[ArgumentDict]) -> ArgumentDict:
        """One argument; ``before`` are those that come before it."""
        argument: ArgumentDict = {"name": parameter.name, "expression": None, "value": None}
        try:
            value = self._values.get(self._numbers.get(parameter.name, -1))
            if value is None:
                raise Unknown("the debug information of the call does not tell it")
            argument["origin"] = ORIGIN
            self._fill(argument, parameter, value, before)
        except Unknown as unknown:
            argument["unknown"] = str(unknown)
        return argument

    def _fill(self, argument: ArgumentDict, parameter: Parameter, value: int, before: List[ArgumentDict]) -> None:
        if not parameter.address:
            bytes_ = self._width(parameter)
            # Fortran gives the address of everything.
            number = self._caller.integers(value, 1, bytes_)[0] if self._fortran else _narrow(value, bytes_)
            argument["value"] = number
            meaning = self._family.meaning(parameter.name, number)
            if meaning is not None:
                argument["meaning"] = meaning
            return
        if self._descriptors and any(word in parameter.name for word in _BUFFERS):
            raise Unknown("the call was given a descriptor")
        argument["value"] = signed(value)
        if parameter.handle:
            argument["values"] = self._caller.integers(value, 1, self._width(parameter))
        elif parameter.length is not None:
            self._caller.elements(argument, parameter.length, before, self._width(parameter))

    def _width(self, parameter: Parameter) -> int:
        """The bytes of an argument; of one that is given by its address those of what is there."""
        if parameter.bytes is not None:
            return parameter.bytes
        if self._fortran:
            return 4
        if not self._family.name:
            raise Unknown("what handles of the MPI look like is not known")
        return 4 if self._family.name == "mpich" else 8


class _Link(NamedTuple):
    frame: CallFrame
    site: _native.CallSite


def _chain(caller: Caller) -> Iterator[_Link]:
    """The frame's call, and outwards those that led to it, as far as its values come from them."""
    inner: Optional[_Link] = None
    for frame in itertools.islice(caller.frames(), MAX_FRAMES):
        if inner is not None and not _entered_by(inner, frame, caller):
            return
        site = _site(frame)
        if site is None:
            return
        inner = _Link(frame, site)
        yield inner
        if not site.needs_caller:
            return


def _entered_by(inner: _Link, frame: CallFrame, caller: Caller) -> bool:
    """Whether the call of ``frame`` has entered the function of the inner one: none that jumped there lies between."""
    begin = (inner.frame.text + inner.site.entry) & _MASK
    return not inner.site.jumps and called.target(caller.process, frame.pc, caller.read_code) == begin


def _values(chain: List[_Link], caller: Caller) -> Dict[int, int]:
    def read(address: int, length: int) -> Optional[bytes]:
        try:
            return caller.read(address, length)
        except Unknown:
            return None

    frames = [
        (
            link.site,
            link.frame.text,
            {_NUMBERS[name]: value for name, value in link.frame.registers.items() if name in _NUMBERS},
            link.frame.cfa,
        )
        for link in chain
    ]
    return dict(_native.call_values(frames, read))


def _site(frame: CallFrame) -> Optional[_native.CallSite]:
    try:
        status = os.stat(frame.path)
    except OSError:
        return None
    if status.st_size > MAX_FILE:
        return None
    offset = (frame.pc - frame.text) & _MASK
    return _known_site(frame.path, (status.st_mtime_ns, status.st_size), offset, frame.build_id)


@functools.lru_cache(maxsize=1024)
def _known_site(path: str, _file: Tuple[int, int], offset: int, build_id: Optional[str]) -> Optional[_native.CallSite]:
    """All ranks of a job run the same file, and most of them stand at few places."""
    return _native.call_site(path, offset, build_id)


def _is_fortran(target: str, function: str) -> bool:
    """Whether the symbol that is called is the function of Fortran.

    Raises:
        Unknown: where it is another function, which may have called ``function`` in turn.
    """
    if target in (function, f"P{function}"):
        return False
    if target.endswith("_") and _native.mpi_frame([target]) == (0, function):
        return True
    raise Unknown(f"the debug information of the call tells that it calls {target[:60]}")


def _narrow(value: int, bytes_: int) -> int:
    """The lower bytes, with their sign."""
    bits = 8 * bytes_
    return ((value + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))
