"""What a wheel has besides programs: licences of what is compiled into them, nothing of the machine that made it."""

from __future__ import annotations

import pathlib
import re
from typing import Iterator, List, Set

from release.roots import Failed

PROJECT = pathlib.Path(__file__).resolve().parents[2]

#: What has to be there, below licenses/ of the wheel.
_LICENCES = (
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "third-party/notices.txt",
    "third-party/rust-standard-library.html",
)
#: Where a message of a crate comes from, as the compiler writes it into a program.
_CRATE = re.compile(rb"registry/src/[^/\0]+/([A-Za-z0-9_-]+)-(\d+\.\d+\.\d+[^/\0]*)/")


def check_contents(package: pathlib.Path) -> List[str]:
    """A line for each thing, of the unpacked wheel. Raises Failed where something is missing or too much."""
    information = next(package.glob("mpi_queues-*.dist-info"))
    told = (information / "METADATA").read_text(encoding="utf-8")
    for name in _LICENCES:
        if not (information / "licenses" / name).is_file() or f"\nLicense-File: {name}\n" not in told:
            raise Failed(f"the wheel has no {name} below licenses/")
    notices = (information / "licenses" / "third-party" / "notices.txt").read_text(encoding="utf-8")
    crates = {" ".join(found) for found in re.findall(r"([\w-]+) (\d+\.\d+\.\d+\S*?)(?=,|$)", notices, re.MULTILINE)}
    missing = sorted(_seen(package) - crates)
    if missing:
        raise Failed(f"in programs of the wheel, and not in notices.txt: {', '.join(missing)}")
    places = sorted(_places(package))
    if places:
        raise Failed(f"names of this machine's directories are in {', '.join(places)}")
    return [f"licences of {len(crates)} crates"]


def _seen(package: pathlib.Path) -> Set[str]:
    """Crates that programs name in their own messages: not all that are in them, and a truth of its own."""
    found = {match for path in _files(package) for match in _CRATE.findall(path.read_bytes())}
    if not found:
        raise Failed("the programs of the wheel name no crate")
    return {f"{name.decode()} {version.decode()}" for name, version in found}


def _places(package: pathlib.Path) -> Iterator[str]:
    """Files in which the directories of the sources or of who made it are."""
    home = str(pathlib.Path.home() / ".cargo").encode()
    for path in _files(package):
        data = path.read_bytes()
        if str(PROJECT).encode() in data or home in data:
            yield str(path.relative_to(package))


def _files(package: pathlib.Path) -> List[pathlib.Path]:
    return [path for path in sorted(package.rglob("*")) if path.is_file()]
