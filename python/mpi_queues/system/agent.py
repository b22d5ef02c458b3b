"""``mpi-queues-agent``, the static program for nodes without Python and debuggers: it is a file of the package."""

from __future__ import annotations

import os
import pathlib

from ..errors import UserError
from .parts import how_to_build

_PLACE = pathlib.Path(__file__).resolve().parents[1] / "bin" / "mpi-queues-agent"


def path() -> pathlib.Path:
    """Where it is.

    Raises:
        UserError: where this package was built without it.
    """
    if not os.access(_PLACE, os.X_OK):
        raise UserError(
            f"this mpi-queues was built without mpi-queues-agent: there is no {_PLACE}",
            help=how_to_build("agent"),
            kind="no_agent",
        )
    return _PLACE
