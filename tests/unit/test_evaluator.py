"""The values of expressions of C, C++ and Fortran on made-up variables, and what has none."""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple, Union

import pytest
from mpi_queues.calls import evaluator
from mpi_queues.calls.evaluator import Evaluated, Scope, Shape, Typed
from mpi_queues.calls.source import Unknown

INT = 4


class MadeUp(Typed):
    """A number, a record, an array of integers with bounds, or a pointer to one of these."""

    def __init__(
        self,
        content: Union[int, Dict[str, MadeUp], List[int], MadeUp],
        place: Optional[int] = 0x1000,
        bounds: Sequence[Tuple[int, int]] = (),
        stride: int = INT,
    ) -> None:
        self.content = content
        self._place = place
        self._bounds = list(bounds)
        self._stride = stride

    @property
    def shape(self) -> Shape:
        kinds = ((int, Shape.NUMBER), (dict, Shape.RECORD), (list, Shape.ARRAY), (MadeUp, Shape.POINTER))
        return next(shape for kind, shape in kinds if isinstance(self.content, kind))

    @property
    def type_name(self) -> str:
        return f"made-up {self.shape.name}"

    def number(self) -> int:
        if isinstance(self.content, int):
            return self.content
        assert isinstance(self.content, MadeUp)
        return self.content._place or 0

    def place(self) -> Optional[int]:
        return self._place

    def size(self) -> int:
        return INT * (len(self.content) if isinstance(self.content, list) else 1)

    def width(self) -> int:
        return INT

    def member(self, name: str) -> Typed:
        if isinstance(self.content, MadeUp):
            return self.content.member(name)
        if not isinstance(self.content, dict) or name not in self.content:
            raise Unknown(f"no member {name}")
        return self.content[name]

    def element(self, index: int) -> Typed:
        if isinstance(self.content, MadeUp):
            inside = self.content
            return inside if index == 0 and not isinstance(inside.content, list) else inside.element(index)
        assert isinstance(self.content, list)
        if not 0 <= index < len(self.content):
            raise Unknown("no such element")
        return MadeUp(self.content[index], None if self._place is None else self._place + self._stride * index)

    def address(self) -> Typed:
        return MadeUp(self)

    def moved(self, count: int) -> Typed:
        assert isinstance(self.content, (list, MadeUp))
        inside = self if isinstance(self.content, list) else self.content
        assert isinstance(inside, MadeUp) and isinstance(inside.content, list) and inside._place is not None
        return MadeUp(MadeUp(inside.content[count:], inside._place + INT * count))

    def bounds(self) -> List[Tuple[int, int]]:
        return self._bounds

    def at(self, indices: Sequence[int]) -> Typed:
        place, step = 0, 1
        for index, (low, high) in zip(indices, self._bounds):
            place, step = place + (index - low) * step, step * (high - low + 1)
        return self.element(place)

    def handle(self) -> Optional[int]:
        inside = self.content["mpi_val"] if isinstance(self.content, dict) and "mpi_val" in self.content else None
        return inside.number() if inside is not None else None


VECTOR = MadeUp([5, 6, 7, 8], 0x3000)
VARIABLES: Dict[str, MadeUp] = {
    "a": MadeUp(5),
    "b": MadeUp(3),
    "x": MadeUp(MadeUp({"n": MadeUp(7, 0x1234)})),
    "v": MadeUp([9, 10, 11, 12, 13], 0x2000),
    "p": MadeUp(MadeUp([2, 4, 6], 0x5000)),
    "c": MadeUp({"d": MadeUp([7, 8, 9], 0x4000), "vec": MadeUp({})}),
    "vec": MadeUp({"_M_impl": MadeUp({"_M_start": MadeUp(VECTOR), "_M_finish": MadeUp(MadeUp([], 0x300C))})}),
    "rank": MadeUp(1),
    # integer grid(0:2, 5:6)
    "grid": MadeUp([1, 2, 3, 4, 5, 6], 0x6000, [(0, 2), (5, 6)]),
    # every second element of something larger
    "sparse": MadeUp([1, 2, 3], 0x7000, [(1, 3)], 2 * INT),
    "req": MadeUp({"mpi_val": MadeUp(77)}),
}


class MadeUpScope(Scope):
    def variable(self, name: str) -> Optional[Typed]:
        if name == "gone":
            raise Unknown("optimised away")
        return VARIABLES.get(name)

    def has_type(self, name: str) -> bool:
        return name in ("int", "long", "MPI_Comm")

    def missing(self, name: str) -> str:
        return f"no variable {name}"

    def cast(self, value: Union[int, Typed], type_name: str, pointers: int) -> Union[int, Typed]:
        if not self.has_type(type_name):
            raise Unknown(f"no type {type_name}")
        return value

    def size_of(self, type_name: str, pointers: int) -> int:
        return 8 if pointers or type_name == "long" else INT


def constant(name: str) -> Optional[int]:
    return {"MPI_PROC_NULL": -2}.get(name.upper())


def c(text: str) -> Evaluated:
    return evaluator.evaluated(evaluator.of_c(text, MadeUpScope(), constant), fortran=False)


