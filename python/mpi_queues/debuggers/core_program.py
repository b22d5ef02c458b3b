"""Whether a program is the one that dumped a core file."""

from __future__ import annotations

import os
from typing import Optional, Tuple

from ..errors import UserError
from .base import NotInCore
from .core_file import ROOM, CoreFile
from .core_format import AT_ENTRY, ELF_HEADER, MAX_NOTES, PROGRAM_HEADER, PT_LOAD, PT_NOTE


def checked_core(core: str, exe: Optional[str]) -> Tuple[str, str]:
    """Absolute paths of a core file and of the program that dumped it, after a look at both.

    Raises:
        UserError: that names what does not fit, and what to type.
    """
    file = CoreFile(core)
    if file.truncated and not file.auxiliary:
        # gcore writes what it tells of the process last, and no debugger opens a core without it.
        raise UserError(
            f"{core}: the core file is truncated: {file.truncated} bytes are missing that tell of the process",
            help=f"dump it again; {ROOM}",
            kind="not_core",
        )
    named = file.executable
    told = f" (the core file names {named})" if named is not None else ""
    program = exe if exe is not None else named
    if program is None:
        raise UserError(f"{core}: does not tell which program dumped it", help="name it: --exe EXE", kind="no_exe")
    try:
        fits = is_program(file, program)
    except OSError as error:
        said = told if exe is not None else ", the program that dumped it,"
        raise UserError(
            f"{core}: {program}{said} cannot be read: {error.strerror}",
            help=f"name the program where it is now: --core {core} --exe EXE",
            kind="no_exe",
        ) from None
    if not fits:
        raise UserError(
            f"{core}: was not dumped by {program}, or that was compiled anew since{told}",
            help=f"name the one that dumped it: --core {core} --exe EXE",
            kind="wrong_exe",
        )
    return os.path.abspath(core), os.path.abspath(program)


def is_program(core: CoreFile, path: str) -> bool:
    """Whether the executable file at ``path`` is the one that dumped this, as far as both tell.

    Raises:
        OSError: where it cannot be read.
    """
    headers, count = core.program_headers or (0, 0)
    entry = core.auxiliary.get(AT_ENTRY, 0)
    with open(path, "rb") as file:
        content = file.read(ELF_HEADER.size)
        if len(content) < ELF_HEADER.size or not content.startswith(b"\x7fELF"):
            return False
        _, _, _, _, file_entry, at, _, _, _, size, file_count, _, _, _ = ELF_HEADER.unpack(content)
        if not headers:
            return True
        if size != PROGRAM_HEADER.size or file_count != count:
            return False
        file.seek(at)
        table = list(PROGRAM_HEADER.iter_unpack(file.read(count * size).ljust(count * size, b"\0")))
        first = next((address - offset for kind, _, offset, address, *_ in table if kind == PT_LOAD), 0)
        if file_entry - (first + at) != entry - headers:
            return False
        # The notes hold the build-id.
        for kind, _, offset, address, _, held, _, _ in table:
            if kind != PT_NOTE or held > MAX_NOTES:
                continue
            file.seek(offset)
            try:
                if core.read(headers - (first + at) + address, held) != file.read(held):
                    return False
            except NotInCore:
                continue
    return True
