"""What the programs and libraries of a wheel need of the machine that they run on."""

from __future__ import annotations

import pathlib
import re
import subprocess
from typing import List, Tuple

from release.roots import Failed

#: The oldest C library that wheels are for: manylinux_2_17.
GLIBC = (2, 17)

_LIBRARIES = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux[-a-z0-9_]*)\.so\.\d+")
_FILES = ("_native.abi3.so", "bin/mpi-queues-agent", "lib/libmpi_queues_recorder.so", "lib/libmpi_queues_mqs.so")


def check_needs(package: pathlib.Path, machine: str) -> List[str]:
    """A line for each. Raises Failed where one is missing, is not for ``machine`` (readelf's name), or needs more."""
    return [_check(package / "mpi_queues" / name, machine) for name in _FILES]


def _check(path: pathlib.Path, machine: str) -> str:
    if not path.is_file():
        raise Failed(f"the wheel has no {path.name}")
    shown = _readelf(path, "--file-header", "--dynamic", "--version-info")
    if re.search(rf"^ *Machine: .*{machine}$", shown, re.MULTILINE) is None:
        raise Failed(f"{path.name} is not for {machine}")
    others = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", shown) if _LIBRARIES.fullmatch(name) is None]
    if others:
        raise Failed(f"{path.name} needs {', '.join(others)}")
    newest = max((_number(found) for found in re.findall(r"Name: GLIBC_(\d+(?:\.\d+)+)", shown)), default=None)
    if newest is not None and newest[:2] > GLIBC:
        raise Failed(f"{path.name} needs glibc {'.'.join(map(str, newest))}")
    needs = "static" if newest is None else f"glibc {'.'.join(map(str, newest))} and later"
    return f"{path.name}: {path.stat().st_size} bytes, {needs}"


def _number(version: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _readelf(path: pathlib.Path, *options: str) -> str:
    return subprocess.run(["readelf", "--wide", *options, path], capture_output=True, text=True, check=True).stdout
