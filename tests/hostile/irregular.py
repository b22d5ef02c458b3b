"""What a path may lead to instead of a file."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Callable, Dict, Union

Made = Union[Path, str]


def _fifo(place: Path) -> Made:
    os.mkfifo(place)
    return place


def _socket(place: Path) -> Made:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place))
    return place


def _directory(place: Path) -> Made:
    place.mkdir()
    return place


def _loop(place: Path) -> Made:
    place.symlink_to(place.name)
    return place


def _link_to_fifo(place: Path) -> Made:
    os.mkfifo(place.with_name("f"))
    place.symlink_to("f")
    return place


def _empty(place: Path) -> Made:
    place.touch()
    return place


def _sparse(place: Path) -> Made:
    with place.open("wb") as file:
        file.truncate(1 << 40)
    return place


#: By kind, what makes one at a place, or names the one that is there always.
IRREGULAR: Dict[str, Callable[[Path], Made]] = {
    "a FIFO": _fifo,
    "a link to a FIFO": _link_to_fifo,
    "a socket": _socket,
    "a directory": _directory,
    "a loop of links": _loop,
    "an empty file": _empty,
    "a file of 1 TiB": _sparse,
    "/dev/zero": lambda place: "/dev/zero",
    "/dev/full": lambda place: "/dev/full",
    "/proc/self/mem": lambda place: "/proc/self/mem",
    "/proc/kmsg": lambda place: "/proc/kmsg",
}


def make_irregular(kind: str, place: Path) -> str:
    """One of the kind; its path."""
    return str(IRREGULAR[kind](place))
