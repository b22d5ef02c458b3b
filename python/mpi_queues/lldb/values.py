"""Names, types and values of lldb for expressions, which are worked out without lldb's own: those allocate memory in
the program (LLVM 19: IRMemoryMap::Malloc, Process::CanJIT), run its functions and write to its variables."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Union

import lldb

from .. import _native
from .._native import Unknown
from ..debuggers.values import Scope, Shape, Typed, plain
from ..errors import UserError
from ..handle_types import KINDS
from ..printers import names
from . import handles as lldb_handles
from .handles import said

_BYTES = {lldb.eByteOrderBig: "big"}

_RECORDS = (lldb.eTypeClassStruct, lldb.eTypeClassClass, lldb.eTypeClassUnion)


def value_of(target: Any, frame: Optional[Any], text: str) -> Union[int, Any]:
    """The value of an expression of C or C++ that a user typed, in a frame (None: outside of any): an integer, or a
    value of lldb.

    Raises:
        Unknown: where it has none.
    """
    found = _native.value_of_c(text, LldbScope(target, frame, typed_by_user=True))
    if isinstance(found, int):
        return found
    assert isinstance(found, LldbTyped)
    if found.value.GetError().Fail():
        raise Unknown(sentence(said(found.value.GetError())))
    return found.value


class LldbTyped(Typed):
    """A value of lldb."""

    def __init__(self, target: Any, value: Any) -> None:
        self._target = target
        self.value = lldb_handles.without_reference(value)
        self._type = lldb_handles.without_typedefs(self.value.GetType())

    @property
    def shape(self) -> Shape:
        kind = self._type.GetTypeClass()
        if kind == lldb.eTypeClassPointer:
            return Shape.POINTER
        if kind == lldb.eTypeClassArray:
            return Shape.ARRAY
        if kind in _RECORDS:
            return Shape.RECORD
        number = kind == lldb.eTypeClassEnumeration or lldb_handles.is_integer(self._type)
        return Shape.NUMBER if number else Shape.OTHER

    @property
    def type_name(self) -> str:
        return type_name(self.value.GetType())

    def number(self) -> int:
        try:
            return lldb_handles.integer_of(self.value)
        except UserError as error:
            raise Unknown(sentence(str(error))) from None

    def place(self) -> Optional[int]:
        address = self.value.GetLoadAddress()
        return None if address == lldb.LLDB_INVALID_ADDRESS else int(address)

    def size(self) -> int:
        return int(self._type.GetByteSize())

    def width(self) -> int:
        return int(self._element_type().GetByteSize())

    def member(self, name: str) -> Typed:
        found = self.value.GetChildMemberWithName(name, lldb.eNoDynamicValues)
        if not found.IsValid():
            raise Unknown(f"a value of the type {self.type_name} has no member {name}")
        return LldbTyped(self._target, found)

    def element(self, index: int) -> Typed:
        element, width = self._element_type(), self.width()
        if self.shape is Shape.ARRAY:
            count = self.size() // width if width else 0
            # An array at the end of a structure may be declared with no elements or with one.
            if count > 1 and not 0 <= index < count:
                raise Unknown(f"the array has no element {index}: there are {count}")
            found = self.value.GetChildAtIndex(index, lldb.eNoDynamicValues, False)
            if found.IsValid():
                return LldbTyped(self._target, found.GetNonSyntheticValue())
        address = self._begin() + index * width
        found = self._target.CreateValueFromAddress("value", _address_at(self._target, address), element)
        if not found.IsValid() or found.GetError().Fail():
            raise Unknown(f"memory at {address & _MASK:#x} cannot be read")
        return LldbTyped(self._target, found)

    def address(self) -> Typed:
        place = self.place()
        if place is None:
            raise Unknown("it has no address")
        return made(self._target, place, self.value.GetType().GetPointerType())

    def moved(self, count: int) -> Typed:
        width = self.width()
        if not width and count:
            raise Unknown("the size of what it points at is not known")
        return made(self._target, self._begin() + count * width, self._element_type().GetPointerType())

    def bounds(self) -> List[Tuple[int, int]]:
        raise Unknown("lldb does not support Fortran arrays")

    def at(self, indices: Sequence[int]) -> Typed:
        raise Unknown("lldb does not support Fortran arrays")

    def handle(self) -> Optional[int]:
        wrapper = lldb_handles.kind_of(self.value.GetType())
        if wrapper is None or wrapper.kind == "status":
            return None
        try:
            found = lldb_handles.handle_in(self.value, wrapper)[1]
        except UserError as error:
            raise Unknown(sentence(str(error))) from None
        return found if isinstance(found, int) else None

    def _element_type(self) -> Any:
        """What a pointer points at, or an array has."""
        if self._type.GetTypeClass() == lldb.eTypeClassArray:
            return self._type.GetArrayElementType()
        return self._type.GetPointeeType()

    def _begin(self) -> int:
        """Where a pointer points, or an array lies."""
        if self.shape is Shape.POINTER:
            return self.number()
        place = self.place()
        if place is None:
            raise Unknown("the array is not in memory")
        return place


class LldbScope(Scope):
    """A frame of lldb. ``typed_by_user``: registers and lldb's own variables have names, too."""

    def __init__(self, target: Any, frame: Optional[Any], *, typed_by_user: bool = False) -> None:
        self._target = target
        self._frame = frame if frame is not None and frame.IsValid() else None
        self._typed_by_user = typed_by_user

    def variable(self, name: str) -> Optional[Typed]:
        found = self._found(name)
        return LldbTyped(self._target, found) if found is not None else None

    def _found(self, name: str) -> Optional[Any]:
        if self._frame is not None:
            if name.startswith("$"):
                return self._register(name[1:]) if self._typed_by_user else None
            if "::" not in name:
                found = self._frame.FindVariable(name, lldb.eNoDynamicValues)
                if found.IsValid():
                    return found
                # A member of the object that a function of C++ belongs to.
                owner = self._frame.FindVariable("this", lldb.eNoDynamicValues) if name != "this" else None
                if owner is not None and owner.IsValid():
                    found = owner.GetNonSyntheticValue().GetChildMemberWithName(name, lldb.eNoDynamicValues)
                    if found.IsValid():
                        return found
        bare = name[2:] if name.startswith("::") else name
        for found in self._target.FindGlobalVariables(bare, 16):
            if str(found.GetName() or "").lstrip(":") == bare:
                return found
        return None

    def _register(self, name: str) -> Optional[Any]:
        assert self._frame is not None
        found = self._frame.FindRegister(name)
        if not found.IsValid():
            found = self._frame.FindValue(f"${name}", lldb.eValueTypeConstResult)
        return found if found.IsValid() else None

    def address_of_name(self, name: str) -> Optional[Typed]:
        symbol = self._symbol(name)
        if symbol is None:
            return None
        return made(self._target, symbol, self._target.GetBasicType(lldb.eBasicTypeVoid).GetPointerType())

    def _symbol(self, name: str) -> Optional[int]:
        for context in self._target.FindSymbols(name):
            symbol = context.GetSymbol()
            address = symbol.GetStartAddress().GetLoadAddress(self._target)
            # lldb also finds the undefined symbols of the libraries that merely use it.
            if symbol.GetType() != lldb.eSymbolTypeUndefined and address != lldb.LLDB_INVALID_ADDRESS:
                return int(address)
        return None

    def has_type(self, name: str) -> bool:
        return self._type(name) is not None

    def _type(self, name: str) -> Optional[Any]:
        found = self._target.FindFirstType(name)
        return found if found.IsValid() else None

    def missing(self, name: str) -> str:
        if self._symbol(name) is not None:
            return f"{name[:60]} has no debug information that says its type; its address is &{name[:60]}"
        return f"no variable {name[:60]} is visible here"

    def cast(self, value: Union[int, Typed], type_name: str, pointers: int) -> Union[int, Typed]:
        wanted = self._wanted(type_name, pointers)
        pointer = wanted.GetCanonicalType().GetTypeClass() == lldb.eTypeClassPointer
        if not pointer and not lldb_handles.is_integer(wanted):
            raise Unknown(f"cannot cast to {type_name[:60]}: only pointers and integers can be cast")
        return made(self._target, plain(value), wanted)

    def size_of(self, type_name: str, pointers: int) -> int:
        return int(self._wanted(type_name, pointers).GetByteSize())

    def _wanted(self, type_name: str, pointers: int) -> Any:
        wanted = self._type(type_name)
        if wanted is None and type_name in names.STRUCTURES and pointers:
            # A structure that is only declared has no type of its own in lldb.
            wanted, pointers = self._type(KINDS[names.STRUCTURES[type_name]]), pointers - 1
        if wanted is None:
            kind = names.TYPEDEFS.get(type_name)
            hint = f"; instead, name the kind and an address: -kind {kind} (void *)ADDRESS" if kind else ""
            raise Unknown(f"no type {type_name[:60]} is known here{hint if self._typed_by_user else ''}")
        for _ in range(pointers):
            wanted = wanted.GetPointerType()
        return wanted


_MASK = (1 << 64) - 1


def made(target: Any, number: int, type_: Any) -> LldbTyped:
    """A pointer or an integer of that value."""
    size = int(type_.GetByteSize())
    order: Any = _BYTES.get(target.GetByteOrder(), "little")
    content = (number & ((1 << (8 * size)) - 1)).to_bytes(size, order)
    data, error = lldb.SBData(), lldb.SBError()
    data.SetData(error, content, target.GetByteOrder(), target.GetAddressByteSize())
    return LldbTyped(target, target.CreateValueFromData("value", data, type_))


def _address_at(target: Any, address: int) -> Any:
    return lldb.SBAddress(address & _MASK, target)


def type_name(type_: Any) -> str:
    """A type's name for a sentence."""
    return " ".join(str(type_.GetName() or "?").split())[:100]


def sentence(said: str) -> str:
    """What lldb says of an error, in a line."""
    text = " ".join(said.split()).rstrip(".")
    gone = "optimized out" in text or "not available" in text
    return "optimised away" if gone else text or "lldb does not say why"
