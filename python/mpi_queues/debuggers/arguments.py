"""What the application gave an MPI function: the call in the source, and its expressions in the frame of the caller.

Nothing in the program is called or written. What cannot be known is null, with the reason.
"""

from __future__ import annotations

import contextlib
import re
import time
from typing import Dict, List, Optional, Tuple

from ..calls import expressions, macros, source
from ..calls.constants import Family
from ..calls.signatures import Parameter, in_fortran, parameters
from ..calls.source import CallText, Unknown
from .base import ArgumentDict
from .call_sites import Described
from .callers import Caller, Evaluated, signed

#: The arguments of one call may take so long (seconds); what is not known by then stays unknown.
TIME_LIMIT = 0.2

#: How an argument of Fortran names its parameter.
_KEYWORD = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*")

_NULL = frozenset(("NULL", "nullptr"))


def arguments(function: str, caller: Caller, family: Family) -> Tuple[List[ArgumentDict], Optional[str]]:
    """The arguments of the call of ``function`` (its name in C), or why they are not known."""
    try:
        return _Call(function, caller, family).arguments(), None
    except Unknown as unknown:
        reason = str(unknown)
    try:
        found = Described(function, caller, family).arguments()
    except Unknown as unknown:
        return [], f"{reason}, and {unknown}"
    if found and all(one["value"] is None for one in found):
        return [], f"{reason}, and the debug information of the call tells none of them"
    return found, None


class _Call:
    """One call, with the time that is left for it."""

    def __init__(self, function: str, caller: Caller, family: Family) -> None:
        self._caller = caller
        self._family = family
        self._function = function
        self._width: Optional[int] = None
        self._looked = False
        self._described: Optional[Described] = None
        self._end = time.monotonic() + TIME_LIMIT
        known = parameters(function)
        if known is None:
            raise Unknown(f"the parameters of {function} are not known here")
        if caller.file is None or caller.line is None:
            raise Unknown("the application has no debug information there")
        self._source = source.read(caller.file, caller.built)
        self._fortran = self._source.fortran
        found = source.find(self._source, function, caller.line)
        self._matched = _matched(found, known, function)

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
            if time.monotonic() > self._end:
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
        if text in _NULL:
            return None, Evaluated(0, None, None)
        text = self._without_containers(expressions.plain_casts(text))
        expressions.check(text)
        if not expressions.is_name(text):
            try:
                return None, self._caller.evaluate(text, fortran=False)
            except Unknown:
                # A name that only the preprocessor knew may be in it.
                pass
        # With -g3 a debugger knows the value of the preprocessor's names, but not that it is a constant of MPI.
        other = macros.expanded(self._source, text, self._caller.built)
        constant = expressions.constant_in(other or text)
        if constant is not None:
            return constant, None
        if other is not None:
            expressions.check(other)
        return None, self._caller.evaluate(other or text, fortran=False)

    def _without_containers(self, text: str) -> str:
        """An expression with what a std::vector has in place of its calls (libstdc++: bits/stl_vector.h)."""
        for match in reversed(list(expressions.VECTOR_CALL.finditer(text))):
            vector, asked = match[1], match[2]
            with contextlib.suppress(Unknown):
                first = self._caller.evaluate(f"{vector}._M_impl._M_start", fortran=False)
                last = self._caller.evaluate(f"{vector}._M_impl._M_finish", fortran=False)
                count = (last.number - first.number) // (first.width or 1)
                new = str(count) if asked == "size" else f"{vector}._M_impl._M_start"
                text = text[: match.start()] + new + text[match.end() :]
        element = expressions.VECTOR_ELEMENT.fullmatch(text)
        if element is not None:
            with contextlib.suppress(Unknown):
                self._caller.evaluate(f"{element[1]}._M_impl._M_start", fortran=False)
                text = f"{element[1]}._M_impl._M_start + ({element[2]})"
        return text

    def _handle_width(self) -> int:
        width = 4 if self._fortran else self._width
        if width not in (4, 8):
            raise Unknown("the size of what it points at is that of no handle")
        return width


def _matched(found: CallText, known: List[Parameter], function: str) -> List[Tuple[Parameter, str]]:
    """The parameters of a call, each with its argument."""
    if not found.source.fortran:
        if len(found.arguments) != len(known):
            raise Unknown(
                f"the call of {function} has {len(found.arguments)} arguments in the source, not {len(known)}"
            )
        return list(zip(known, found.arguments))
    known = [*in_fortran(known, function), Parameter("ierror", True, None, False)]
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
