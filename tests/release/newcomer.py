"""What README.md tells somebody whose own job hangs, typed on a fresh machine: words to read, seconds of each step.

The machine has what the job needs, an MPI and a C compiler; the commands are those of the page, and a step that is not
there any more is an error.
"""

from __future__ import annotations

import pathlib
import re
import time
from functools import partial
from typing import Dict, Iterator

from release.roots import Failed, Machine, make
from release.wheels import DIAGNOSED, expect

PROJECT = pathlib.Path(__file__).resolve().parents[2]

SUITES = ("bookworm", "trixie")
_PACKAGES = ["openmpi-bin", "libopenmpi-dev", "gcc", "libc6-dev", "ca-certificates"]

_USER = "me"
_PLACE = f"/home/{_USER}"
#: What the page has that is typed: Debian's packages, the environment, the diagnosis.
_INSTALL = re.compile(r"`(apt-get install [^`]*)`")
_ENVIRONMENT = re.compile(r"^```sh\n(.* && .*pip install) \.\n(export PATH=.*)\n```$", re.MULTILINE)
_DIAGNOSE = "mpi-queues diagnose --job mpirun"


def check(archives: Dict[str, pathlib.Path], suite: str, directory: pathlib.Path) -> Iterator[str]:
    """Lines of what holds, for each way (``wheel``, ``source``) and its archive. Raises Failed where it does not."""
    page = (PROJECT / "README.md").read_text(encoding="utf-8")
    install = page.partition("\n## Install\n")[2].partition("\n## ")[0]
    packages, environment = _INSTALL.findall(install), _ENVIRONMENT.search(install)
    head, permission, _ = page.partition("\n## Permission\n")
    if len(packages) != 2 or environment is None or _DIAGNOSE not in head or not permission:
        raise Failed("README.md does not tell any more what is typed here; change tests/release/newcomer.py with it")
    yield f"{len(head.split())} words of README.md until all of that is installed"
    root = make(suite, _PACKAGES, directory)
    for way, archive in archives.items():
        with Machine(root, directory) as machine:
            machine.run(f"useradd --create-home --shell /bin/sh {_USER}")
            machine.put(archive, f"{_PLACE}/{archive.name}", _USER)
            machine.put(PROJECT / "docs" / "examples" / "heat.c", f"{_PLACE}/heat.c", _USER)
            machine.run("mpicc -g -O1 -o heat heat.c", _USER, _PLACE)
            needed = packages[:1] if way == "wheel" else packages
            install = " && ".join(["apt-get update", *(line.replace("install", "install --yes", 1) for line in needed)])
            given, place = f"./{archive.name}", _PLACE
            if way == "source":
                given, place = ".", f"{_PLACE}/tree"
                machine.run(f"mkdir tree && tar -xzf {archive.name} -C tree --strip-components=1", _USER, _PLACE)
            total = 0.0
            for what, do in (
                (" && ".join(["apt-get update", *needed]), partial(machine.run, install)),
                (f"pip install {given}", partial(machine.run, f"{environment[1]} {given}", _USER, place, 7200)),
                (_DIAGNOSE, partial(_diagnosed, machine, environment[2])),
            ):
                begun = time.monotonic()
                do()
                total += time.monotonic() - begun
                yield f"by {way}: {what}: {time.monotonic() - begun:.0f} s"
            yield f"by {way}: all of it: {total / 60:.1f} minutes"


def _diagnosed(machine: Machine, path: str) -> None:
    """The job hangs in a moment; who asks earlier asks again."""
    said = machine.run(
        f"{{ mpirun --oversubscribe -n 2 ./heat 100000 >job.log 2>&1 & }}; pid=$!; i=0; {path}; "
        f"until {_DIAGNOSE} >said.txt 2>&1 && grep -q ^Deadlock said.txt || [ $i = 60 ]; "
        "do i=$((i+1)); sleep 0.5; done; kill $pid; cat said.txt job.log",
        _USER,
        _PLACE,
        seconds=300,
    )
    expect(said, DIAGNOSED, _DIAGNOSE)
