"""Handles that an expression names, for ``mpi print``, and what is said where it names none."""

from __future__ import annotations

from typing import NamedTuple, Optional, Union

from ..errors import UserError
from ..handle_types import KINDS


class Found(NamedTuple):
    """A handle, and what it is called."""

    expression: str
    kind: str
    value: Union[int, bytes]
    fortran: bool


def check_kind(expression: str, kind: str, wanted: Optional[str]) -> None:
    """Looks at the kind that the type of an expression tells.

    Raises:
        UserError: where another one was asked for.
    """
    if wanted is not None and wanted != kind:
        raise UserError(
            f"{expression} is an {KINDS[kind]}, not an {KINDS[wanted]}",
            help=f"type: mpi print {expression}",
            kind="usage",
        )


def one_integer(expression: str) -> UserError:
    """A status of Fortran was asked for, and there is one integer."""
    return UserError(
        f"{expression} is one integer; a Fortran status is an array of them, or a type(MPI_Status)",
        help="name the array: mpi print -kind status EXPRESSION",
        kind="usage",
    )
