"""``make`` on bare machines: each thing that is missing is installed, or named with the command that does it."""

from __future__ import annotations

import pathlib
import re
import shlex
import subprocess
import time
from typing import Callable, Dict, Iterator, List

from release.roots import Failed, Machine, make, say

PROJECT = pathlib.Path(__file__).resolve().parents[2]

#: Those that README.md says it of.
SUITES = ("bookworm", "trixie")
#: What a person has who has fetched the source tree and types make.
_PACKAGES = ["make", "ca-certificates"]

_TREE = "/src/mpi-queues"
_USER = "me"
#: What targets of the Makefile have to say besides that they end well; of several lines the last is told.
_SHOWN = {"demo": r"Deadlock: rank 2 sends tag 21", "test": r"^\d+ passed.*"}
_TO_TYPE = re.compile(r"^.*as root, type:  (.*)$", re.MULTILINE)
#: So often at most must somebody type what is named.
_MOST_ROUNDS = 3
#: Of one target (seconds): the whole of make test compiles and fetches much.
_MOST = 4 * 3600


def check(suite: str, directory: pathlib.Path, kinds: List[str], targets: List[str]) -> Iterator[str]:
    """A line for each target of the Makefile, with its time. Raises Failed where one does not end well."""
    base = make(suite, _PACKAGES, directory)
    tree = _source(directory / f"source-{suite}")
    for kind in kinds:
        with Machine(base, directory) as machine:
            if kind != "root":
                machine.run(f"useradd --create-home --shell /bin/sh {_USER}")
            machine.put(tree, _TREE, _user(kind))
            KINDS[kind](machine)
            for target in targets:
                say(f"{suite}, {kind}: make {target} ...")
                begun = time.monotonic()
                said = _made(machine, kind, target)
                minutes = (time.monotonic() - begun) / 60
                shown = re.findall(_SHOWN.get(target, "^"), said, re.MULTILINE)
                if not shown:
                    raise Failed(f"make {target}: this is not in it: {_SHOWN[target]}\n{said[-4000:]}")
                yield f"{kind}: make {target}: {minutes:.1f} minutes; {shown[-1] or 'it ends well'}"
            # The next person need not wait for the same compiler again (but after root, whose crates lie elsewhere).
            machine.keep(f"{_TREE}/target", tree)


def _source(directory: pathlib.Path) -> pathlib.Path:
    """What a clone has, of the files as they are."""
    directory.mkdir()
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT,
        capture_output=True,
        check=True,
    ).stdout
    subprocess.run(
        ["cp", "-a", "--parents", *names.decode().strip("\0").split("\0"), directory], cwd=PROJECT, check=True
    )
    return directory


def _user(kind: str) -> str:
    return "root" if kind == "root" else _USER


def _made(machine: Machine, kind: str, target: str) -> str:
    """What was said in the end. Who may not install anything does what is named, as root, until it works."""
    for _ in range(_MOST_ROUNDS):
        status, said = machine.try_to(f"make {target}", _user(kind), _TREE, _MOST, tell=True)
        if status == 0:
            return said
        named = _TO_TYPE.search(said)
        if named is None or kind not in _NAMED:
            raise Failed(f"make {target}: status {status}\n{said[-4000:]}")
        say(f"  to type as root: {named[1]}")
        machine.run(f"yes | sh -c {shlex.quote(named[1])}")
    raise Failed(f"make {target}: still named something to type after {_MOST_ROUNDS} times")


def _nothing(machine: Machine) -> None:
    pass


def _sudo(machine: Machine) -> None:
    machine.run("apt-get update && apt-get install --yes --no-install-recommends sudo")


def _in_sudoers(machine: Machine) -> None:
    _sudo(machine)
    machine.run(f"echo '{_USER} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/{_USER}")


#: The kinds of person, and what their machines have besides. With "not in sudoers" sudo is there, and refuses.
KINDS: Dict[str, Callable[[Machine], None]] = {
    "root": _nothing,
    "with sudo": _in_sudoers,
    "without sudo": _nothing,
    "not in sudoers": _sudo,
}
#: Those who are told what to type.
_NAMED = ("without sudo", "not in sudoers")
