"""The library that shows other debuggers message queues: it is a file of the package."""

from __future__ import annotations

import os
import pathlib

from ..errors import UserError
from .parts import how_to_build
from .paths import shown

_PLACE = pathlib.Path(__file__).resolve().parents[1] / "lib" / "libmpi_queues_mqs.so"


def path() -> pathlib.Path:
    """Where it is.

    Raises:
        UserError: where this package was built without it.
    """
    if not os.access(_PLACE, os.R_OK):
        raise UserError(
            f"this mpi-queues was built without its library for other debuggers: there is no {shown(str(_PLACE))}",
            help=how_to_build("mqs-library"),
            kind="no_mqs_library",
        )
    return _PLACE
