"""``make demo`` on bare machines: each thing that is missing is installed, or named with the command that does it."""

from __future__ import annotations

import pathlib
import re
import shlex
import subprocess
import time
from typing import Callable, Dict, List

from release.roots import Failed, Machine, make, say

PROJECT = pathlib.Path(__file__).resolve().parents[2]

#: Those that README.md says it of.
SUITES = ("bookworm", "trixie")
#: What a person has who has fetched the source tree and types make.
_PACKAGES = ["make", "ca-certificates"]

_TREE = "/src/mpi-queues"
_USER = "me"
_SHOWN = r"Deadlock: rank 2 sends tag 21"
_TO_TYPE = re.compile(r"^.*as root, type:  (.*)$", re.MULTILINE)
#: So often at most must somebody type what is named.
_MOST_ROUNDS = 3


def check(suite: str, directory: pathlib.Path, kinds: List[str]) -> List[str]:
    """Lines of what holds, with the seconds that it took. Raises Failed where something does not."""
    base = make(suite, _PACKAGES, directory)
    tree = _source(directory / f"source-{suite}")
    told = []
    for kind in kinds:
        with Machine(base, directory) as machine:
            user = "root" if kind == "root" else _USER
            if user != "root":
                machine.run(f"useradd --create-home --shell /bin/sh {_USER}")
            machine.put(tree, _TREE, user)
            begun = time.monotonic()
            said = KINDS[kind](machine)
            if re.search(_SHOWN, said) is None:
                raise Failed(f"{suite}, {kind}: make demo did not show the deadlock\n{said[-4000:]}")
            told.append(f"{suite}, {kind}: make demo shows the deadlock after {time.monotonic() - begun:.0f} s")
            say(told[-1])
            # The next kind of user need not wait for the same compiler again.
            machine.keep(f"{_TREE}/target", tree)
    return told


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


def _as_root(machine: Machine) -> str:
    return machine.run("make demo", directory=_TREE)


def _with_sudo(machine: Machine) -> str:
    machine.run("apt-get update && apt-get install --yes --no-install-recommends sudo")
    machine.run(f"echo '{_USER} ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/{_USER}")
    return machine.run("make demo", user=_USER, directory=_TREE)


def _without_sudo(machine: Machine) -> str:
    """Does what is named, as root, until it works."""
    for _ in range(_MOST_ROUNDS):
        status, said = machine.try_to("make demo", user=_USER, directory=_TREE)
        if status == 0:
            return said
        named = _TO_TYPE.search(said)
        if named is None:
            raise Failed(f"make demo: no command is named\n{said[-4000:]}")
        say(f"  to type as root: {named[1]}")
        machine.run(f"yes | sh -c {shlex.quote(named[1])}")
    raise Failed(f"make demo: still named something to type after {_MOST_ROUNDS} times")


def _not_in_sudoers(machine: Machine) -> str:
    """sudo is there, and refuses."""
    machine.run("apt-get update && apt-get install --yes --no-install-recommends sudo")
    return _without_sudo(machine)


#: The kinds of person, and what each does until the deadlock is shown.
KINDS: Dict[str, Callable[[Machine], str]] = {
    "root": _as_root,
    "with sudo": _with_sudo,
    "without sudo": _without_sudo,
    "not in sudoers": _not_in_sudoers,
}
