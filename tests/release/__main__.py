"""usage: python -m release archives|recipe|wheels|sdist|newcomer|fresh [OPTION]... (with tests/ in PYTHONPATH, as root)

Checks what a release is made of, in fresh roots of Debian releases: the wheels of dist/, the source distribution,
what README.md tells a newcomer, ``make demo`` of the source tree on bare machines as each kind of person.
``make release-check`` runs all of it. ``fresh --make test`` runs all of the tests there, in an hour or more each.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import Iterable

from release import foreign, fresh, newcomer, older, recipe, sdist, wheels
from release.roots import Failed, say

#: A wheel that any Python from 3.9 and any Linux takes, for a machine.
_WHEEL = "*-cp39-abi3-manylinux*_{}.whl"
#: What dist/ has of a release, one of each.
_ARCHIVES = (_WHEEL.format("x86_64"), _WHEEL.format("aarch64"), "*.tar.gz")
_DIST = pathlib.Path(__file__).resolve().parents[2] / "dist"


def main() -> int:
    """The exit status: 1 where something does not hold."""
    parser = argparse.ArgumentParser(prog="python -m release", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("what", choices=["archives", "recipe", "wheels", "sdist", "newcomer", "fresh"])
    parser.add_argument(
        "--suite",
        action="append",
        metavar="NAME",
        help="only this Debian release (of wheels also xenial, aarch64); again for more",
    )
    parser.add_argument("--kind", action="append", choices=list(fresh.KINDS), help="of fresh: only as this person")
    parser.add_argument(
        "--make",
        action="append",
        metavar="TARGET",
        help="of fresh: this target of the Makefile in place of demo; again for more",
    )
    parser.add_argument("--way", action="append", choices=["wheel", "source"], help="of newcomer: only this way")
    parser.add_argument("--directory", default="/var/tmp", help="where the roots are made (default: /var/tmp; 3 GB)")
    options = parser.parse_args()
    try:
        if options.what == "archives":
            _tell("dist", (_one(pattern).name for pattern in _ARCHIVES))
            return 0
        if options.what == "recipe":
            _tell("recipe", recipe.check())
            return 0
        return _in_roots(options)
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1


def _in_roots(options: argparse.Namespace) -> int:
    if missing := [tool for tool in ("mmdebstrap", "unshare", "qemu-aarch64-static") if shutil.which(tool) is None]:
        raise Failed(f"missing: {' '.join(missing)}; as root, type:  tools/install-missing release")
    if os.geteuid() != 0:
        raise Failed("roots of Debian releases are made by root; as root, type:  make release-check")
    kind = subprocess.run(["stat", "--file-system", "--format=%T", options.directory], capture_output=True, text=True)
    if kind.stdout.strip() == "overlayfs":
        raise Failed(f"{options.directory} is a layer over others, and roots cannot be; name another with --directory")
    # Ended from outside, it removes its roots as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    directory = pathlib.Path(tempfile.mkdtemp(prefix="mpi-queues-release-", dir=options.directory))
    try:
        return _check(options, directory)
    finally:
        shutil.rmtree(directory)


def _check(options: argparse.Namespace, directory: pathlib.Path) -> int:
    modules = {"wheels": wheels, "sdist": sdist, "newcomer": newcomer, "fresh": fresh}
    further = [older.SUITE, foreign.MACHINE] if options.what == "wheels" else []
    for suite in options.suite or [*modules[options.what].SUITES, *further]:
        if suite == older.SUITE and further:
            _tell(suite, older.check(_own_wheel(), directory / suite))
        elif suite in further:
            _tell(suite, foreign.check(_one(_WHEEL.format(suite)), directory / suite))
        elif options.what == "fresh":
            _tell(suite, fresh.check(suite, directory, options.kind or list(fresh.KINDS), options.make or ["demo"]))
        elif options.what == "newcomer":
            ways = options.way or ["wheel", "source"]
            archives = {way: _own_wheel() if way == "wheel" else _one("*.tar.gz") for way in ways}
            _tell(suite, newcomer.check(archives, suite, directory))
        elif options.what == "sdist":
            _tell(suite, sdist.check(_one("*.tar.gz"), suite, directory))
        else:
            _tell(suite, wheels.check(_own_wheel(), suite, directory))
        shutil.rmtree(directory / suite)
    if options.what == "fresh" and "test" not in (options.make or []):
        say("make test was not run there; it takes an hour and more for each of these machines; for it, type:")
        say('  make release-check FRESH="--make demo --make test"')
    return 0


def _own_wheel() -> pathlib.Path:
    return _one(_WHEEL.format(platform.machine()))


def _one(pattern: str) -> pathlib.Path:
    found = sorted(_DIST.glob(pattern))
    if len(found) != 1:
        raise Failed(
            f"dist/ has {len(found)} files {pattern}, and should have one; type:  rm -rf dist && make wheels sdist"
        )
    return found[0]


def _tell(where: str, lines: Iterable[str]) -> None:
    for line in lines:
        say(f"{where}: {line}")


if __name__ == "__main__":
    sys.exit(main())
