"""What a debugger must answer for the expressions of a program's source, which the crate ``calls`` works out.

It is asked only for variables and types by their names, for members, elements and memory: its own parser, which runs
functions and writes to memory, registers and settings, never sees a text of the program.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from typing import List, Optional, Sequence, Tuple, Union

from .._native import Unknown


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


def plain(value: Union[int, Typed]) -> int:
    """A number, or the address of a pointer or an array, as casts take them.

    Raises:
        Unknown: where it is none of these.
    """
    if isinstance(value, int):
        return value
    if value.shape is Shape.ARRAY:
        return value.moved(0).number()
    if value.shape in (Shape.NUMBER, Shape.POINTER):
        return value.number()
    raise Unknown(f"a value of the type {value.type_name} is not an integer")