def fortran(text: str) -> Evaluated:
    return evaluator.evaluated(evaluator.of_fortran(text, MadeUpScope(), constant), fortran=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(a + 1) % b", 0),
        ("a-b*2", -1),
        ("-a / 2", -2),
        ("-a % 3", -2),
        ("a ? b : 1", 3),
        ("a == 5 ? MPI_PROC_NULL : gone", -2),
        ("a != 5 && gone", 0),
        ("a || gone", 1),
        ("x->n+v[a - 3]", 18),
        ("x[0].n", 7),
        ("(*x).n", 7),
        ("(int)a % 2", 1),
        ("(int)(long)a", 5),
        ("*p * *p", 4),
        ("p[1] + *(p + 2)", 10),
        ("c.d[2] - 1", 8),
        ("*&a", 5),
        ("a & 1 | 8", 9),
        ("(a) & 1", 1),
        ("!a == 0 && b", 1),
        ("a << 2 >> 1", 10),
        ("'A'", 65),
        ("0x10 + 010 + 1UL + 1'0", 35),
        ("(a)-(b)", 2),
        ("-(a)", -5),
        ("~a + +1", -5),
        ("(int)(a + b) * 2", 16),
        ("sizeof v / sizeof v[0]", 5),
        ("sizeof(long) + sizeof(a)", 12),
        ("vec.size() - 1", 2),
        ("(int)vec.size()", 3),
        ("vec[2]", 7),
        ("*vec.data()", 5),
        ("static_cast<int>(a)", 5),
        ("int(a) + 1", 6),
        ("&v[3] - &v[1]", 2),
        ("NULL", 0),
    ],
)
def test_numbers_of_c(text: str, value: int) -> None:
    assert c(text).number == value


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("v", 0x2000),
        ("v + 1", 0x2004),
        ("&v[a - 3]", 0x2008),
        ("p", 0x5000),
        ("p + 2", 0x5008),
        ("&x->n", 0x1234),
        ("c.d", 0x4000),
        ("vec.data()", 0x3000),
        ("vec.data() + 1", 0x3004),
        ("&vec[1]", 0x3004),
    ],
)
def test_addresses_of_c(text: str, place: int) -> None:
    found = c(text)
    assert found.number == place and found.width == INT


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A + b", 8),
        ("mod(rank + 1, b)", 2),
        ("MODULO(-a, b) + max(1, a, 2)", 6),
        ("min(a,b)", 3),
        ("-a**2", -25),
        ("2**3**2", 512),
        ("2**(-1)", 0),
        ("-7/2", -3),
        ("grid(2, 6)", 6),
        ("grid(0,5)", 1),
        ("size(grid)", 6),
        ("size(grid, 2)", 2),
        ("ubound(grid, 2) - lbound(grid, 2)", 1),
        ("req%mpi_val", 77),
        ("req", 77),
        ("x%n", 7),
        ("5_8 + 1_MPI_COUNT_KIND", 6),
        ("merge(1, 2, .true.)", 1),
        ("MPI_Proc_Null", -2),
    ],
)
def test_numbers_of_fortran(text: str, value: int) -> None:
    assert fortran(text).number == value


@pytest.mark.parametrize(
    ("text", "place"),
    [("grid", 0x6000), ("grid(:,5)", 0x6000), ("grid(1:2,6)", 0x6010), ("grid(:,5:6)", 0x6000), ("grid(1:,5)", 0x6004)],
)
def test_addresses_of_fortran(text: str, place: int) -> None:
    found = fortran(text)
    assert found.number == place and found.width == INT


@pytest.mark.parametrize(
    "text",
    [
        "nix",
        "gone",
        "gone + 1",
        "a b",
        "a +",
        "(a",
        "a[",
        "a[0]",
        "a.n",
        "v[7]",
        "vec[3]",
        "c.vec.size()",
        "1.5",
        '"s"',
        "a/0",
        "a % (b - 3)",
        "a<<99",
        "a<<63<<63",
        "(" * 80 + "a" + ")" * 80,
        "",
        "*",
        "*a",
        "*5",
        "&5",
        "a?b",
        "é",
        "x->",
        "x + x",
        "c",
        "i++",
        "a = 3",
        "f(x)",
        "a(1)",
        "$rax",
        "a <<= 1",
        "(nix)a",
        "1 ? 2",
        *(f"0'1 + {attack} + 0'1" for attack in ('$_shell("id")', "$pc", "f()", "(a = 3)", "a++", "v.begin()")),
    ],
)
def test_what_has_no_value_in_c(text: str) -> None:
    with pytest.raises(Unknown):
        c(text)


@pytest.mark.parametrize(
    "text",
    [
        "nix",
        "gone",
        "mod(a)",
        "mod(a, 0)",
        "max()",
        "max(a b)",
        "grid(3, 5)",
        "grid(1)",
        "grid(0:1, 5:6)",
        "grid(1, 5:6)",
        "grid(:, 7)",
        "sparse(1:2)",
        "grid(:,5) + 1",
        "a**99",
        "a(1)",
        "system('id')",
        "call system",
        "$x = 4711",
        "a = 3",
        "'text'",
        "1.5",
        "a(",
        "a%",
        "grid(0, 5",
        "(" * 80 + "a" + ")" * 80,
        "2**" * 80 + "2",
    ],
)
def test_what_has_no_value_in_fortran(text: str) -> None:
    with pytest.raises(Unknown):
        fortran(text)


def test_a_section_of_a_sparse_array_is_its_first_element_only_alone() -> None:
    assert fortran("sparse(2:2)").number == 0x7008
