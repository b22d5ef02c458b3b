"""gdb's files, and those that the process runs: the same where they can be had, and else none."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import gdb

from ..debuggers.mapped_images import Files, Image, Mistaken
from ..debuggers.running_files import RunningFiles
from ..system import files as system_files
from . import quiet as gdb_quiet
from . import text as gdb_text
from .text import text

#: A line of `info sharedlibrary` (gdb/solib.c: info_sharedlibrary_command): where .text begins, whether symbols were
#: read, and the name.
_LIBRARY = re.compile(r"^(?:(0x[0-9a-f]+) +0x[0-9a-f]+)? +(?:Yes|No)(?: \(\*\))? +(\S.*)$", re.MULTILINE)

#: What gdb puts before the names of files that it reads through a remote target.
_REMOTE = "target:"


class Compared(NamedTuple):
    """The files that a process runs, and those of them for which gdb has another one, or none, since it attached."""

    files: RunningFiles
    mistaken: List[Mistaken]


def attach(pid: int) -> Optional[Compared]:
    """Attaches the selected inferior, which has no program yet. What stands at the paths of its program and libraries
    now is not used where it is another file. None where gdb could not be asked which files it has.

    Raises:
        gdb.error: where gdb cannot attach.
    """
    files = RunningFiles(pid)
    link = files.replaced_executable()
    # gdb would offer to load what stands at the path, and whoever reads this has compared them.
    with gdb_quiet.settings({"exec-file-mismatch": "off", "confirm": "off"}):
        if link is not None:
            # Where gdb cannot read it it attaches without.
            with contextlib.suppress(gdb.error):
                gdb_text.execute(f"file {link}")
        gdb_text.execute(f"attach {pid}")
        files.forget()
        with contextlib.suppress(gdb.error):
            return Compared(files, mend(files))
    return None


def known(files: RunningFiles) -> Tuple[object, ...]:
    """On what :func:`mistaken` depends: equal where it would say the same again."""
    files_of_gdb = [one for one in gdb.current_progspace().objfiles() if one.is_valid()]
    ours = [(_name(one), str(one.build_id), _as_it_is_now(_path(one))) for one in files_of_gdb]
    return (files.listed, text(lambda: gdb.current_progspace().filename), tuple(ours))


def _as_it_is_now(path: str) -> Optional[Tuple[int, int, int, int]]:
    try:
        about = system_files.about(path)
    except (OSError, ValueError):
        return None
    return about.device, about.inode, about.written, about.size


def mistaken(files: Files) -> List[Mistaken]:
    """The images of the selected inferior for which gdb has another file, or none."""
    executable = files.executable()
    by_name = _objfiles()
    found = []
    libraries = _libraries(files)
    for image in files.images():
        is_executable = executable is not None and image.start == executable.start
        name = text(lambda: gdb.current_progspace().filename) if is_executable else libraries.get(image.start, "")
        objfile = by_name.get(name)
        if objfile is None:
            objfile = next((one for one in by_name.values() if _stands_for(files, image, one)), None)
        if objfile is None:
            found.append(Mistaken(image, None, is_executable))
        elif not _is_same(files, image, objfile):
            found.append(Mistaken(image, _path(objfile), is_executable))
    return found


def mend(files: RunningFiles) -> List[Mistaken]:
    """Takes away what gdb has of other files than those of the selected inferior, and gives it the right ones. Returns
    those for which it has another one, or none, after that."""
    wrong = mistaken(files)
    # Who has told gdb to load no libraries knows why.
    if not wrong or gdb_quiet.shown("auto-solib-add") == "off":
        return wrong
    if any(one.path is not None and not one.is_executable for one in wrong):
        # One library cannot be taken away alone.
        keep = _libraries(files)
        bad = {one.image.start for one in wrong}
        gdb_text.execute("nosharedlibrary")
        with gdb_quiet.settings({"auto-solib-add": "off"}):
            patterns = {_pattern(name) for start, name in keep.items() if start not in bad}
            others = {name for start, name in keep.items() if start in bad}
            for pattern in patterns:
                if not any(_fits(pattern, name) for name in others):
                    gdb_text.execute(f"sharedlibrary {pattern}")
    for one in mistaken(files):
        _load(files, one)
    return mistaken(files)


def _load(files: RunningFiles, one: Mistaken) -> None:
    # Only numbers of ours are in these paths: no name of the target's comes into a command.
    path = files.link(one.image)
    if path is None:
        return
    with contextlib.suppress(gdb.error):
        if one.is_executable:
            gdb_text.execute(f"file {path}")
        else:
            gdb_text.execute(f"add-symbol-file {path} -o {files.bias(one.image):#x}")


def _fits(pattern: str, name: str) -> bool:
    """Whether such a pattern is also that of another name."""
    inner = pattern[1:-1]
    return len(inner) == len(name) and all(one in (".", char) for one, char in zip(inner, name))


def _pattern(name: str) -> str:
    """A regular expression for one name that has nothing but letters, digits and points: it goes into a command."""
    return "^" + "".join(char if char.isascii() and (char.isalnum() or char in "/_-") else "." for char in name) + "$"


def _objfiles() -> Dict[str, Any]:
    """By the names that gdb was given, which are those of the dynamic linker, and by its own."""
    found: Dict[str, Any] = {}
    for one in gdb.current_progspace().objfiles():
        # Separate debug information belongs to a file that is compared itself.
        if not one.is_valid() or getattr(one, "owner", None) is not None:
            continue
        for name in (_name(one), text(functools.partial(getattr, one, "username", None))):
            if name:
                found.setdefault(name, one)
    return found


def _libraries(files: Files) -> Dict[int, str]:
    """By where an image begins, what the dynamic linker calls it: of those that gdb has in its list."""
    found: Dict[int, str] = {}
    rest = []
    for begin, name in _listed():
        image = files.image_at(begin) if begin is not None else None
        if image is not None:
            found.setdefault(image.start, name)
        else:
            rest.append(name)
    # Of another file .text may begin where nothing is, and of none nowhere.
    for image in files.images():
        same = [name for name in rest if os.path.basename(name) == os.path.basename(image.name)]
        if image.start not in found and len(same) == 1:
            found[image.start] = same[0]
    return found


def _listed() -> List[Tuple[Optional[int], str]]:
    try:
        told = gdb_text.execute("info sharedlibrary")
    except gdb.error:
        return []
    return [(int(begin, 16) if begin else None, name) for begin, name in _LIBRARY.findall(told)]


def _stands_for(files: Files, image: Image, objfile: Any) -> bool:
    """Whether a file that gdb has under another name is the very one: one that was loaded by hand."""
    own = objfile.build_id
    return own is not None and str(own).lower() == files.build_id(image)


def _is_same(files: Files, image: Image, objfile: Any) -> bool:
    name, path = _name(objfile), _path(objfile)
    if not files.is_same(image, path, str(objfile.build_id) if objfile.build_id else None):
        return False
    # gdb may open a file by its name again whenever it reads of it. Through a target it reads from the process's own
    # tree of directories.
    return name != path or files.is_same(image, path)


def _path(objfile: Any) -> str:
    return _name(objfile).removeprefix(_REMOTE)


def _name(objfile: Any) -> str:
    return text(lambda: objfile.filename)
