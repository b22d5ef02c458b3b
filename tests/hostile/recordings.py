"""Recordings of strangers: damaged ones, ones whose strings steer terminals, and small files that unpack to much.

Of each seed follow which kept recording, which of its frames, and what is done to it: bytes anywhere in the file, or
something in a frame whose checksums are right again: bytes, numbers, values of its JSON, lines; frames left out,
doubled, moved. Each is looked at as the command line does. Every fourth seed is a bomb, which must be told as such.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import struct
import sys
import tempfile
import unicodedata
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from mpi_queues.cli import command_line as cli
from support import recording_file
from support.paths import PROJECT

from .guarded import Run, guarded

SHORT = range(4)
LONG = range(200)
MPIS: Tuple[str, ...] = ()

KEPT = sorted((PROJECT / "tests" / "recordings").rglob("*.mpirec"))

#: A terminal takes each of these for more than a character; so would a reader of lines the newline.
NASTY = (
    "\x1b]0;owned\x07\x1b[2J\r\x7f\x85\x9b31m\u061c\u200b\u202e\u2028\u2029\u2066\ufeff\U000e0041\n"
    + "INJECTED: fine\t"
)

#: What the command line is asked, by the seed.
LOOKS: Tuple[Tuple[str, ...], ...] = (
    ("show",),
    ("show", "--format", "json"),
    ("diagnose",),
    ("diagnose", "-v"),
    ("diagnose", "--format", "json"),
    ("comms", "-v"),
    ("handles", "all"),
    ("show", "--by", "difference"),
    ("show", "--by", "communicator"),
    ("layouts", "check"),
)

Frames = List[Tuple[str, bytes]]


def runs(seeds: Sequence[int], mpi: Optional[str] = None) -> Iterator[Run]:
    """One run a seed."""
    for seed in seeds:
        yield _run(seed)


def _run(seed: int) -> Run:
    chance = random.Random(seed)
    names = sorted(BOMBS)
    if seed % 4 == 0:
        name = names[seed // 4 % len(names)]
        what, content = f"bomb, {name}", BOMBS[name]()
    else:
        what, content = damaged(chance)
    words = LOOKS[seed % len(LOOKS)]
    outcome = guarded(lambda: look(content, words))
    what = f"{seed}: {what}; {' '.join(words)}"
    problems = list(outcome.problems)
    if outcome.value is None:
        return Run(what, tuple(problems), outcome.seconds, "ended")
    status, problem = outcome.value
    if problem:
        problems.append(problem)
    return Run(what, tuple(problems), outcome.seconds, {0: "read", 1: "read in part"}.get(status, "refused"))


def look(content: bytes, words: Tuple[str, ...]) -> Tuple[int, str]:
    """Runs a command on such a recording in this process: its status, and what is wrong with its output."""
    with tempfile.NamedTemporaryFile(suffix=".mpirec") as file:
        file.write(content)
        file.flush()
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            status = cli.main([*words, "--recording", file.name])
    told = unclean(out.getvalue()) or unclean(error.getvalue())
    if "json" in words and not told:
        json.loads(out.getvalue())
    if status not in (0, 1, 3):
        told = told or f"status {status}: {error.getvalue()[:300]}"
    if status != 0 and not error.getvalue():
        told = told or f"status {status} without a word"
    return status, told


def unclean(text: str) -> str:
    """What in a text a terminal must not see; empty where nothing is."""
    for char in text:
        if char not in "\n\t" and (unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs")):
            return f"U+{ord(char):04X} is printed: {text[:2000]!r}"
    if any(line.startswith("INJECTED") for line in text.splitlines()):
        return f"a name of the recording made a line of its own: {text[:2000]!r}"
    return ""


def damaged(chance: random.Random) -> Tuple[str, bytes]:
    """What was done, and the file."""
    path = chance.choice(KEPT)
    if chance.random() < 0.2:
        content = bytearray(path.read_bytes())
        count = chance.choice((1, 5, 100, 5000))
        for _ in range(count):
            content[chance.randrange(len(content))] = chance.randrange(256)
        cut = chance.randrange(len(content)) if chance.random() < 0.3 else len(content)
        return f"{path.name}, {count} bytes of the file, cut at {cut}", bytes(content[:cut])
    frames = list(recording_file.frames(path))
    kinds = sorted({kind for kind, _ in frames})
    kind = chance.choice(kinds)
    how = chance.choice(CHANGES)
    changed = how(frames, kind, chance)
    return f"{path.name}, {kind}: {(how.__doc__ or '').strip()}", recording_file.recording(changed)


def _each(frames: Frames, kind: str, change: Callable[[bytes], bytes]) -> Frames:
    return [(name, change(raw) if name == kind else raw) for name, raw in frames]


def _bytes(frames: Frames, kind: str, chance: random.Random) -> Frames:
    """bytes of the content"""

    def change(raw: bytes) -> bytes:
        out = bytearray(raw)
        for _ in range(chance.choice((1, 10, len(out) // 100 + 1))):
            if out:
                out[chance.randrange(len(out))] = chance.randrange(256)
        return bytes(out)

    return _each(frames, kind, change)


def _numbers(frames: Frames, kind: str, chance: random.Random) -> Frames:
    """words of the content"""

    def change(raw: bytes) -> bytes:
        out = bytearray(raw)
        for _ in range(chance.choice((1, 20))):
            if len(out) >= 8:
                at = chance.randrange(len(out) // 8) * 8
                value = chance.choice((0, 1, 0x7FFF_FFFF, 1 << 32, (1 << 64) - 1, chance.randrange(1 << 48)))
                out[at : at + 8] = struct.pack("<Q", value)
        return bytes(out)

    return _each(frames, kind, change)


def _values(frames: Frames, kind: str, chance: random.Random) -> Frames:
    """values of the JSON"""
    strange: Tuple[Any, ...] = (
        None,
        -1,
        0,
        1 << 31,
        (1 << 63) - 1,
        -(1 << 63),
        1e300,
        True,
        "",
        NASTY,
        "x" * 100_000,
        [],
        {},
    )

    def walk(value: Any) -> Any:
        if chance.random() < 0.02:
            return chance.choice(strange)
        if isinstance(value, dict):
            return {key: walk(one) for key, one in value.items()}
        return [walk(one) for one in value] if isinstance(value, list) else value

    return _each(frames, kind, lambda raw: _changed_json(raw, walk))


def _strings(frames: Frames, kind: str, chance: random.Random) -> Frames:
    """strings that steer terminals"""
    return [
        (name, _changed_json(raw, hostile) if name not in ("MEMO", "RNGS", "FALT") else raw) for name, raw in frames
    ]


def _lines(frames: Frames, kind: str, chance: random.Random) -> Frames:
    """lines doubled, shuffled, made long"""

    def change(raw: bytes) -> bytes:
        lines = raw.split(b"\n")
        if chance.random() < 0.5:
            chance.shuffle(lines)
        lines.insert(chance.randrange(len(lines) + 1), b"ffffffffffffffff ffffffffffffffff " + b"n" * 1_000_000)
        return b"\n".join(lines + lines[: chance.randrange(len(lines) + 1)])

    return _each(frames, "SYMS", change)


def _order(frames: Frames, kind: str, chance: random.Random) -> Frames:
    """frames in another order"""
    out = list(frames)
    chance.shuffle(out)
    return out


def _fewer(frames: Frames, kind: str, chance: random.Random) -> Frames:
    """frames left out"""
    return [frame for frame in frames if frame[0] != kind or chance.random() < 0.5]


def _more(frames: Frames, kind: str, chance: random.Random) -> Frames:
    """a frame many times"""
    count = chance.choice((2, 10, 100))
    return [frame for frame in frames for _ in range(count if frame[0] == kind else 1)]


CHANGES: Tuple[Callable[[Frames, str, random.Random], Frames], ...] = (
    _bytes,
    _numbers,
    _values,
    _strings,
    _lines,
    _order,
    _fewer,
    _more,
)


def _changed_json(raw: bytes, change: Callable[[Any], Any]) -> bytes:
    try:
        return json.dumps(change(json.loads(raw))).encode()
    except ValueError:
        return raw


def hostile(value: Any) -> Any:
    """The value with every string in it followed by what a terminal must not see, keys of text tables too."""
    if isinstance(value, str):
        return value + NASTY
    if isinstance(value, list):
        return [hostile(one) for one in value]
    return {key: hostile(one) for key, one in value.items()} if isinstance(value, dict) else value


def hostile_recording(path: Path) -> bytes:
    """A kept recording in which the process's own words are such; what a reader decides by is as it was."""

    def change(kind: str, raw: bytes) -> bytes:
        if kind not in ("INFO", "PROC", "STAK", "PEND"):
            return raw
        content = json.loads(raw)
        if kind == "PROC":
            # Other words for the byte order or an image's file would make it unreadable.
            facts = {key: hostile(one) for key, one in content["facts"].items() if key != "environment"}
            content = {**content, "tool": content["tool"] + NASTY, "facts": {**content["facts"], **facts}}
            content["images"][0]["path"] += NASTY
            return json.dumps(content).encode()
        return json.dumps(hostile(content)).encode()

    return recording_file.recording((kind, change(kind, raw)) for kind, raw in recording_file.frames(path))


