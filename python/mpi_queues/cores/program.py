"""Whether a program is the one that dumped a core file."""

from __future__ import annotations

import os
import shlex
from typing import Optional, Tuple

from ..debuggers.base import NotInCore
from ..debuggers.kept_files import read_at
from ..errors import UserError
from ..system import files
from ..system.paths import shown
from .file import ROOM, CoreFile
from .format import AT_ENTRY, ELF_HEADER, MAX_NOTES, PROGRAM_HEADER, PT_LOAD, PT_NOTE
from .libraries import named_libraries


def checked_core(core: str, exe: Optional[str]) -> Tuple[str, str]:
    """Absolute paths of a core file and of the program that dumped it, after a look at both.

    Raises:
        UserError: that names what does not fit, and what to type.
    """
    file = CoreFile(core)
    if file.truncated and not file.auxiliary:
        # gcore writes what it tells of the process last, and no debugger opens a core without it.
        raise UserError(
            f"{shown(core)}: the core file is truncated: {file.truncated} bytes are missing that tell of the process",
            help=f"dump it again; {ROOM}",
            kind="not_core",
        )
    for name in {mapping.name for mapping in file.mappings}:
        if files.is_fifo(name):
            raise UserError(
                f"{shown(core)}: it names {shown(name)} as a file that was mapped, which is a FIFO: a debugger would "
                "wait there",
                help=f"remove or rename it if it is yours, then type the same again: rm {shlex.quote(shown(name))}",
                kind="irregular",
            )
    named = file.executable
    told = f" (the core file names {shown(named)})" if named is not None else ""
    program = exe if exe is not None else named
    if program is None:
        raise UserError(
            f"{shown(core)}: does not tell which program dumped it", help="name it: --exe EXE", kind="no_exe"
        )
    try:
        fits = is_program(file, program)
    except OSError as error:
        said = told if exe is not None else ", the program that dumped it,"
        raise UserError(
            f"{shown(core)}: {shown(program)}{said} cannot be read: {error.strerror}",
            help=f"name the program where it is now: --core {shown(core)} --exe EXE",
            kind="no_exe",
        ) from None
    if not fits:
        raise UserError(
            f"{shown(core)}: was not dumped by {shown(program)}, or that was compiled anew since{told}",
            help=f"name the one that dumped it: --core {shown(core)} --exe EXE",
            kind="wrong_exe",
        )
    _check_libraries(file, program)
    return os.path.abspath(core), os.path.abspath(program)


def _check_libraries(core: CoreFile, program: str) -> None:
    """Looks at the files that the memory of a core names as libraries, before a debugger opens them.

    Raises:
        UserError: for one that is no regular file.
    """
    for name in dict.fromkeys(named_libraries(core, program)):
        what = files.irregular(name)
        if what is not None:
            raise UserError(
                f"{shown(core.path)}: it names {shown(name)} as a library, which is {what}: a debugger could wait "
                "there for ever, so none is used",
                help=f"to see what is there, type: ls -l {shlex.quote(shown(name))}",
                kind="irregular",
            )


def is_program(core: CoreFile, path: str) -> bool:
    """Whether the executable file at ``path`` is the one that dumped this, as far as both tell.

    Raises:
        OSError: where it cannot be read.
    """
    headers, count = core.program_headers or (0, 0)
    entry = core.auxiliary.get(AT_ENTRY, 0)
    with files.opened(path) as file:

        def read(at: int, length: int) -> bytes:
            return read_at(file.fileno(), at, length)

        content = read(0, ELF_HEADER.size)
        if len(content) < ELF_HEADER.size or not content.startswith(b"\x7fELF"):
            return False
        _, _, _, _, file_entry, at, _, _, _, size, file_count, _, _, _ = ELF_HEADER.unpack(content)
        if not headers:
            return True
        if size != PROGRAM_HEADER.size or file_count != count:
            return False
        table = list(PROGRAM_HEADER.iter_unpack(read(at, count * size).ljust(count * size, b"\0")))
        first = next((address - offset for kind, _, offset, address, *_ in table if kind == PT_LOAD), 0)
        if file_entry - (first + at) != entry - headers:
            return False
        # The notes hold the build-id.
        for kind, _, offset, address, _, held, _, _ in table:
            if kind != PT_NOTE or held > MAX_NOTES:
                continue
            try:
                if core.read(headers - (first + at) + address, held) != read(offset, held):
                    return False
            except NotInCore:
                continue
    return True
