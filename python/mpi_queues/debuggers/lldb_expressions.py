"""Values of expressions in lldb, without lldb's own expressions: those allocate memory in the program (LLVM 19:
IRMemoryMap::Malloc, Process::CanJIT), run its functions and write to its variables."""

from __future__ import annotations

from typing import Any, Optional

import lldb

from ..handle_types import KINDS
from ..printers import names
from . import c_expressions, lldb_handles
from .c_expressions import Cast, Element, Member, Name, Node, Number, SyntaxProblem, Unary
from .lldb_handles import said

#: A value of lldb, or a plain integer.
Value = Any

_BYTES = {lldb.eByteOrderBig: "big"}


class Problem(Exception):
    """Why an expression has no value."""


def value_of(target: Any, frame: Optional[Any], text: str) -> Value:
    """The value of an expression in a frame; None: outside of any.

    Raises:
        Problem: where it has none.
    """
    evaluator = _Evaluator(target, frame)
    try:
        node = c_expressions.parse(text, evaluator.is_type)
    except SyntaxProblem as problem:
        raise Problem(str(problem)) from None
    found = evaluator.value(node)
    if not isinstance(found, int) and found.GetError().Fail():
        raise Problem(said(found.GetError()))
    return found


class _Evaluator:
    def __init__(self, target: Any, frame: Optional[Any]) -> None:
        self._target = target
        self._frame = frame if frame is not None and frame.IsValid() else None

    def is_type(self, name: str) -> bool:
        """Whether a name is that of a type: a variable goes before it."""
        return self._variable(name) is None and self._type(name) is not None

    def value(self, node: Node) -> Value:
        if isinstance(node, Number):
            return node.value
        if isinstance(node, Name):
            return self._name(node.name)
        if isinstance(node, Member):
            return self._member(node)
        if isinstance(node, Element):
            return self._element(self.value(node.base), self._integer(self.value(node.index)))
        if isinstance(node, Cast):
            return self._cast(node)
        if isinstance(node, Unary):
            return self._unary(node)
        left, right = self.value(node.left), self.value(node.right)
        sign = 1 if node.operator == "+" else -1
        if isinstance(left, int) and not isinstance(right, int) and sign > 0:
            left, right = right, left
        amount = sign * self._integer(right)
        pointed = None if isinstance(left, int) else self._element_type(left)
        if pointed is None:
            return self._integer(left) + amount
        width = int(pointed.GetByteSize())
        if not width:
            raise Problem("the size of what it points at is not known")
        return self._made(self._address(left) + amount * width, pointed.GetPointerType())

    def _name(self, name: str) -> Value:
        found = self._variable(name)
        if found is not None:
            return found
        if self._symbol(name) is not None:
            raise Problem(f"{name} has no debug information that says its type; its address is &{name}")
        raise Problem(f"no variable {name} is to be seen here")

    def _variable(self, name: str) -> Optional[Any]:
        if self._frame is not None:
            if name.startswith("$"):
                found = self._frame.FindRegister(name[1:])
                if not found.IsValid():
                    found = self._frame.FindValue(name, lldb.eValueTypeConstResult)
                return found.GetNonSyntheticValue() if found.IsValid() else None
            if "::" not in name:
                # Also members of the object that a function of C++ belongs to.
                for found in (
                    self._frame.FindVariable(name, lldb.eNoDynamicValues),
                    self._frame.GetValueForVariablePath(name, lldb.eNoDynamicValues),
                ):
                    if found.IsValid():
                        return lldb_handles.without_reference(found)
        bare = name[2:] if name.startswith("::") else name
        for found in self._target.FindGlobalVariables(bare, 16):
            if str(found.GetName() or "").lstrip(":") == bare:
                return lldb_handles.without_reference(found)
        return None

    def _symbol(self, name: str) -> Optional[int]:
        for context in self._target.FindSymbols(name):
            symbol = context.GetSymbol()
            address = symbol.GetStartAddress().GetLoadAddress(self._target)
            # lldb also finds the undefined symbols of the libraries that merely use it.
            if symbol.GetType() != lldb.eSymbolTypeUndefined and address != lldb.LLDB_INVALID_ADDRESS:
                return int(address)
        return None

    def _type(self, name: str) -> Optional[Any]:
        found = self._target.FindFirstType(name)
        return found if found.IsValid() else None

    def _member(self, node: Member) -> Value:
        base = self.value(node.base)
        if isinstance(base, int):
            raise Problem(f"a number has no member {node.name}")
        found = base.GetChildMemberWithName(node.name, lldb.eNoDynamicValues)
        if not found.IsValid():
            raise Problem(f"a value of the type {type_name(base.GetType())} has no member {node.name}")
        return lldb_handles.without_reference(found)

    def _element(self, base: Value, index: int) -> Value:
        if isinstance(base, int):
            raise Problem("a number has no elements")
        element = self._element_type(base)
        if element is None:
            raise Problem(f"a value of the type {type_name(base.GetType())} has no elements")
        real = base.GetType().GetCanonicalType()
        if real.GetTypeClass() == lldb.eTypeClassArray:
            width = int(element.GetByteSize())
            count = int(real.GetByteSize()) // width if width else 0
            # An array at the end of a structure may be declared with no elements or with one.
            if count > 1 and not 0 <= index < count:
                raise Problem(f"the array has no element {index}: there are {count}")
            found = base.GetChildAtIndex(index, lldb.eNoDynamicValues, False)
            if found.IsValid():
                return found.GetNonSyntheticValue()
        return self._at(self._address(base) + index * int(element.GetByteSize()), element)

    def _unary(self, node: Unary) -> Value:
        if node.operator == "&":
            return self._address_of(node.operand)
        operand = self.value(node.operand)
        if node.operator == "-":
            return -self._integer(operand)
        if isinstance(operand, int):
            raise Problem("a number points at nothing; say of which type it is: *(MPI_Comm *)NUMBER")
        element = self._element_type(operand)
        if element is None:
            raise Problem(f"a value of the type {type_name(operand.GetType())} points at nothing")
        return self._at(self._address(operand), element)

    def _address_of(self, node: Node) -> Value:
        if isinstance(node, Name) and self._variable(node.name) is None:
            symbol = self._symbol(node.name)
            if symbol is not None:
                return self._made(symbol, self._target.GetBasicType(lldb.eBasicTypeVoid).GetPointerType())
        operand = self.value(node)
        address = lldb.LLDB_INVALID_ADDRESS if isinstance(operand, int) else operand.GetLoadAddress()
        if address == lldb.LLDB_INVALID_ADDRESS:
            raise Problem("it has no address")
        return self._made(int(address), operand.GetType().GetPointerType())

    def _cast(self, node: Cast) -> Value:
        operand = self.value(node.operand)
        wanted, pointers = self._type(node.type_name), node.pointers
        if wanted is None and node.type_name in names.STRUCTURES and pointers:
            # A structure that is only declared has no type of its own in lldb.
            wanted, pointers = self._type(KINDS[names.STRUCTURES[node.type_name]]), pointers - 1
        if wanted is None:
            kind = names.TYPEDEFS.get(node.type_name)
            hint = f"; in its place, name the kind and an address: -kind {kind} (void *)ADDRESS" if kind else ""
            raise Problem(f"no type {node.type_name} is known here{hint}")
        for _ in range(pointers):
            wanted = wanted.GetPointerType()
        real = wanted.GetCanonicalType()
        if real.GetTypeClass() != lldb.eTypeClassPointer and not lldb_handles.is_integer(wanted):
            raise Problem(f"nothing can be made a {type_name(wanted)}: only pointers and integers can be cast")
        if isinstance(operand, int):
            return self._made(operand, wanted)
        pointer = self._element_type(operand) is not None
        return self._made(self._address(operand) if pointer else self._integer(operand), wanted)

    def _element_type(self, value: Any) -> Optional[Any]:
        """What a pointer points at, or an array has; None for other values."""
        type_ = lldb_handles.without_typedefs(value.GetType())
        if type_.GetTypeClass() == lldb.eTypeClassArray:
            return type_.GetArrayElementType()
        return type_.GetPointeeType() if type_.GetTypeClass() == lldb.eTypeClassPointer else None

    def _address(self, value: Any) -> int:
        """Where a pointer points, or an array lies."""
        if value.GetType().GetCanonicalType().GetTypeClass() != lldb.eTypeClassArray:
            return lldb_handles.integer_of(value)
        address = int(value.GetLoadAddress())
        if address == lldb.LLDB_INVALID_ADDRESS:
            raise Problem("the array does not lie in memory")
        return address

    def _integer(self, value: Value) -> int:
        if isinstance(value, int):
            return value
        if not lldb_handles.is_integer(value.GetType()):
            raise Problem(f"a value of the type {type_name(value.GetType())} is no integer")
        return lldb_handles.integer_of(value)

    def _at(self, address: int, type_: Any) -> Any:
        found = self._target.CreateValueFromAddress("value", self._address_at(address), type_)
        if not found.IsValid() or found.GetError().Fail():
            raise Problem(f"memory at {address:#x} cannot be read")
        return lldb_handles.without_reference(found)

    def _address_at(self, address: int) -> Any:
        return lldb.SBAddress(address & 0xFFFF_FFFF_FFFF_FFFF, self._target)

    def _made(self, number: int, type_: Any) -> Any:
        """A pointer or an integer of that value."""
        size = int(type_.GetByteSize())
        order: Any = _BYTES.get(self._target.GetByteOrder(), "little")
        content = (number & ((1 << (8 * size)) - 1)).to_bytes(size, order)
        data, error = lldb.SBData(), lldb.SBError()
        data.SetData(error, content, self._target.GetByteOrder(), self._target.GetAddressByteSize())
        return self._target.CreateValueFromData("value", data, type_)


def type_name(type_: Any) -> str:
    """A type's name for a sentence."""
    return " ".join(str(type_.GetName() or "?").split())[:100]
