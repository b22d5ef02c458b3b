"""The data in a page: the snapshot with its diagnosis, which is read again, and the tables for the page's script.

Small ones stand there as they are; large ones are compressed with zlib (RFC 1950) and written in base64 (RFC 4648). Of
very many ranks the snapshot has no processes of its own: what the tables have of them is read again (``kept.py``).
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import zlib
from typing import Any, NamedTuple, Optional

from .._native import Diagnosis, Snapshot, printable_json
from ..errors import UserError
from ..system.files import Path, opened
from ..system.json_values import count_values
from ..system.paths import shown
from .kept import NOTE, processes

#: The first bytes of a page that has data in it.
MARK = "<!DOCTYPE html><!-- mpi-queues report 1 -->\n"

#: The JSON of more ranks than this takes longer to write and to read than a person waits, and has gigabytes.
MOST_WHOLE = 2048

#: A larger text is compressed.
_PLAIN = 128 << 10

#: A larger file is none of ours, and a larger text in it neither, in bytes.
_LARGEST_FILE, _LARGEST_TEXT = 256 << 20, 512 << 20

#: The tables of very many ranks are not longer, in bytes, and have no more values: each is an object of Python.
_LARGEST_TABLES, _MOST_VALUES = 96 << 20, 12 << 20

#: What they say of the processes has no more letters than the first and so many times the file, nor than the last.
_LISTED = (96 << 20, 96, 384 << 20)

#: As elements are written here; nothing of a stranger has these characters.
_DATA = re.compile(
    rb'<script type="application/json" id="(snapshot|tables)" data-form="([a-z]+)"( data-without="processes")?>'
    rb"([^<]*)</script>"
)

#: So that nothing in a text ends the element, or is a line end for scripts only.
_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


class Packed(NamedTuple):
    """JSON as it stands in a page."""

    #: ``json`` or ``zlib``.
    form: str
    text: str
    #: Whether it is a snapshot without its processes.
    without: bool = False


def of_snapshot(diagnosis: Diagnosis) -> Packed:
    """The snapshot with its diagnosis."""
    if len(diagnosis.snapshot.identities()) <= MOST_WHOLE:
        return of_json(diagnosis.to_json())
    return of_json(diagnosis.conclusions())._replace(without=True)


def of_json(text: str) -> Packed:
    """Any JSON."""
    if len(text) <= _PLAIN:
        return Packed("json", in_script(text))
    packed = zlib.compress(text.encode("utf-8", "backslashreplace"), 9 if len(text) < 4 << 20 else 6)
    return Packed("zlib", base64.b64encode(packed).decode("ascii"))


def in_script(text: str) -> str:
    """JSON as it may stand in an element of HTML: in JSON these characters, and those that hide others, are in strings
    only, which may have them as escapes."""
    return printable_json(text).translate(_ESCAPES)


def is_page(path: Path) -> bool:
    """Whether a file begins as our pages do; False where it cannot be opened."""
    try:
        with opened(path) as file:
            return file.read(len(MARK)) == MARK.encode()
    except (OSError, ValueError):
        return False


def read(path: Path) -> Snapshot:
    """The snapshot in a page, with its diagnosis.

    Raises:
        UserError: where there is none, or it is damaged.
    """
    try:
        with opened(path) as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise UserError(f"{shown(os.fspath(path))}: {error.strerror or error}", kind="recording") from None
    if len(content) > _LARGEST_FILE:
        raise _damaged(path, f"it is larger than {_LARGEST_FILE >> 20} MiB")
    found = _packed(content, "snapshot")
    if found is None:
        raise _damaged(path, "it lacks the data that mpi-queues report writes")
    try:
        told = _snapshot(found)
        if not found.without:
            return told
        tables = _packed(content, "tables")
        if tables is None:
            raise ValueError("the tables are not there")
        least, times, most = _LISTED
        listed = processes(_counted(_unpacked(tables)), min(least + times * len(content), most))
        return told.with_processes(Snapshot.from_json(listed), NOTE)
    except (ValueError, zlib.error, RecursionError) as error:
        raise _damaged(path, f"its data cannot be read: {error}") from None


def _snapshot(packed: Packed) -> Snapshot:
    if packed.form == "zlib":
        return Snapshot.from_packed(_decoded(packed.text), _LARGEST_TEXT)
    return Snapshot.from_json(_unpacked(packed))


def _counted(text: str) -> Any:
    """What JSON says, as objects of Python.

    Raises:
        ValueError: where these are more than any report has.
    """
    values = count_values(text)
    if values > _MOST_VALUES:
        raise ValueError(f"its tables have {values:,} values, and no more than {_MOST_VALUES:,} are read")
    return json.loads(text)


def _packed(content: bytes, name: str) -> Optional[Packed]:
    for found in _DATA.finditer(content):
        if found[1] == name.encode():
            return Packed(found[2].decode(), found[4].decode("utf-8", "replace"), bool(found[3]))
    return None


def _unpacked(packed: Packed) -> str:
    """The JSON of tables, or what stands there as it is.

    Raises:
        ValueError, zlib.error: where it is damaged.
    """
    if packed.form == "json":
        return packed.text
    if packed.form != "zlib":
        raise ValueError(f"this version does not know the form {packed.form}")
    rest = _decoded(packed.text)
    # What unpacks to too much is known before any of it is kept.
    return zlib.decompressobj().decompress(rest, _unpacked_length(rest)).decode("utf-8")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"no base64: {error}") from None


def _unpacked_length(rest: bytes) -> int:
    stream = zlib.decompressobj()
    length = 0
    while rest:
        length += len(stream.decompress(rest, 1 << 20))
        if length > _LARGEST_TABLES:
            raise ValueError(f"it is longer than {_LARGEST_TABLES >> 20} MiB")
        rest = stream.unconsumed_tail
    if not stream.eof:
        raise ValueError("its end is missing")
    return length


def _damaged(path: Path, why: str) -> UserError:
    return UserError(
        f"{shown(os.fspath(path))}: {why}",
        help="write it again: mpi-queues report TARGET... -o FILE.html (a recording of the same hang does as well)",
        kind="recording",
    )
