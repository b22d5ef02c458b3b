"""Which plug-in was asked for by name: ``plugin=PATH`` or ``mpi plugin load``."""

from __future__ import annotations

import os
import pathlib
from typing import Optional, Tuple

from ..errors import UserError
from ..system.paths import shown

#: Open MPI's, MPICH's, the default names of the interface's document; last Open MPI's for handles.
PLUGIN_NAMES = ("libompi_dbg_msgq.so", "libtvmpich.so", "libtvibmmpi.so", "libxmpi.so", "libompi_dbg_mpihandles.so")


#: What to type where a plug-in that was named is not there.
IN_DEBUGGER = "type: mpi plugin info"


def requested_plugin(source: str, loaded: Optional[str], help: str = IN_DEBUGGER) -> Tuple[str, Optional[str]]:
    """Takes apart ``auto``, ``builtin``, ``recorder``, ``plugin``, ``plugin=PATH``: the kind, and the named plug-in.

    Raises:
        UserError: where that plug-in is not there.
    """
    kind, _, path = source.partition("=")
    if kind in ("builtin", "recorder"):
        return kind, None
    if path:
        return kind, existing_plugin(path, help)
    return kind, loaded


def existing_plugin(path: str, help: str = IN_DEBUGGER) -> str:
    """The absolute path of a plug-in that the user names.

    Raises:
        UserError: where there is no such file.
    """
    full = pathlib.Path(absolute(path))
    if full.is_dir():
        for name in PLUGIN_NAMES:
            if (full / name).is_file():
                return str(full / name)
        raise UserError(
            f"{shown(str(full))}: no plug-in in this directory (looked for {', '.join(PLUGIN_NAMES)})",
            help=help,
            kind="no_plugin",
        )
    if not full.is_file():
        raise UserError(f"{shown(str(full))}: no such plug-in", help=help, kind="no_plugin")
    return str(full)


def absolute(path: str) -> str:
    """The path as it was named, from the root: links are kept, because the user's own name is shown."""
    return os.path.abspath(os.path.expanduser(path))
