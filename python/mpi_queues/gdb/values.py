"""Names, types and values of gdb for expressions from the program's source.

gdb is asked for symbols, members and memory only: no text of the program reaches its parser of expressions.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import gdb

from .._native import Unknown
from ..debuggers.values import Scope, Shape, Typed, plain
from . import handles as gdb_handles

_NUMBERS = (
    gdb.TYPE_CODE_INT,
    gdb.TYPE_CODE_ENUM,
    gdb.TYPE_CODE_BOOL,
    gdb.TYPE_CODE_CHAR,
    gdb.TYPE_CODE_RANGE,
)
_SHAPES = {
    **dict.fromkeys(_NUMBERS, Shape.NUMBER),
    gdb.TYPE_CODE_PTR: Shape.POINTER,
    gdb.TYPE_CODE_ARRAY: Shape.ARRAY,
    gdb.TYPE_CODE_STRUCT: Shape.RECORD,
    gdb.TYPE_CODE_UNION: Shape.RECORD,
}
_FAILURES = (gdb.error, ValueError, TypeError, OverflowError)

#: An array has at most so many dimensions (Fortran 2018, 5.4.6).
_MAX_DIMENSIONS = 15
_MASK = (1 << 64) - 1


class GdbTyped(Typed):
    """A value of gdb."""

    def __init__(self, value: Any, *, fortran: bool) -> None:
        self._fortran = fortran
        try:
            self.value = gdb_handles.without_reference(value)
            if self.value.is_optimized_out:
                raise Unknown("optimised away")
            self._real = self.value.type.strip_typedefs()
        except _FAILURES as error:
            raise Unknown(sentence(error)) from None

    @property
    def shape(self) -> Shape:
        return _SHAPES.get(self._real.code, Shape.OTHER)

    @property
    def type_name(self) -> str:
        return " ".join(str(self.value.type).split())[:60]

    def number(self) -> int:
        return int(self._asked(lambda: int(self.value)))

    def place(self) -> Optional[int]:
        address = self._asked(lambda: self.value.address)
        return None if address is None else int(address) & _MASK

    def size(self) -> int:
        return int(self._real.sizeof)

    def width(self) -> int:
        element = self._real.target().strip_typedefs()
        # gdb nests the dimensions of Fortran's arrays; an array of C has arrays as its elements.
        while element.code == gdb.TYPE_CODE_ARRAY and self._fortran:
            element = element.target().strip_typedefs()
        return int(element.sizeof)

    def member(self, name: str) -> Typed:
        record = self._real.target().strip_typedefs() if self.shape is Shape.POINTER else self._real
        if _SHAPES.get(record.code) is not Shape.RECORD:
            raise Unknown(f"a value of the type {self.type_name} has no member {name}")
        return self._with(self._asked(lambda: self.value[name]))

    def element(self, index: int) -> Typed:
        if self.shape is Shape.ARRAY:
            low, high = self._real.range()
            # An array at the end of a structure may be declared with no elements or with one.
            if high > low and not low <= low + index <= high:
                raise Unknown(f"the array has no element {index}: there are {high - low + 1}")
            return self._with(self._asked(lambda: self.value[int(low) + index]))
        return self._with(self._asked(lambda: (self.value + index).dereference()))

    def address(self) -> Typed:
        address = self._asked(lambda: self.value.address)
        if address is None:
            raise Unknown("it has no address")
        return self._with(address)

    def moved(self, count: int) -> Typed:
        if self.shape is Shape.ARRAY:
            place = self.place()
            if place is None:
                raise Unknown("the array is in no memory")
            first = self._asked(lambda: gdb.Value(_signed(place)).cast(self._real.target().pointer()))
            return self._with(self._asked(lambda: first + count))
        return self._with(self._asked(lambda: self.value + count))

    def bounds(self) -> List[Tuple[int, int]]:
        found: List[Tuple[int, int]] = []
        type_ = self._real
        while type_.code == gdb.TYPE_CODE_ARRAY and len(found) < _MAX_DIMENSIONS:
            low, high = self._asked(type_.range)
            found.append((int(low), int(high)))
            type_ = type_.target().strip_typedefs()
        # The last dimension is outside (dwarf2/read.c: read_array_type).
        return found[::-1]

    def at(self, indices: Sequence[int]) -> Typed:
        value = self.value
        try:
            for index in reversed(indices):
                value = value[index]
        except _FAILURES as error:
            raise Unknown(sentence(error)) from None
        return self._with(value)

    def handle(self) -> Optional[int]:
        wrapper = gdb_handles.kind_of(self.value.type)
        if wrapper is None or wrapper.kind == "status":
            return None
        found = self._asked(lambda: gdb_handles.handle_in(self.value, wrapper)[1])
        return found if isinstance(found, int) else None

    def _with(self, value: Any) -> GdbTyped:
        return GdbTyped(value, fortran=self._fortran)

    @staticmethod
    def _asked(ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except _FAILURES as error:
            raise Unknown(sentence(error)) from None


class GdbScope(Scope):
    """A frame of gdb, which is selected, so that names mean what its language says."""

    def __init__(self, frame: Any, *, fortran: bool) -> None:
        self._frame = frame
        self._fortran = fortran

    def variable(self, name: str) -> Optional[Typed]:
        bare = name[2:] if name.startswith("::") else name
        found = None if bare != name else self._read(bare)
        if found is None:
            found = self._global(bare)
        if found is None and "::" not in name and name != "this" and not self._fortran:
            # A member of the object that the function belongs to.
            owner = self._read("this")
            with_members = self._typed(owner) if owner is not None else None
            if with_members is not None and with_members.shape is Shape.POINTER:
                try:
                    return with_members.element(0).member(name)
                except Unknown:
                    return None
        return self._typed(found) if found is not None else None

    def _typed(self, value: Any) -> GdbTyped:
        return GdbTyped(value, fortran=self._fortran)

    def _read(self, name: str) -> Optional[Any]:
        try:
            return self._frame.read_var(name)
        except _FAILURES:
            return None

    @staticmethod
    def _global(name: str) -> Optional[Any]:
        try:
            symbol = gdb.lookup_global_symbol(name)
            return symbol.value() if symbol is not None and (symbol.is_variable or symbol.is_constant) else None
        except _FAILURES:
            return None

    def has_type(self, name: str) -> bool:
        return self._type(name) is not None

    @staticmethod
    def _type(name: str) -> Optional[Any]:
        for spelled in (name, f"struct {name}", f"union {name}", f"enum {name}"):
            try:
                return gdb.lookup_type(spelled)
            except _FAILURES:
                continue
        return None

    def missing(self, name: str) -> str:
        return f"no variable {name[:60]} is to be seen here"

    def cast(self, value: Union[int, Typed], type_name: str, pointers: int) -> Union[int, Typed]:
        type_ = self._wanted(type_name, pointers)
        real = type_.strip_typedefs()
        if real.code != gdb.TYPE_CODE_PTR and real.code not in _NUMBERS:
            raise Unknown(f"nothing can be made a {type_name[:60]}: only pointers and integers can be cast")
        try:
            return self._typed(gdb.Value(_signed(plain(value))).cast(type_))
        except _FAILURES as error:
            raise Unknown(sentence(error)) from None

    def size_of(self, type_name: str, pointers: int) -> int:
        return int(self._wanted(type_name, pointers).sizeof)

    def _wanted(self, type_name: str, pointers: int) -> Any:
        type_ = self._type(type_name)
        if type_ is None:
            raise Unknown(f"no type {type_name[:60]} is known here")
        for _ in range(pointers):
            type_ = type_.pointer()
        return type_


def _signed(number: int) -> int:
    """As gdb.Value takes it, whatever it is as a number of 64 bits."""
    return ((number + (1 << 63)) & _MASK) - (1 << 63)


def sentence(error: Exception) -> str:
    """What gdb says of an error, in a line."""
    text = " ".join(str(error).split()).rstrip(".")
    return "optimised away" if "optimized out" in text else text or "gdb does not say why"
