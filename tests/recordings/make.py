"""``make recordings``: runs our own programs to where they hang, and records them.

Nothing in a recording is of the machine on which it was made: the program is compiled in a directory below /tmp, its
environment is a bare one, and the host is called ``node1`` (which needs root). What each was made from is noted in
``made.json``.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import pathlib
import shutil
import socket
import sys
import tempfile
from typing import Callable, Dict, Iterator, NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from mpi_queues import jobs
from mpi_queues.cli import command_line as cli
from mpi_queues.cli import demo
from mpi_queues.jobs import Job
from support.paths import PROJECT

from recordings import corpus, keep

#: The file that says from what each recording was made.
MADE = pathlib.Path(__file__).with_name("made.json")


class Recipe(NamedTuple):
    """One recording: its file, the source of its program, what compiles that into a directory, and its ranks."""

    file: pathlib.Path
    source: pathlib.Path
    build: Callable[[pathlib.Path], pathlib.Path]
    ranks: int


#: All that are made; one line each.
RECIPES = [
    Recipe(demo.RECORDING, demo.SOURCE, demo.compile_demo, demo.RANKS),
]


def digest(path: pathlib.Path) -> str:
    """The SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def name(path: pathlib.Path) -> str:
    """A file as ``made.json`` names it."""
    return path.resolve().relative_to(PROJECT).as_posix()


def main() -> int:
    """Makes all recordings anew, but those that are kept; of the corpus those that are named, and then no others."""
    _become_node1()
    names = sys.argv[1:]
    if names:
        with _neutral_launcher():
            corpus.make(names)
        return 0
    made: Dict[str, Dict[str, str]] = {}
    with _neutral_launcher():
        for recipe in RECIPES:
            record(recipe)
            made[name(recipe.file)] = {
                "sha256": digest(recipe.file),
                "source": name(recipe.source),
                "source_sha256": digest(recipe.source),
            }
            print(f"{name(recipe.file)}: {recipe.file.stat().st_size} bytes")
        keep.main()
        corpus.make([])
    MADE.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    return 0


def _become_node1() -> None:
    """Gives this process, and what it starts, a host name of its own (unshare(2))."""
    clone_newuts = 0x04000000
    if ctypes.CDLL(None, use_errno=True).unshare(clone_newuts):
        sys.exit(f"recordings are made by root: {os.strerror(ctypes.get_errno())}")
    socket.sethostname("node1")


@contextlib.contextmanager
def _neutral_launcher() -> Iterator[None]:
    """Open MPI keeps the command line of each rank in MPI_INFO_ENV: what starts them lies in a neutral place."""
    with tempfile.TemporaryDirectory(prefix="launcher-", dir="/tmp") as place:
        plain = jobs.RANK_SCRIPT, sys.executable
        jobs.RANK_SCRIPT, sys.executable = pathlib.Path(shutil.copy(jobs.RANK_SCRIPT, place)), "/usr/bin/python3"
        try:
            yield
        finally:
            jobs.RANK_SCRIPT, sys.executable = plain


def record(recipe: Recipe) -> None:
    """Runs the program and records its ranks, read by gdb."""
    with tempfile.TemporaryDirectory(prefix="recording-", dir="/tmp") as place:
        program = recipe.build(pathlib.Path(place))
        bare = {"PATH": "/usr/bin:/bin", "HOME": place, "LC_ALL": "C"}
        unset = {variable: None for variable in os.environ if variable not in bare}
        with Job(program, ranks=recipe.ranks, env={**unset, **bare}, cwd=place) as job:
            pids = [part for pid in job.pids for part in ("--pid", str(pid))]
            status = cli.main(["record", *pids, "-o", str(recipe.file)])
            if status:
                sys.exit(status)


if __name__ == "__main__":
    sys.exit(main())
