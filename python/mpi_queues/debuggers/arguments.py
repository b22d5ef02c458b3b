"""What the application gave an MPI function: the call in the source, and its expressions in the frame of the caller.

Nothing in the program is called or written. What cannot be known is null, with the reason.
"""

from __future__ import annotations

import contextlib
import re
import time
from typing import Dict, List, Optional, Tuple

from ..calls import expressions, macros, source
from ..calls.evaluator import Evaluated
from ..calls.signatures import Parameter, parameters
from ..calls.source import CallText, Unknown
from ..system import files
from .base import ArgumentDict, DebuggedProcess
from .call_sites import Described
from .callers import Caller, signed

#: The arguments of one call may take so many seconds of a processor; what is not known by then stays unknown.
TIME_LIMIT = 0.2
#: So many of real time, in which a debugger may wait for what another thread of it reads. It is more, or what is known
#: on a busy machine would be another thing each time.
LONGEST = 2.0

#: How an argument of Fortran names its parameter.
_KEYWORD = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*")


def arguments(function: str, caller: Caller) -> Tuple[List[ArgumentDict], Optional[str]]:
    """The arguments of the call of ``function`` (its name in C), or why they are not known."""
    try:
        with files.reading_for(_reader(caller.process)):
            return _Call(function, caller).arguments(), None
    except Unknown as unknown:
        reason = str(unknown)
    try:
        found = Described(function, caller, caller.constants).arguments()
    except Unknown as unknown:
        return [], f"{reason}, and {unknown}"
    if found and all(one["value"] is None for one in found):
        return [], f"{reason}, and the debug information of the call tells none of them"
    return found, None


def _reader(process: DebuggedProcess) -> Optional[files.Reader]:
    """For whom the sources are read that the program's debug information names."""
    owner = getattr(process, "owner", None)
    if owner is not None:
        return files.reader_of_user(owner)
    return files.reader_of(process.pid if getattr(process, "local", False) else None)


class _Call:
    """One call, with the time that is left for it."""

    def __init__(self, function: str, caller: Caller) -> None:
        self._caller = caller
        self._family = caller.constants
        self._function = function
        self._width: Optional[int] = None
        self._looked = False
        self._described: Optional[Described] = None
        self._end = time.thread_time() + TIME_LIMIT
        self._latest = time.monotonic() + LONGEST
        if parameters(function) is None:
            raise Unknown(f"the parameters of {function} are not known here")
        if caller.file is None or caller.line is None:
            raise Unknown("the application has no debug information there")
        self._source = source.read(caller.file, caller.built)
        self._fortran = self._source.fortran
        found = source.find(self._source, function, caller.line)
        self._matched = _matched(found, function)

    def arguments(self) -> List[ArgumentDict]:
        found: List[ArgumentDict] = []
        for parameter, text in self._matched:
            argument = self._argument(parameter, text, found)
            found.append(self._without_variables(argument, parameter, found) if "unknown" in argument else argument)
        return found

    def _without_variables(
        self, argument: ArgumentDict, parameter: Parameter, before: List[ArgumentDict]
    ) -> ArgumentDict:
        """An argument whose expression has no value (any more), as the debug information of the call has it."""
        if not self._looked:
            # Once, also where it is not described.
            self._looked = True
            with contextlib.suppress(Unknown):
                self._described = Described(self._function, self._caller, self._family)
        if self._described is None:
            return argument
        found = self._described.argument(parameter, before)
        return argument if "unknown" in found else {**found, "expression": argument["expression"]}

    def _argument(self, parameter: Parameter, text: str, before: List[ArgumentDict]) -> ArgumentDict:
        argument: ArgumentDict = {"name": parameter.name, "expression": text, "value": None}
        try:
            if time.thread_time() > self._end or time.monotonic() > self._latest:
                raise Unknown("finding it out would take too long")
            self._value(argument, parameter, text)
            value = argument["value"]
            if parameter.length is not None and value is not None:
                self._caller.elements(argument, parameter.length, before, self._handle_width())
            elif value is not None and "meaning" not in argument and not parameter.address:
                meaning = self._family.meaning(parameter.name, value)
                if meaning is not None:
                    argument["meaning"] = meaning
        except Unknown as unknown:
            argument["unknown"] = str(unknown)
        return argument

    def _value(self, argument: ArgumentDict, parameter: Parameter, text: str) -> None:
        constant, evaluated = self._evaluated(text)
        if constant is not None:
            argument["meaning"] = constant
            if not parameter.address:
                number = self._family.value(constant, fortran=self._fortran)
                argument["value"] = signed(number) if number is not None else None
            return
        assert evaluated is not None
        self._width = evaluated.width
        if self._fortran and evaluated.width is None and parameter.address:
            # Fortran gives the address of everything.
            argument["value"] = signed(evaluated.place) if evaluated.place is not None else None
            if parameter.handle:
                argument["values"] = [evaluated.number]
            elif evaluated.place is None:
                raise Unknown("its address is not known")
            return
        argument["value"] = signed(evaluated.number)
        if parameter.handle:
            argument["values"] = self._caller.integers(evaluated.number, 1, self._handle_width())

    def _evaluated(self, text: str) -> Tuple[Optional[str], Optional[Evaluated]]:
        """The constant of MPI that an expression is, or its value."""
        constant = (expressions.constant_in_fortran if self._fortran else expressions.constant_in)(text)
        if constant is not None:
            return constant, None
        if self._fortran:
            return None, self._caller.evaluate(text, fortran=True)
        reason: Optional[Unknown] = None
        other: Optional[str] = None
        try:
            # The preprocessor's names come before the program's.
            other = macros.expanded(self._source, text, self._caller.built)
        except Unknown as unknown:
            reason = unknown
        constant = expressions.constant_in(other) if other is not None else None
        if constant is not None:
            return constant, None
        try:
            return None, self._caller.evaluate(text if other is None else other, fortran=False)
        except Unknown as unknown:
            raise reason or unknown from None

    def _handle_width(self) -> int:
        width = 4 if self._fortran else self._width
        if width not in (4, 8):
            raise Unknown("the size of what it points at is that of no handle")
        return width


def _matched(found: CallText, function: str) -> List[Tuple[Parameter, str]]:
    """The parameters of a call, each with its argument."""
    known = parameters(function, fortran=found.source.fortran) or []
    if not found.source.fortran:
        if len(found.arguments) != len(known):
            raise Unknown(
                f"the call of {function} has {len(found.arguments)} arguments in the source, not {len(known)}"
            )
        return list(zip(known, found.arguments))
    known = [*known, Parameter("ierror", True, None, False, None)]
    by_name: Dict[str, str] = {}
    for at, text in enumerate(found.arguments):
        keyword = _KEYWORD.match(text)
        name = keyword[1].lower() if keyword is not None else known[at].name if at < len(known) else ""
        by_name[name] = text[keyword.end() :] if keyword is not None else text
    # With the module mpi_f08 ierror need not be given.
    missing = [one.name for one in known if one.name not in by_name and one.name != "ierror"]
    if missing or len(by_name) != len(found.arguments) or not {one.name for one in known} >= set(by_name):
        raise Unknown(f"the arguments of the call of {function} in the source are not those of the standard")
    return [(one, by_name[one.name]) for one in known if one.name in by_name]
