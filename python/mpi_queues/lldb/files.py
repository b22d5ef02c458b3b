"""lldb's modules, and the files that the process runs: the same where they can be had, and else none."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import lldb

from ..debuggers.mapped_images import Files, Image, Mistaken
from ..debuggers.running_files import RunningFiles, executable_path
from ..system.paths import shown
from . import settings


def attach(debugger: Any, pid: int) -> Tuple[Any, Any, Any]:
    """Attaches to a process: the target, the process and the error. What stands at the paths of its program and
    libraries now is not used where it is another file."""
    files = RunningFiles(pid)
    link, path = files.replaced_executable(), executable_path(pid)
    target = debugger.CreateTarget(link) if link is not None else debugger.CreateTarget("")
    if not target.IsValid():
        target = debugger.CreateTarget("")
    if link is not None and path is not None:
        module = target.GetModuleAtIndex(0)
        if module.IsValid():
            # lldb looks for the program that the process is said to run, and would take what stands there now.
            module.SetPlatformFileSpec(file_spec(path))
    error = lldb.SBError()
    with settings.patient(debugger):
        process = target.AttachToProcessWithID(lldb.SBListener(), pid, error)
    if error.Success() and process.IsValid():
        files.forget()
        mend(target, files)
    return target, process, error


def mistaken(target: Any, files: Files) -> List[Mistaken]:
    """The images for which lldb has another file, or none."""
    executable = files.executable()
    by_start = _modules(target)
    found = []
    for image in files.images():
        is_executable = executable is not None and image.start == executable.start
        module = by_start.get(image.start)
        if module is None:
            found.append(Mistaken(image, None, is_executable))
        elif not files.is_same(image, path_of(module), uuid(module)):
            found.append(Mistaken(image, path_of(module), is_executable))
    return found


def mend(target: Any, files: RunningFiles) -> None:
    """Takes away what lldb has of other files than those of the process, and gives it the right ones."""
    wrong = mistaken(target, files)
    by_start = _modules(target)
    for one in wrong:
        module = by_start.get(one.image.start)
        if module is not None:
            target.RemoveModule(module)
    for one in wrong:
        path = files.right_file(one.image)
        if path is not None:
            _load(target, files, one.image, path)


def _load(target: Any, files: RunningFiles, image: Image, path: str) -> None:
    spec = lldb.SBModuleSpec()
    spec.SetFileSpec(file_spec(path))
    spec.SetPlatformFileSpec(file_spec(image.name))
    module = target.AddModule(spec)
    if module.IsValid():
        module.SetPlatformFileSpec(file_spec(image.name))
        target.SetModuleLoadAddress(module, files.bias(image))


def _modules(target: Any) -> Dict[int, Any]:
    """By where the first byte of its file lies."""
    found: Dict[int, Any] = {}
    for module in target.module_iter():
        start = module.GetObjectFileHeaderAddress().GetLoadAddress(target)
        if start != lldb.LLDB_INVALID_ADDRESS:
            found[int(start)] = module
    return found


def uuid(module: Any) -> Optional[str]:
    """The build-id of a module's file, as lldb has read it; None without one: of such files lldb makes one up, of four
    bytes."""
    digits = str(module.GetUUIDString() or "").replace("-", "").lower()
    return digits if len(digits) > 8 else None


def file_spec(path: str) -> Any:
    """A path as lldb takes it, as it is: nothing of it is resolved. lldb's interface takes UTF-8 only."""
    return lldb.SBFileSpec(path if path.isascii() or path.isprintable() else shown(path), False)


def path_of(module: Any) -> str:
    """Path of a module's file on this machine."""
    file = module.GetFileSpec()
    return str(file.fullpath or "") if file.IsValid() else ""


def named(module: Any) -> str:
    """What the process calls the file of a module."""
    file = module.GetPlatformFileSpec()
    return str(file.fullpath or "") if file.IsValid() and file.fullpath else path_of(module)