def _frames_with(more: Sequence[Tuple[str, bytes]], *, before: str = "PEND") -> bytes:
    """The smallest kept recording with more frames in its first process."""
    out: Frames = []
    done = False
    for kind, raw in recording_file.frames(min(KEPT, key=lambda path: path.stat().st_size)):
        if kind == before and not done:
            out += more
            done = True
        out.append((kind, raw))
    return recording_file.recording(out)


def _repeated(kind: str, raw: bytes, count: int) -> bytes:
    return recording_file.frame(kind, raw) * count


def _many_ends() -> bytes:
    return _frames_with([]) + _repeated("DONE", b" " * (31 << 20) + b"{}", 1000)


def _many_infos() -> bytes:
    return recording_file.FIRST_LINE + _repeated("INFO", b"\xff" * (31 << 20), 1000)


def _many_frames() -> bytes:
    return recording_file.FIRST_LINE + _repeated("NEWS", b"", 300_000)


def _many_processes() -> bytes:
    frames = list(recording_file.frames(KEPT[0]))
    one = [frame for frame in frames[: [kind for kind, _ in frames].index("PEND") + 1] if frame[0] in ("PROC", "PEND")]
    return recording_file.FIRST_LINE + b"".join(recording_file.frame(*frame) for frame in one) * 5_000


