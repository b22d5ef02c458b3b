"""The corpus: every program of ``tests/programs/bugs`` and ``fine``, recorded where it has come to what must be found.

There is one pack for each MPI, which is read without any. ``make recordings`` makes them anew, as root; with names
(``tests/recordings/make.py bugs/wrong_tag``) only those programs are recorded again, in the packs that there are.

A pack is xz around a line of JSON, the index, and pieces one behind the other. A recording is some of the pieces put
together: of its first line, and of its frames with their bytes as they are (zlib without compression), cut where they
are long. What recordings share stands in the pack once, and what is alike is compressed together: a few kilobytes are
left of a recording. The ranks run without address randomisation, so that what is the same in two programs lies at the
same place.
"""

from __future__ import annotations

import concurrent.futures
import ctypes
import functools
import hashlib
import json
import lzma
import os
import pathlib
import shutil
import sys
import tempfile
import time
from typing import Any, Dict, List, NamedTuple, Tuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support import builds, diagnosis, paths, recording_file
from support.cli import mpi_queues

PLACE = pathlib.Path(__file__).resolve().parent / "corpus"

#: The MPIs, and what makes them ready.
MPIS = {"openmpi": builds.debian, "mpich": builds.debian_mpich}

#: Programs of which one look does not say all that their heads do, at a job or in a recording: what does not
#: move between two looks tells it. What one look says of them stands in their snapshots.
BY_TWO_LOOKS = {
    "openmpi": ("bugs/lock_against_message",),
    "mpich": (
        "bugs/early_return",
        "bugs/flood",
        "bugs/icollectives_reordered",
        "bugs/lock_against_message",
        "bugs/order_of_messages",
        "bugs/unwaited_isends",
    ),
}

#: One look at the job says it and the recording does not: recordings do not keep that a signal had stopped a process.
NOT_RECORDED = ("bugs/stopped_rank",)

#: For so long it is looked whether a program has come to what must be found, in seconds.
PATIENCE = 180.0

#: Jobs that run at once; nearly all of them wait.
AT_ONCE = 4

#: The most bytes of a piece. Shorter ones save no more in the file, and make the index long.
_PIECE = 4096

#: The dictionary is as long as a pack.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 64 << 20}]


class Recorded(NamedTuple):
    """A recording that is to be packed."""

    #: The digest of what the program was when it was recorded.
    source: str
    #: The file's bytes.
    data: bytes


@functools.cache
def programs(mpi: str) -> Dict[str, diagnosis.Program]:
    """All that there are for an MPI, by the names that their recordings have: ``bugs/wrong_tag``."""
    found = {}
    for folder in ("bugs", "fine"):
        for path in diagnosis.programs(folder):
            program = diagnosis.load(path, mpi == "mpich")
            if program is not None:
                found[f"{folder}/{path.stem}"] = program
    return found


def wrong(mpi: str, name: str, said: Dict[str, Any]) -> List[str]:
    """What is missing in the diagnosis of a recording, and what cannot be true in it, in sentences."""
    program = programs(mpi)[name]
    missing = [] if name in (*BY_TWO_LOOKS[mpi], *NOT_RECORDED) else program.at_one_look().missing(said)
    return missing + (program.untrue(said, one_look=True) if name.startswith("fine/") else [])


def digest_of(program: diagnosis.Program) -> str:
    """Of a program's text but for its head, which says what must be found: that may change."""
    return hashlib.sha256(diagnosis.without_head(program.path).encode()).hexdigest()[:16]


class Pack:
    """The recordings of an MPI."""

    def __init__(self, mpi: str) -> None:
        with lzma.open(PLACE / f"{mpi}.xz") as file:
            index = json.loads(file.readline())
            self._pieces: List[bytes] = [file.read(length) for length in index["pieces"]]
        self._places: Dict[str, List[int]] = {name: one["pieces"] for name, one in index["recordings"].items()}
        #: The MPI as a build is called: ``debian-4.1.4``.
        self.mpi: str = index["mpi"]
        #: By name, the digest of what each program was when it was recorded.
        self.sources: Dict[str, str] = {name: one["source"] for name, one in index["recordings"].items()}

    def data(self, name: str) -> bytes:
        """The file of a recording."""
        return b"".join(self._pieces[place] for place in self._places[name])


@functools.cache
def read(mpi: str) -> Pack:
    """The pack of an MPI."""
    return Pack(mpi)


