"""The programs that a job is made of, and where they are."""

from __future__ import annotations

import os
import shutil
from typing import Union

from ..errors import UserError

Path = Union[str, "os.PathLike[str]"]


def executable(name: Path, what: str, help: str) -> str:
    """The absolute path of a program; ``what`` it is, and the ``help`` where it is missing, are for messages.

    Raises:
        UserError: where there is none.
    """
    text = os.fspath(name)
    found = shutil.which(text)
    if found is not None:
        return os.path.abspath(found)
    if os.sep not in text:
        raise UserError(f"{what} {text}: not found in PATH", help=help, kind="no_tool")
    reason = "not executable" if os.path.isfile(text) else "no such file" if not os.path.exists(text) else "not a file"
    raise UserError(f"{what} {text}: {reason}", help=help, kind="no_tool")
