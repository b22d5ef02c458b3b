"""Names of functions as debuggers tell them."""

from __future__ import annotations

import pytest
from mpi_queues.debuggers.names import without_parameters


@pytest.mark.parametrize(
    ("full", "name"),
    [
        ("main", "main"),
        ("grid::exchange(int, char const*)", "grid::exchange"),
        ("grid::size() const", "grid::size"),
        ("void grid::send<std::pair<int, long> >(int)", "grid::send<std::pair<int, long> >"),
        ("(anonymous namespace)::step(double)", "(anonymous namespace)::step"),
        ("int (anonymous namespace)::step<int>(int)", "(anonymous namespace)::step<int>"),
        ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
        ("grid::operator<(grid const&)", "grid::operator<"),
        ("grid::operator long() const", "grid::operator long"),
        ("operator new(unsigned long)", "operator new"),
        ("my_operator(int)", "my_operator"),
        ("box<(color)1>::draw(void (*)(int))", "box<(color)1>::draw"),
        ("a name with spaces", "a name with spaces"),
        ("", ""),
        ("(", "("),
        ("operator", "operator"),
        ("<<<<(", "<<<<("),
    ],
)
def test_without_parameters(full: str, name: str) -> None:
    assert without_parameters(full) == name
