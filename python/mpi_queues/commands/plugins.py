"""Which plug-in was asked for: ``plugin=PATH``, ``mpi plugin load``, ``set mpi plugin-path``."""

from __future__ import annotations

import os
import pathlib
from typing import Optional, Tuple

from ..errors import UserError

#: Open MPI's, MPICH's, and the default names of the interface's document.
PLUGIN_NAMES = ("libompi_dbg_msgq.so", "libtvmpich.so", "libtvibmmpi.so", "libxmpi.so")


#: What to type where a plug-in that was named is not there.
IN_DEBUGGER = "type: mpi plugin info"


def requested_plugin(
    source: str, loaded: Optional[str], plugin_path: str, help: str = IN_DEBUGGER
) -> Tuple[str, Optional[str]]:
    """Takes apart ``auto``, ``builtin``, ``plugin`` or ``plugin=PATH``: the kind, and the plug-in asked for by name.

    Raises:
        UserError: where that plug-in is not there.
    """
    kind, _, path = source.partition("=")
    if kind == "builtin":
        return kind, None
    if path:
        return kind, existing_plugin(path, help)
    if loaded:
        return kind, loaded
    return kind, plugin_on_path(plugin_path)


def existing_plugin(path: str, help: str = IN_DEBUGGER) -> str:
    """The absolute path of a plug-in that the user names.

    Raises:
        UserError: where there is no such file.
    """
    full = pathlib.Path(os.path.abspath(os.path.expanduser(path)))  # not resolved: the user's own name is shown
    if full.is_dir():
        found = plugin_on_path(str(full))
        if found is not None:
            return found
        raise UserError(
            f"{full}: no plug-in in this directory (looked for {', '.join(PLUGIN_NAMES)})",
            help=help,
            kind="no_plugin",
        )
    if not full.is_file():
        raise UserError(f"{full}: no such plug-in", help=help, kind="no_plugin")
    return str(full)


def plugin_on_path(plugin_path: str) -> Optional[str]:
    """The first plug-in of a list of files and directories, separated by colons; None where there is none."""
    for entry in plugin_path.split(os.pathsep):
        if not entry:
            continue
        place = pathlib.Path(os.path.abspath(os.path.expanduser(entry)))
        for candidate in [place] if place.is_file() else [place / name for name in PLUGIN_NAMES]:
            if candidate.is_file():
                return str(candidate)
    return None
