"""Who opens files that others name: targets, their debug information, launchers, and the user's own arguments.

Each function is given a path, opens it as the product does, and says whether it was answered, and what people are told.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import random
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from mpi_queues import NativeError, _native
from mpi_queues._native import CoreFile, Session
from mpi_queues.cli import command_line as cli
from mpi_queues.debuggers import programs
from mpi_queues.debuggers.base import DebuggerError, ThreadRegisters
from mpi_queues.errors import UserError
from mpi_queues.launchers import tables
from mpi_queues.launchers.tree import ProcessTree
from mpi_queues.system import files
from support import builds, cores
from support.mock_process import MockProcess, stopped
from support.paths import PROGRAMS

from .recordings import KEPT, unclean

#: Whether there was an answer, and what is told of it.
Answer = Tuple[bool, str]


@dataclass(frozen=True)
class Place:
    """Somebody who opens a file."""

    name: str
    #: In a process of its own; the path is one of Python's, which may have surrogates.
    ask: Callable[[str, random.Random], Answer]
    #: What it opens, whole.
    contents: Callable[[], List[bytes]]
    #: Whether what is told names the file.
    names: bool = True
    #: Whether a FIFO or a device is as good as a file: it is written to.
    writes: bool = False
    #: The only name that it has.
    only_name: str = ""


def _said(*words: str) -> Answer:
    """The command line in this process."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            status = cli.main(list(words))
        except SystemExit as ended:
            status = int(ended.code or 0)
    wrong = unclean(out.getvalue()) or unclean(error.getvalue())
    assert not wrong, wrong
    assert status in (0, 1, 2, 3), f"status {status}: {error.getvalue()}"
    assert status == 0 or error.getvalue(), f"status {status} without a word"
    return status in (0, 1), error.getvalue()


@functools.cache
def plain() -> Path:
    """A program of no MPI with debug information."""
    return builds.compile_plain("plain")


@functools.cache
def objects() -> List[bytes]:
    """ELF files of every kind: programs, objects, libraries, with debug information packed and not."""
    made = [plain()]
    for label, flags in (
        ("object", ("-g", "-c")),
        ("packed", ("-g", "-gz=zlib", "-c")),
        ("units", ("-g", "-fdebug-types-section", "-c")),
        ("old", ("-gdwarf-4", "-c")),
        ("library", ("-g", "-shared", "-fPIC")),
        ("optimised", ("-g", "-O2")),
    ):
        made.append(builds.compile_with(["cc"], f"hostile-{label}", [PROGRAMS / "plain.c"], [], language=flags))
    return [path.read_bytes() for path in made]


@functools.cache
def plugins() -> List[bytes]:
    return [builds.debian_plugin().read_bytes()]


@functools.cache
def recorded() -> List[bytes]:
    return [min(KEPT, key=lambda path: path.stat().st_size).read_bytes()]


@functools.cache
def profiles() -> List[bytes]:
    return [_native.layouts_show(name).encode() for name in ("openmpi-4.1", "openmpi-5.0")]


