"""Expressions that a user types, worked out in Rust for a debugger in Python."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest
from mpi_queues import _native
from mpi_queues._native import Unknown
from mpi_queues.debuggers.values import Scope, Shape, Typed


def scope(**variables: int) -> Any:
    """A frame with these numbers."""
    made = {
        name: Mock(spec=Typed, shape=Shape.NUMBER, **{"number.return_value": variables[name]}) for name in variables
    }
    names = {"variable.side_effect": made.get, "missing.side_effect": "no variable {}".format}
    return Mock(spec=Scope, **names)


def test_what_a_user_typed() -> None:
    frame = scope(n=3, large=1 << 200, negative=-(1 << 70), **{"$rax": 7})
    for text, value in [("1 + 2", 3), ("n + $rax", 10), ("large + 1", 1), ("negative + 1", 1 - (1 << 70))]:
        assert _native.value_of_c(text, frame) == value
    found = _native.value_of_c("$rax", frame)
    assert isinstance(found, Typed) and found.number() == 7
    for text, reason in [("n = 3", "it changes the program"), ("nix", "no variable nix")]:
        with pytest.raises(Unknown, match=reason):
            _native.value_of_c(text, frame)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), ValueError("odd"), SystemExit(3)])
def test_what_debuggers_raise_goes_on(error: BaseException) -> None:
    frame = scope()
    frame.variable.side_effect = error
    with pytest.raises(type(error)) as raised:
        _native.value_of_c("a + b || c", frame)
    assert raised.value is error
    # Nothing more is asked then.
    assert len(frame.method_calls) == 1