def write(mpi: str, recordings: Dict[str, Recorded]) -> None:
    """Packs the recordings of an MPI."""
    pieces: Dict[bytes, int] = {}
    told: Dict[str, Any] = {}
    for name, one in sorted(recordings.items()):
        frames = [recording_file.frame(kind, raw, level=0) for kind, raw in recording_file.frames_of(one.data)]
        cut = [
            part[at : at + _PIECE]
            for part in (recording_file.FIRST_LINE, *frames)
            for at in range(0, len(part), _PIECE)
        ]
        places = [pieces.setdefault(piece, len(pieces)) for piece in cut]
        told[name] = {"source": one.source, "pieces": places}
    index = {"mpi": MPIS[mpi]().id, "pieces": [len(piece) for piece in pieces], "recordings": told}
    PLACE.mkdir(exist_ok=True)
    text = json.dumps(index, separators=(",", ":")).encode() + b"\n"
    (PLACE / f"{mpi}.xz").write_bytes(lzma.compress(text + b"".join(pieces), filters=_FILTERS))


def diagnosed(target: List[str]) -> Dict[str, Any]:
    """What ``mpi-queues diagnose`` says of a target; that nothing is known where nothing could be read."""
    result = mpi_queues("diagnose", *target, "--format", "json")
    if result.status == 3:
        return {"diagnosis": [], "verdict": {"state": "unknown"}}
    said: Dict[str, Any] = json.loads(result.out)
    return said


def _record(mpi: str, name: str) -> Tuple[str, str, Recorded]:
    """Runs a program and records it when all is found: live, and then in the recording."""
    program = programs(mpi)[name]
    deadline = time.monotonic() + PATIENCE
    with tempfile.TemporaryDirectory() as place, program.start(MPIS[mpi]()) as job:
        file, target = os.path.join(place, "hang.mpirec"), ["--job", str(job.launcher_pid)]
        while True:
            missing = program.missing(diagnosed(target))
            if not missing:
                result = mpi_queues("record", *target, "-o", file)
                if result.status not in (0, 1):
                    raise SystemExit(str(result))
                # One look may come at another moment than the two before it.
                missing = wrong(mpi, name, diagnosed(["--recording", file]))
            if not missing:
                return mpi, name, Recorded(digest_of(program), pathlib.Path(file).read_bytes())
            if time.monotonic() > deadline:
                raise SystemExit(f"{mpi}: {name}: {missing}")


def _without_randomisation() -> None:
    """For this process and what it starts: personality(2)."""
    addr_no_randomize = 0x0040000
    if ctypes.CDLL(None, use_errno=True).personality(addr_no_randomize) < 0:
        sys.exit(f"the corpus is recorded at fixed addresses: {os.strerror(ctypes.get_errno())}")


def make(names: List[str]) -> None:
    """Records programs, all where none is named, by a process that is ``node1`` and whose launcher is neutral."""
    _without_randomisation()
    neutral = pathlib.Path(tempfile.gettempdir()) / "mpi-queues-corpus"
    shutil.rmtree(neutral, ignore_errors=True)
    sources = neutral / "programs"
    # The lines of calls are looked at in the sources, which lie where the debug information says: in a neutral place.
    for folder in ("bugs", "fine", "common"):
        shutil.copytree(paths.PROGRAMS / folder, sources / folder)
    diagnosis.PROGRAMS = builds.PROGRAMS = sources
    builds.CACHE = neutral / "cache"
    programs.cache_clear()
    kept_environment = dict(os.environ)
    os.environ.clear()
    os.environ.update({"PATH": "/usr/bin:/bin", "HOME": str(neutral), "LC_ALL": "C"})
    place = os.getcwd()
    os.chdir(neutral)
    try:
        wanted = [(mpi, name) for mpi in MPIS for name in programs(mpi) if name in names or not names]
        recorded: Dict[str, Dict[str, Recorded]] = {mpi: {} for mpi in MPIS}
        for mpi, recordings in recorded.items():
            if names:
                pack = read(mpi)
                recordings.update({name: Recorded(digest, pack.data(name)) for name, digest in pack.sources.items()})
        with concurrent.futures.ProcessPoolExecutor(AT_ONCE) as workers:
            for made in [workers.submit(_record, *one) for one in wanted]:
                mpi, name, one = made.result()
                recorded[mpi][name] = one
                print(f"{mpi}: {name}: {len(one.data)} bytes", flush=True)
        for mpi, recordings in recorded.items():
            write(mpi, {name: recordings[name] for name in programs(mpi)})
            print(f"{mpi}: {(PLACE / f'{mpi}.xz').stat().st_size} bytes")
    finally:
        os.chdir(place)
        os.environ.update(kept_environment)
        shutil.rmtree(neutral, ignore_errors=True)