@functools.cache
def dumped() -> Path:
    """The core file of a program of no MPI."""
    with subprocess.Popen([str(plain())], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None and running.stdout.readline()
            return cores.gcore(running.pid, Path(_directory().name) / "core")
        finally:
            running.kill()


@functools.cache
def _directory() -> tempfile.TemporaryDirectory[str]:
    made = tempfile.TemporaryDirectory()
    os.chmod(made.name, 0o755)
    return made


@functools.cache
def mocked() -> MockProcess:
    """A process of no MPI, copied."""
    with subprocess.Popen([str(plain())], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None and running.stdout.readline()
            with stopped(running.pid):
                return MockProcess(running.pid)
        finally:
            running.kill()


class _Imaged(MockProcess):
    """One whose program is a file of somebody's choice, in which its threads stand, and whose memory has the file's
    beginning."""

    def __init__(self, path: str, places: Sequence[int]) -> None:
        self.__dict__.update(mocked().__dict__)
        self._path, self._places = path, places
        self._first = b""
        with contextlib.suppress(OSError), files.opened(path) as file:
            self._first = file.read(1 << 16)

    def images(self) -> Optional[List[Tuple[str, int]]]:
        return [(self._path, 0x10000)]

    def program_headers(self) -> Optional[Tuple[int, int]]:
        return None

    def threads(self, names: Sequence[str]) -> List[ThreadRegisters]:
        held = super().threads(names)[0].registers
        return [ThreadRegisters(at, at, {**held, "rip": 0x10000 + place}) for at, place in enumerate(self._places, 1)]

    def read_memory(self, address: int, length: int) -> bytes:
        if address >= 0x10000 and address + length <= 0x10000 + len(self._first):
            return self._first[address - 0x10000 :][:length]
        return super().read_memory(address, length)


def _image(path: str, chance: random.Random) -> Answer:
    """the image of a process"""
    session = Session(_Imaged(path, [0, 0x1000, 0x1139, 0x1149, *(chance.randrange(1 << 16) for _ in range(8))]))
    told, named = [str(session.info())], False
    for look in (session.standing, session.read):
        try:
            named |= any(frame["function"] for stack in look().processes[0].stacks for frame in stack["frames"])
        except NativeError as error:
            told.append(str(error))
    return named, " ".join(told)


def _table(path: str, chance: random.Random) -> Answer:
    """the table of a launcher"""

    class Tree(ProcessTree):
        def command(self, pid: int) -> Tuple[str, ...]:
            return ("prterun", f"--output-proctable={path}")

        def directory(self, pid: int) -> str:
            return "/"

        def short_name(self, pid: int) -> str:
            return "prterun"

    found = tables.written(Tree(), os.getpid())
    assert found is not None
    return bool(found.rows), " ".join(found.problems)


def _launcher(path: str, chance: random.Random) -> Answer:
    """a launcher"""
    try:
        return True, str(programs.runnable(path, os.defpath))
    except UserError as error:
        return False, str(error)


@contextlib.contextmanager
def _naming(path: str) -> Iterator[int]:
    """A process that names a file as its library."""
    flags = ["-D_GNU_SOURCE"]
    program = builds.compile_with(["gcc"], "names_files", [PROGRAMS / "names_files.c"], flags, language=builds.C_FLAGS)
    running = subprocess.Popen([str(program), path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        assert running.stdout is not None and running.stdout.readline()
        yield running.pid
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
        assert running.stdout is not None
        running.stdout.close()


def _library(path: str, chance: random.Random) -> Answer:
    """a library in the linker's list of a process"""
    with _naming(path) as pid:
        found: object = _native.process_table(pid, {})["found"]
        with contextlib.suppress(NativeError):
            found = found or _native.mpi2dd(pid)
    return bool(found), ""


def _of_core(path: str, exe: Optional[str]) -> Answer:
    try:
        core = CoreFile(path)
        core.environment(b"PATH")
        with contextlib.suppress(DebuggerError):
            core.read((core.program_headers or (0, 0))[0], 64)
        _native.core_session(core, exe).info()
    except NativeError as error:
        return False, str(error)
    return True, ""


def _core(path: str, chance: random.Random) -> Answer:
    """a core file"""
    return _of_core(path, None if chance.random() < 0.5 else str(plain()))


def _program(path: str, chance: random.Random) -> Answer:
    """the program of a core file"""
    return _of_core(str(dumped()), path)


def _profile(path: str, chance: random.Random) -> Answer:
    """a layout profile"""
    try:
        session = Session(mocked(), layouts=path)
        session.info()
    except NativeError as error:
        return False, str(error)
    return True, ""


def _recording(path: str, chance: random.Random) -> Answer:
    """a recording"""
    words = chance.choice((("recording", "info"), ("show", "--recording"), ("diagnose", "--recording")))
    return _said(*words, path)


def _objects(path: str, chance: random.Random) -> Answer:
    """an object to make a profile of"""
    return _said("layouts", "make", path, "--name", "x", "--implementation", "Open MPI", "--mpi-version", "4.1.4")


def _plugin(path: str, chance: random.Random) -> Answer:
    """a plug-in"""
    recording = str(min(KEPT, key=lambda one: one.stat().st_size))
    return _said("show", "--recording", recording, "--source", f"plugin={path}", "--timeout", "5")


def _written(path: str, chance: random.Random) -> Answer:
    """the recording that is written"""
    recording = str(min(KEPT, key=lambda one: one.stat().st_size))
    with _reader(path):
        return _said("record", "--recording", recording, "-o", path)


def _below(path: str, chance: random.Random) -> Answer:
    """the directory of what is written"""
    recording = str(min(KEPT, key=lambda one: one.stat().st_size))
    return _said("record", "--recording", recording, "-o", f"{path}/x")


def _profile_written(path: str, chance: random.Random) -> Answer:
    """the profile that is written"""
    words = ("--name", "x", "--implementation", "Open MPI", "--mpi-version", "4.1.4", "--type", "_IO_FILE", "-o", path)
    with _reader(path):
        return _said("layouts", "make", str(plain()), *words)


def _start_up(path: str, chance: random.Random) -> Answer:
    """the start-up file of gdb"""
    os.environ["HOME"] = os.path.dirname(path)
    os.environ.pop("XDG_CONFIG_HOME", None)
    return _said("init", "gdb", "--write")


@contextlib.contextmanager
def _reader(path: str) -> Iterator[None]:
    """Somebody who reads a FIFO: to write to one is to wait for him."""
    pid = 0
    if files.is_fifo(path):
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException), open(path, "rb") as file:
                file.read(1)
            os._exit(0)
    try:
        yield
    finally:
        if pid:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _text() -> List[bytes]:
    return [b"set confirm off\nset pagination off\n"]


def _rows() -> List[bytes]:
    return [b"".join(b"(rank, host, exe, pid) = (%d, vm, /bin/x, %d)\n" % (rank, 100 + rank) for rank in range(50))]


def _core_contents() -> List[bytes]:
    return [dumped().read_bytes()]


PLACES: Tuple[Place, ...] = tuple(
    Place((ask.__doc__ or "").strip(), ask, contents, **more)  # type: ignore[arg-type]
    for ask, contents, more in (
        (_image, objects, {"names": False}),
        (_core, _core_contents, {}),
        (_program, objects, {}),
        (_library, objects, {"names": False}),
        (_objects, objects, {}),
        (_plugin, plugins, {}),
        (_profile, profiles, {}),
        (_recording, recorded, {}),
        (_table, _rows, {}),
        (_launcher, _text, {}),
        (_written, recorded, {"writes": True}),
        (_profile_written, profiles, {"writes": True}),
        (_below, recorded, {"writes": True}),
        (_start_up, _text, {"only_name": ".gdbinit", "writes": True}),
    )
)


def prepare() -> Dict[str, Path]:
    """All that the places need, made before anything forks."""
    for one in (objects, plugins, recorded, profiles):
        one()
    mocked()
    with _naming("/nowhere"):
        pass
    return {"core": dumped(), "program": plain()}