def _symbols_in_many() -> bytes:
    lines = b"".join(b"%x - s%d\n" % (number, number) for number in range(1 << 20))[: 30 << 20].rpartition(b"\n")[0]
    frames = list(recording_file.frames(KEPT[0]))
    process = next(frame for frame in frames if frame[0] == "PROC")
    one = b"".join(recording_file.frame(*frame) for frame in (process, ("SYMS", lines), ("PEND", b"{}")))
    return recording_file.FIRST_LINE + one * 15


def _blanks_in_many() -> bytes:
    frames = list(recording_file.frames(KEPT[0]))
    process = next(frame for frame in frames if frame[0] == "PROC")
    blank = recording_file.frame("STAK", b" " * (31 << 20) + b"[]")
    one = recording_file.frame(*process) + blank * 4 + recording_file.frame("PEND", b"{}")
    return recording_file.FIRST_LINE + one * 100


#: Small files that unpack to much; how they are made.
BOMBS: Dict[str, Callable[[], bytes]] = {
    "thousands of ends of 31 MiB": _many_ends,
    "thousands of beginnings of 31 MiB": _many_infos,
    "hundreds of thousands of parts": _many_frames,
    "thousands of processes": _many_processes,
    "symbols of 15 processes": _symbols_in_many,
    "blanks in 100 processes": _blanks_in_many,
    "stacks of nothing": lambda: _frames_with([("STAK", b"[" + b"{}," * (10 << 20) + b"{}]")] * 4),
    "frames of nothing": lambda: _frames_with([("STAK", b'[{"frames":[' + b"{}," * (10 << 20) + b"{}]}]")] * 4),
    "threads": lambda: _frames_with(
        [("STAK", json.dumps([{"thread": n, "frames": [{"function": "MPI_Recv"}]} for n in range(100_000)]).encode())]
    ),
    "failed reads": lambda: _frames_with([("FALT", struct.pack("<QQ", 0x1000, 8) * (1 << 20))]),
    "deep JSON": lambda: _frames_with([("STAK", b"[" * (4 << 20))]),
    "a profile of one list": lambda: _frames_with([("PROF", b'{"types":[' + b"0," * (7 << 20) + b"0]}")]),
    "types": lambda: _frames_with([("TYPE", b"{" + b",".join(b'"%d":null' % n for n in range(1 << 20)) + b"}")]),
    "memory of 20 GiB": lambda: _frames_with(
        [
            part
            for number in range(2000)
            for part in (
                ("RNGS", struct.pack("<QQ", 0x7FFF_0000_0000_0000 + (number << 21), 2 << 20)),
                ("MEMO", _ZEROS),
            )
        ]
    ),
}

_ZEROS = bytes(2 << 20)

if __name__ == "__main__":
    sys.exit("type: tests/hostile/run.py recordings")
