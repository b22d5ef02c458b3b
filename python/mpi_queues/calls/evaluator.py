"""The values of expressions that stand in the program's source, worked out here.

A debugger is asked only for variables and types by their names, for members, elements and memory: its own parser of
expressions, which runs functions and writes to memory, registers and settings, never sees a text of the program.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import c_grammar, fortran_grammar
from .source import Unknown
from .tree import (
    Binary,
    Bounds,
    Cast,
    Choice,
    Container,
    Element,
    Indexed,
    Member,
    Name,
    Node,
    Number,
    SizeOf,
    SizeOfType,
    SyntaxProblem,
    Unary,
)

#: Numbers beyond this are none that a program computes with; it keeps powers and products from growing.
_LARGEST = 1 << 80


class Shape(enum.Enum):
    """What can be done with a value."""

    #: An integer, a character, a truth or an enumerator.
    NUMBER = enum.auto()
    POINTER = enum.auto()
    ARRAY = enum.auto()
    #: A structure, a class or a union.
    RECORD = enum.auto()
    #: A function, a number that is no integer, and whatever else there is.
    OTHER = enum.auto()


class Evaluated(NamedTuple):
    """The value of an expression."""

    #: An integer, a handle, or an address: what a pointer holds, where an array begins.
    number: int
    #: Bytes of an element of what it points at; None for what is no pointer and no array.
    width: Optional[int]
    #: Where the value itself lies, None where in no memory.
    place: Optional[int]


class Typed(ABC):
    """A value with a type, as a debugger has it. All methods raise :class:`Unknown` where there is no answer."""

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """What can be done with it."""

    @property
    @abstractmethod
    def type_name(self) -> str:
        """The name of its type, for a sentence."""

    @abstractmethod
    def number(self) -> int:
        """The integer, or the address that a pointer holds."""

    @abstractmethod
    def place(self) -> Optional[int]:
        """Where it lies; None where in no memory."""

    @abstractmethod
    def size(self) -> int:
        """Its bytes."""

    @abstractmethod
    def width(self) -> int:
        """The bytes of an element of an array (of Fortran: whatever its dimensions), or of what a pointer points at."""

    @abstractmethod
    def member(self, name: str) -> Typed:
        """A member of a record, of one that it is derived from, or of the record that a pointer points at."""

    @abstractmethod
    def element(self, index: int) -> Typed:
        """An element of an array, or of what a pointer points at, counted from 0."""

    @abstractmethod
    def address(self) -> Typed:
        """A pointer to it."""

    @abstractmethod
    def moved(self, count: int) -> Typed:
        """A pointer so many elements further; an array becomes a pointer to its first."""

    @abstractmethod
    def bounds(self) -> List[Tuple[int, int]]:
        """The lowest and the highest index of each dimension of an array, in the order of the language."""

    @abstractmethod
    def at(self, indices: Sequence[int]) -> Typed:
        """The element of an array of Fortran with these indices."""

    @abstractmethod
    def handle(self) -> Optional[int]:
        """The handle of MPI that a record holds; None where it holds none."""


class Scope(ABC):
    """What the names of a frame mean."""

    @abstractmethod
    def variable(self, name: str) -> Optional[Typed]:
        """A variable, a constant of the program or an enumerator; None where none has this name.

        Raises:
            Unknown: where variables are not known here, or this one is not known any more.
        """

    @abstractmethod
    def has_type(self, name: str) -> bool:
        """Whether a type has this name."""

    @abstractmethod
    def missing(self, name: str) -> str:
        """Why a name means nothing here."""

    @abstractmethod
    def cast(self, value: Union[int, Typed], type_name: str, pointers: int) -> Union[int, Typed]:
        """A number or a pointer as another type of these.

        Raises:
            Unknown: where there is no such type, or it is none of these.
        """

    @abstractmethod
    def size_of(self, type_name: str, pointers: int) -> int:
        """The bytes of a type.

        Raises:
            Unknown: where there is no such type.
        """

    def address_of_name(self, name: str) -> Optional[Typed]:
        """A pointer to what has no variable but an address: a symbol without debug information."""
        return None


Value = Union[int, Typed]

#: The number of a constant of MPI; None where it has none, or is no constant.
Constant = Callable[[str], Optional[int]]


def _no_constant(name: str) -> Optional[int]:
    return None


def of_c(text: str, scope: Scope, constant: Constant = _no_constant, *, registers: bool = False) -> Value:
    """The value of an expression of C or C++. ``registers``: see :func:`c_grammar.parse`.

    Raises:
        Unknown: where it has none.
    """

    def is_type(name: str) -> Optional[bool]:
        try:
            if scope.variable(name) is not None or constant(name) is not None:
                return False
        except Unknown:
            return False
        return True if scope.has_type(name) else None

    try:
        node = c_grammar.parse(text, is_type, registers=registers)
    except SyntaxProblem as problem:
        raise Unknown(str(problem)) from None
    return _C(scope, constant).value(node)


def of_fortran(text: str, scope: Scope, constant: Constant = _no_constant) -> Union[Value, Evaluated]:
    """The value of an expression of Fortran; of a section of an array, where it begins.

    Raises:
        Unknown: where it has none.
    """
    try:
        node = fortran_grammar.parse(text)
    except SyntaxProblem as problem:
        raise Unknown(str(problem)) from None
    return _Fortran(scope, constant).result(node)


def evaluated(value: Union[Value, Evaluated], *, fortran: bool) -> Evaluated:
    """A value as a function of MPI was given it.

    Raises:
        Unknown: where it is neither a number, nor a handle, nor in memory.
    """
    if isinstance(value, Evaluated):
        return value
    if isinstance(value, int):
        return Evaluated(value, None, None)
    shape, place = value.shape, value.place()
    if shape is Shape.ARRAY:
        if place is None:
            raise Unknown("the array is in no memory")
        return Evaluated(place, value.width(), place)
    if shape is Shape.POINTER:
        return Evaluated(value.number(), value.width(), place)
    if shape is Shape.NUMBER:
        return Evaluated(value.number(), None, place)
    handle = value.handle() if shape is Shape.RECORD else None
    if handle is not None:
        return Evaluated(handle, None, place)
    if place is None or not fortran:
        raise Unknown(f"a value of the type {value.type_name} is no number")
    # Fortran gives the address of everything.
    return Evaluated(place, value.size(), place)


class _Evaluator:
    """What both languages have in common."""

    def __init__(self, scope: Scope, constant: Constant) -> None:
        self._scope = scope
        self._constant = constant

    def value(self, node: Node) -> Value:
        """The value of a tree."""
        raise NotImplementedError

    def _name(self, name: str) -> Value:
        found = self._scope.variable(name)
        if found is not None:
            return found
        constant = self._constant(name)
        if constant is not None:
            return constant
        raise Unknown(self._scope.missing(name))

    def _integer(self, value: Value) -> int:
        if isinstance(value, int):
            return value
        if value.shape is not Shape.NUMBER:
            raise Unknown(f"a value of the type {value.type_name} is no integer")
        return value.number()

    def _record(self, base: Value, name: str) -> Typed:
        if isinstance(base, int):
            raise Unknown(f"a number has no member {name}")
        return base


class _C(_Evaluator):
    def value(self, node: Node) -> Value:
        if isinstance(node, Number):
            return node.value
        if isinstance(node, Name):
            return self._name(node.name)
        if isinstance(node, Member):
            return self._record(self.value(node.base), node.name).member(node.name)
        if isinstance(node, Element):
            return self._element(self.value(node.base), self._integer(self.value(node.index)))
        if isinstance(node, Container):
            return self._asked(self.value(node.base), node.asked)
        if isinstance(node, Unary):
            return self._unary(node)
        if isinstance(node, Cast):
            return self._scope.cast(self.value(node.operand), node.type_name, node.pointers)
        if isinstance(node, SizeOfType):
            return self._scope.size_of(node.type_name, node.pointers)
        if isinstance(node, SizeOf):
            operand = self.value(node.operand)
            if isinstance(operand, int):
                raise Unknown("the type of a number is not known")
            return operand.size()
        if isinstance(node, Choice):
            # What is not chosen need have no value.
            return self.value(node.first if self._truth(node.condition) else node.second)
        if isinstance(node, Binary):
            return self._binary(node)
        raise Unknown("the expression is not understood")

    def _truth(self, node: Node) -> bool:
        return plain(self.value(node)) != 0

    def _binary(self, node: Binary) -> Value:
        if node.operator in ("&&", "||"):
            left = self._truth(node.left)
            if left == (node.operator == "||"):
                return int(left)
            return int(self._truth(node.right))
        first, second = self.value(node.left), self.value(node.right)
        if node.operator in ("+", "-"):
            if _points(second) and not _points(first) and node.operator == "+":
                first, second = second, first
            if not isinstance(first, int) and _points(first):
                if not isinstance(second, int) and _points(second):
                    return self._distance(node.operator, first, second)
                return first.moved(self._integer(second) * (1 if node.operator == "+" else -1))
        if node.operator in _COMPARISONS:
            return applied(node.operator, plain(first), plain(second))
        return applied(node.operator, self._integer(first), self._integer(second))

    def _distance(self, operator: str, first: Typed, second: Typed) -> int:
        width = first.width()
        if operator == "+" or width <= 0 or second.width() != width:
            raise Unknown("pointers to different things have no distance")
        return (plain(first) - plain(second)) // width

    def _unary(self, node: Unary) -> Value:
        if node.operator == "&":
            if isinstance(node.operand, Unary) and node.operand.operator == "*":
                return self.value(node.operand.operand)
            if isinstance(node.operand, Name) and self._scope.variable(node.operand.name) is None:
                found = self._scope.address_of_name(node.operand.name)
                if found is not None:
                    return found
            operand = self.value(node.operand)
            if isinstance(operand, int):
                raise Unknown("a number has no address")
            return operand.address()
        operand = self.value(node.operand)
        if node.operator == "*":
            if isinstance(operand, int):
                raise Unknown("a number points at nothing; say of which type it is: *(MPI_Comm *)NUMBER")
            if not _points(operand):
                raise Unknown(f"a value of the type {operand.type_name} points at nothing")
            return operand.element(0)
        if node.operator == "!":
            return int(plain(operand) == 0)
        number = self._integer(operand)
        return {"-": -number, "+": number, "~": ~number}[node.operator]

    def _element(self, base: Value, index: int) -> Value:
        if isinstance(base, int):
            raise Unknown("a number has no elements")
        if base.shape is Shape.RECORD:
            first, count = _vector(base)
            if not 0 <= index < count:
                raise Unknown(f"the container has no element {index}: there are {count}")
            return first.element(index)
        if not _points(base):
            raise Unknown(f"a value of the type {base.type_name} has no elements")
        return base.element(index)

    def _asked(self, base: Value, asked: str) -> Value:
        owner = self._record(base, asked)
        first, count = _vector(owner.element(0) if owner.shape is Shape.POINTER else owner)
        return count if asked == "size" else first


def plain(value: Value) -> int:
    """A number, or the address of a pointer or an array, as comparisons and casts take them.

    Raises:
        Unknown: where it is none of these.
    """
    if isinstance(value, int):
        return value
    if value.shape is Shape.ARRAY:
        return value.moved(0).number()
    if value.shape in (Shape.NUMBER, Shape.POINTER):
        return value.number()
    raise Unknown(f"a value of the type {value.type_name} is no integer")


def _points(value: Value) -> bool:
    return not isinstance(value, int) and value.shape in (Shape.POINTER, Shape.ARRAY)


def _vector(value: Typed) -> Tuple[Typed, int]:
    """A pointer to the first element of a std::vector, and their number (libstdc++: bits/stl_vector.h)."""
    if value.shape is not Shape.RECORD:
        raise Unknown(f"a value of the type {value.type_name} has no elements")
    try:
        inside = value.member("_M_impl")
        first, last = inside.member("_M_start"), inside.member("_M_finish")
    except Unknown:
        raise Unknown(f"a value of the type {value.type_name} is no container that is known here") from None
    width = first.width() if first.shape is Shape.POINTER and last.shape is Shape.POINTER else 0
    if width <= 0:
        raise Unknown(f"a value of the type {value.type_name} is no container that is known here")
    return first, (last.number() - first.number()) // width


class _Fortran(_Evaluator):
    def result(self, node: Node) -> Union[Value, Evaluated]:
        """The value of a whole expression, which may be a section of an array."""
        if isinstance(node, Indexed) and any(isinstance(one, Bounds) for one in node.given):
            return self._section(node)
        return self.value(node)

    def value(self, node: Node) -> Value:
        if isinstance(node, Number):
            return node.value
        if isinstance(node, Name):
            return self._behind(self._name(node.name))
        if isinstance(node, Member):
            return self._behind(self._record(self.value(node.base), node.name).member(node.name))
        if isinstance(node, Indexed):
            return self._indexed(node)
        if isinstance(node, Unary):
            number = self._integer(self.value(node.operand))
            return -number if node.operator == "-" else number
        if isinstance(node, Binary):
            left, right = self._integer(self.value(node.left)), self._integer(self.value(node.right))
            return _power(left, right) if node.operator == "**" else applied(node.operator, left, right)
        raise Unknown("the expression is not understood")

    @staticmethod
    def _behind(value: Value) -> Value:
        """In Fortran the name of a pointer means what it points at."""
        pointer = not isinstance(value, int) and value.shape is Shape.POINTER and value.width() > 0
        return value.element(0) if pointer and not isinstance(value, int) else value

    def _indexed(self, node: Indexed) -> Value:
        array = self._array(node.base)
        if array is None:
            return self._intrinsic(node)
        indices: List[int] = []
        for (low, high), given in zip(self._dimensions(array, node), node.given):
            if isinstance(given, Bounds):
                raise Unknown("a section of an array is no number")
            index = self._integer(self.value(given))
            if not low <= index <= high:
                raise Unknown(f"the array has no element {index}: they go from {low} to {high}")
            indices.append(index)
        return self._behind(array.at(indices))

    def _array(self, base: Node) -> Optional[Typed]:
        """The array that is indexed; None where it is a function."""
        found = self._scope.variable(base.name) if isinstance(base, Name) else None
        value = self.value(base) if found is not None or not isinstance(base, Name) else None
        if value is None:
            return None
        if isinstance(value, int) or value.shape is not Shape.ARRAY:
            if isinstance(base, Name) and base.name in _FUNCTIONS:
                # To programs names of intrinsic functions are free: rank, size, max.
                return None
            raise Unknown("what is indexed is no array")
        return value

    def _dimensions(self, array: Typed, node: Indexed) -> List[Tuple[int, int]]:
        bounds = array.bounds()
        if len(bounds) != len(node.given):
            raise Unknown(f"an array of {len(bounds)} dimensions with {len(node.given)} indices")
        return bounds

    def _section(self, node: Indexed) -> Evaluated:
        """Where a section begins that is one piece of memory: another one may have been copied for the call."""
        array = self._array(node.base)
        if array is None:
            raise Unknown("a section of what is no array")
        first: List[int] = []
        second: Optional[List[int]] = None
        whole = True
        for at, ((low, high), given) in enumerate(zip(self._dimensions(array, node), node.given)):
            if not isinstance(given, Bounds):
                first.append(self._integer(self.value(given)))
                whole = False
                continue
            begin = low if given.first is None else self._integer(self.value(given.first))
            end = high if given.last is None else self._integer(self.value(given.last))
            if not whole and at > 0:
                raise Unknown("a section that is not one piece of memory may have been copied for the call")
            whole = whole and (begin, end) == (low, high)
            if at == 0 and end > begin:
                second = [begin + 1]
            first.append(begin)
        for index, (low, high) in zip(first, array.bounds()):
            if not low <= index <= high:
                raise Unknown(f"the array has no element {index}: they go from {low} to {high}")
        place, width = array.at(first).place(), array.width()
        if place is None:
            raise Unknown("the array is in no memory")
        if second is not None and array.at(second + first[1:]).place() != place + width:
            raise Unknown("a section that is not one piece of memory may have been copied for the call")
        return Evaluated(place, width, place)

    def _intrinsic(self, node: Indexed) -> int:
        name = node.base.name if isinstance(node.base, Name) else ""
        if name in ("size", "lbound", "ubound"):
            return self._extent(name, node)
        if name not in _FUNCTIONS:
            raise Unknown(f"{name} is a function, or nothing that is known here")
        given = [self._integer(self.value(one)) for one in node.given if not isinstance(one, Bounds)]
        least, most, function = _FUNCTIONS[name]
        if not least <= len(given) <= most or len(given) != len(node.given):
            raise Unknown(f"{name} is not understood with what it is given")
        return function(given)

    def _extent(self, name: str, node: Indexed) -> int:
        given = list(node.given)
        array = self.value(given[0]) if given and not isinstance(given[0], Bounds) else 0
        if isinstance(array, int) or array.shape is not Shape.ARRAY or len(given) > 2:
            raise Unknown(f"{name} is not understood with what it is given")
        bounds = array.bounds()
        if len(given) == 2:
            which = given[1]
            dimension = 0 if isinstance(which, Bounds) else self._integer(self.value(which))
            if not 1 <= dimension <= len(bounds):
                raise Unknown(f"the array has no dimension {dimension}")
            bounds = bounds[dimension - 1 : dimension]
        elif name != "size" and len(bounds) != 1:
            raise Unknown(f"{name} of several dimensions is no number")
        total = 1
        for low, high in bounds:
            total *= max(0, high - low + 1)
        return {"size": total, "lbound": bounds[0][0], "ubound": bounds[0][1]}[name]


_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))


def applied(operator: str, left: int, right: int) -> int:
    """An operator of C on two numbers.

    Raises:
        Unknown: where it has no value.
    """
    if operator in ("/", "%"):
        if right == 0:
            raise Unknown("the expression divides by zero")
        # C and Fortran round towards zero.
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator in ("<<", ">>") and not 0 <= right < 64:
        raise Unknown("the expression shifts by more than a number has bits")
    found = _OPERATORS[operator](left, right)
    if abs(found) > _LARGEST:
        raise Unknown("a number in it is larger than a program's")
    return found


_OPERATORS: Dict[str, Callable[[int, int], int]] = {
    "*": lambda left, right: left * right,
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "<<": lambda left, right: left << right,
    ">>": lambda left, right: left >> right,
    "<": lambda left, right: int(left < right),
    ">": lambda left, right: int(left > right),
    "<=": lambda left, right: int(left <= right),
    ">=": lambda left, right: int(left >= right),
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "&": lambda left, right: left & right,
    "^": lambda left, right: left ^ right,
    "|": lambda left, right: left | right,
}


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        return applied("/", 1, _power(base, -exponent))
    # 2**80 is beyond all numbers here.
    if exponent > 80 and abs(base) > 1:
        raise Unknown("a number in it is larger than a program's")
    found = 1
    for _ in range(exponent if abs(base) > 1 else exponent % 2 if base else min(exponent, 1)):
        found = applied("*", found, base)
    return found


def _modulo(given: Sequence[int]) -> int:
    if given[1] == 0:
        raise Unknown("the expression divides by zero")
    return given[0] % given[1]


#: Functions of Fortran on integers: how many numbers they take at least and at most, and their value.
_FUNCTIONS: Dict[str, Tuple[int, int, Callable[[Sequence[int]], int]]] = {
    "mod": (2, 2, lambda given: applied("%", given[0], given[1])),
    "modulo": (2, 2, _modulo),
    "min": (1, 64, min),
    "max": (1, 64, max),
    "abs": (1, 1, lambda given: abs(given[0])),
    "int": (1, 2, lambda given: given[0]),
    "ieor": (2, 2, lambda given: given[0] ^ given[1]),
    "iand": (2, 2, lambda given: given[0] & given[1]),
    "ior": (2, 2, lambda given: given[0] | given[1]),
    "merge": (3, 3, lambda given: given[0] if given[2] else given[1]),
}
