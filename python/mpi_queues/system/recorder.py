"""The flight recorder, a library that is preloaded under the ranks of a job: it is a file of the package."""

from __future__ import annotations

import os
import pathlib
from typing import Optional

from ..errors import UserError
from .parts import how_to_build
from .paths import shown

_PLACE = pathlib.Path(__file__).resolve().parents[1] / "lib" / "libmpi_queues_recorder.so"

#: What separates libraries in LD_PRELOAD (ld.so(8)); none of it can be a part of a name there.
_SEPARATORS = ": \t\n"


def path(named: Optional[str] = None) -> str:
    """Where it is, absolute; ``named`` is another build of it.

    Raises:
        UserError: where it is not there, or cannot be preloaded from there.
    """
    place = os.path.abspath(named) if named is not None else str(_PLACE)
    if not os.path.isfile(place) or not os.access(place, os.R_OK):
        if named is not None:
            raise UserError(
                f"the flight recorder {shown(place)}: no such file", help="leave out --library", kind="no_recorder"
            )
        raise UserError(
            f"this mpi-queues was built without its flight recorder: there is no {shown(place)}",
            help=how_to_build("recorder"),
            kind="no_recorder",
        )
    if any(character in place for character in _SEPARATORS):
        raise UserError(
            f"the flight recorder {shown(place)}: the loader loads no library whose path has a space or a colon",
            help="copy it to another place, and name that one: --library FILE",
            kind="no_recorder",
        )
    return place
