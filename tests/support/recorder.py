"""Reads what the flight recorder keeps in a process or a core file, by the layout that ``crates/record-format``
documents: a reader of its own, which shares nothing with the product."""

from __future__ import annotations

import functools
import json
import os
import re
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence

from . import installs
from .builds import LANGUAGES, MpiBuild, compile_with, intel_environment
from .cli import mpi_queues
from .jobs import READY_TIMEOUT, TruthfulJob
from .paths import PACKAGE, PROGRAMS, PROJECT

LIBRARY = PACKAGE / "lib" / "libmpi_queues_recorder.so"
MAGIC = b"MPIQ\x01recorder\r\n\0"
NOT_GIVEN = -(1 << 31)
FORTRAN_HANDLE = 1 << 62
LARGE_COUNT, FORTRAN, FORTRAN_2008, SECOND_HALF = 0x1000, 0x2000, 0x4000, 0x8000
OPEN_MPI, MPICH, ABI = 1, 2, 3
TO_THE_SECOND = (1 << 64) - 1
ACTIVE, INACTIVE, STARTED = 1, 2, 3
RUNNING, FINALIZED = 1, 3
FREE, LIVE, ENDED = 0, 1, 2
INTER, OWN_NAME, NOT_SEEN_MADE, BY_FORTRAN, BY_C = 1, 2, 4, 8, 16

Read = Callable[[int, int], bytes]

HEADER = struct.Struct("=16sIIQQIIIIiiiI2Q2Q" + "QII" * 8 + "6Q" + "QII" * 2 + "Q" + "QII" + "4I")
SECTIONS = (
    "functions",
    "threads",
    "calls",
    "request_keys",
    "requests",
    "communicator_keys",
    "communicators",
    "collectives",
)
COUNTERS = ("lost_threads", "lost_calls", "lost_requests", "early_requests", "lost_communicators", "bypassed")


class Thread(NamedTuple):
    calls: int
    current: int
    frame: int
    fortran_frame: int
    id: int
    state: int
    stack_low: int
    stack_high: int
    ring: int
    capacity: int


class Call(NamedTuple):
    number: int
    #: CLOCK_MONOTONIC (ns); None while a short send is under way, of which the second is known.
    time: Optional[int]
    site: int
    caller: int
    object: int
    datatype: int
    count: int
    peer: int
    tag: int
    function: str
    marks: int


class Request(NamedTuple):
    thread: int
    number: int
    request: int
    state: int
    time: int
    site: int
    caller: int
    object: int
    datatype: int
    count: int
    peer: int
    tag: int
    started: int
    started_time: int
    started_site: int
    started_caller: int
    source: int
    source_tag: int
    function: str
    marks: int


class Collective(NamedTuple):
    number: int
    call: int
    site: int
    caller: int
    count: int
    datatype: int
    op: int
    root: int
    function: str


class Communicator(NamedTuple):
    handle: int
    state: int
    flags: int
    identity: int
    parent: int
    children: int
    collectives: int
    order: int
    contents: int
    made: int
    site: int
    rank: int
    size: int
    remote_size: int
    color: int
    latest: List[Collective]


class Message(NamedTuple):
    """Whose a number of messages is."""

    communicator: int
    received: bool
    peer: int
    tag: int


class Section(NamedTuple):
    offset: int
    stride: int
    count: int


@dataclass
class Record:
    """What is in the record at one moment."""

    address: int
    pid: int
    forked_from: int
    family: int
    stage: int
    thread_level: int
    world_rank: int
    world_size: int
    total_bytes: int
    resolution: int
    first: List[int]
    latest: List[int]
    lost: Dict[str, int]
    functions: List[str]
    threads: List[Thread]
    calls: Dict[int, List[Call]]
    requests: List[Request]
    communicators: List[Communicator]
    messages: Dict[Message, int]
    untold: Dict[int, int]
    names_of_communicators: Dict[int, str]

    def call_of(self, row: int = 0) -> Optional[Call]:
        """The call that a thread is in."""
        current = self.threads[row].current
        return next((call for call in self.calls[row] if call.number == current), None)

    def names(self, row: int = 0) -> List[str]:
        """The functions of a thread's calls, in order."""
        return [call.function for call in self.calls[row]]

    def live(self) -> List[Communicator]:
        return [one for one in self.communicators if one.state == LIVE]


def of_pid(pid: int) -> Optional[Record]:
    """That of a process that stands or waits; None where it has none."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:

        def read(address: int, size: int) -> bytes:
            try:
                return os.pread(memory.fileno(), size, address)
            except OSError:
                # It was unmapped meanwhile.
                return b""

        found = [start for start in _private(pid) if read(start, len(MAGIC)) == MAGIC]
        assert len(found) <= 1, found
        if not found:
            return None
        record = parse(read, found[0])
        pointed = by_symbol(pid, read)
        assert pointed == found[0], (pointed, found)
        return record


def of_core(path: Path) -> Record:
    """That of a core file of 64 bits: its segments as ``readelf`` tells them."""
    text = subprocess.run(["readelf", "-lW", str(path)], capture_output=True, text=True, check=True).stdout
    loads = [
        [int(number, 16) for number in match.groups()]
        for match in re.finditer(r"^\s+LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) ", text, re.MULTILINE)
    ]
    with open(path, "rb") as file:

        def read(address: int, size: int) -> bytes:
            for offset, start, length in loads:
                if start <= address and address + size <= start + length:
                    return os.pread(file.fileno(), size, offset + address - start)
            return b""

        (found,) = [start for _, start, length in loads if length and read(start, len(MAGIC)) == MAGIC]
        return parse(read, found)


def by_symbol(pid: int, read: Read) -> int:
    """The address that the exported variable holds."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    (path,) = {line.split(None, 5)[5] for line in maps.splitlines() if LIBRARY.name in line}
    base = min(int(line.split("-")[0], 16) for line in maps.splitlines() if path in line)
    return int.from_bytes(read(base + _offset_of_symbol(path), 8), "little")


@functools.cache
def _offset_of_symbol(path: str) -> int:
    text = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True).stdout
    match = re.search(r"^(\w+) \w mpi_queues_recorder_header$", text, re.MULTILINE)
    assert match is not None
    return int(match[1], 16)


def _private(pid: int) -> Iterator[int]:
    """The starts of mappings that are of no file. One may go on from another, which the kernel then tells as one."""
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        words = line.split()
        if words[1].startswith("rw-p") and words[4] == "0":
            start, end = (int(word, 16) for word in words[0].split("-"))
            yield from range(start, min(end, start + (64 << 20)), 4096) if end - start < (64 << 20) else [start]


def parse(read: Read, address: int) -> Record:
    fields = HEADER.unpack(read(address, HEADER.size))
    assert fields[0] == MAGIC and fields[1] == 1 and fields[2] == HEADER.size, fields[:4]
    total, own = fields[3:5]
    assert own == address
    pid, forked_from, family, stage, level, rank, size, resolution = fields[5:13]
    first, newest = list(fields[13:15]), list(fields[15:17])
    parts = fields[17 : 17 + 3 * len(SECTIONS)]
    sections = {name: Section(*parts[3 * at : 3 * at + 3]) for at, name in enumerate(SECTIONS)}
    rest = fields[17 + 3 * len(SECTIONS) :]
    lost = dict(zip(COUNTERS, rest))
    sections["message_keys"], sections["message_counts"] = Section(*rest[6:9]), Section(*rest[9:12])
    lost["lost_messages"] = rest[12]
    sections["communicator_names"] = Section(*rest[13:16])
    tables = {
        name: read(address + one.offset, one.stride * one.count)
        for name, one in sections.items()
        if name != "collectives"
    }

    def rows(name: str) -> Iterator[bytes]:
        one = sections[name]
        for at in range(one.count):
            yield tables[name][at * one.stride : (at + 1) * one.stride]

    in_frame = rest[16:20]
    functions = [row[:40].split(b"\0")[0].decode() for row in rows("functions")]

    def named(count: int) -> tuple[int, str, int]:
        function = count >> 48
        value = count & ((1 << 48) - 1)
        value -= (value >> 47) << 48
        return value, functions[function & 0xFFF], function & ~0xFFF

    threads = [Thread(*struct.unpack_from("=4QIIQQII", row)) for row in rows("threads")]
    calls: Dict[int, List[Call]] = {}
    table = list(rows("calls"))
    for at, thread in enumerate(threads):
        if thread.state == FREE:
            continue
        calls[at] = []
        for place, row in enumerate(table[thread.ring : thread.ring + thread.capacity]):
            number, time, site, caller, object_, datatype, count, peer, tag = struct.unpack_from("=7Qii", row)
            if number == 0 or (number - 1) % thread.capacity != place:
                continue
            value, name, marks = named(count)
            calls[at].append(Call(number, time, site, caller, object_, datatype, value, peer, tag, name, marks))
        calls[at].sort()
        if thread.current and thread.current not in [call.number for call in calls[at]]:
            calls[at].extend(_in_frame(read, thread, in_frame, family == MPICH, named))
    keys = struct.unpack(f"={sections['request_keys'].count}Q", tables["request_keys"])
    requests = []
    for key, row in zip(keys, rows("requests")):
        parts = struct.unpack_from("=QQIIQQQQQQiiQQQQii", row)
        number, request, state, _, time, site, caller, object_, datatype, count, *rest = parts
        if key == 0 or number == 0:
            continue
        assert key == request
        value, name, marks = named(count)
        requests.append(
            Request(
                number >> 48, number & ((1 << 48) - 1), request, state, time, site, caller, object_, datatype, value,
                *rest, name, marks,
            )
        )  # fmt: skip
    requests.sort(key=lambda one: (one.thread, one.number))
    communicators = []
    handles, untold, names = {}, {}, {}
    of_all = sections["collectives"]
    each = of_all.count // sections["communicators"].count
    for at, row in enumerate(rows("communicators")):
        parts = struct.unpack_from("=QIIQQQQQQQQiiii", row)
        if parts[1] == FREE:
            continue
        latest = []
        text = read(address + of_all.offset + at * each * of_all.stride, each * of_all.stride)
        for place in range(each):
            number, call, site, caller, count, datatype, op, root = struct.unpack_from(
                "=7Qi", text, place * of_all.stride
            )
            if number != 0 and (number - 1) % each == place:
                value, name, _ = named(count)
                latest.append(Collective(number, call, site, caller, value, datatype, op, root, name))
        communicators.append(Communicator(*parts, sorted(latest)))
        handles[at] = parts[0]
        name = tables["communicator_names"][at * 64 : (at + 1) * 64]
        names[parts[0]] = name.split(b"\0")[0].decode()
        (untold[parts[0]],) = struct.unpack_from("=I", row, 120)
    messages = {}
    count = sections["message_keys"].count
    for word, number in zip(*(struct.unpack(f"={count}Q", tables[f"message_{one}"]) for one in ("keys", "counts"))):
        if word:
            assert word >> 63
            key = Message(handles[word >> 53 & 511], bool(word >> 62 & 1), word >> 31 & 0x3FFFFF, word & 0x7FFFFFFF)
            messages[key] = messages.get(key, 0) + number
    return Record(
        address, pid, forked_from, family, stage, level, rank, size, total, resolution,
        first, newest,
        lost, functions, threads, calls, requests, communicators, messages, untold, names,
    )  # fmt: skip


def _in_frame(
    read: Read, thread: Thread, layout: Sequence[int], is_mpich: bool, named: Callable[[int], tuple[int, str, int]]
) -> Iterator[Call]:
    """The call that a thread is in, which sends and whose row is not written yet."""
    number, time, function, site = layout
    frame = read(thread.frame, site + 8)
    if len(frame) < site + 8 or struct.unpack_from("=Q", frame, number)[0] != thread.current:
        return
    seconds, nanoseconds = struct.unpack_from("=2Q", frame, time)
    (marks,) = struct.unpack_from("=H", frame, function)
    count, peer, tag = (struct.unpack_from("=i", frame, 8 * place)[0] for place in (1, 3, 4))
    datatype, object_ = (struct.unpack_from("=I" if is_mpich else "=Q", frame, 8 * place)[0] for place in (2, 5))
    _, name, rest = named(marks << 48)
    (returns,) = struct.unpack_from("=Q", frame, site)
    # To the second, by another clock.
    since = None if nanoseconds == TO_THE_SECOND else seconds * 10**9 + nanoseconds
    yield Call(thread.current, since, returns, 0, object_, datatype, count, peer, tag, name, rest)


@functools.cache
def library() -> Path:
    """The recorder, built from the sources that are here."""
    with installs.locked("recorder"):
        result = subprocess.run(
            [str(PROJECT / "tools" / "build-recorder")], capture_output=True, text=True, check=False
        )
    assert result.returncode == 0, result.stdout + result.stderr
    return LIBRARY


class Job(TruthfulJob):
    """A job under the recorder, of a program of ``tests/programs/recorder``; its ranks have written their truth."""

    def __init__(
        self,
        build: MpiBuild,
        program: Path,
        *arguments: str,
        ranks: int = 2,
        env: Optional[Mapping[str, Optional[str]]] = None,
        before: Sequence[Path] = (),
        recorded: bool = True,
        cwd: Optional[Path] = None,
    ) -> None:
        of_build = intel_environment(build) if build.implementation == "Intel MPI" else build.environment
        preloaded = [str(path) for path in (*((library(),) if recorded else ()), *before)]
        super().__init__(
            program,
            ranks=ranks,
            args=arguments,
            env={**of_build, "LD_PRELOAD": ":".join(preloaded), **(env or {})},
            launcher=build.mpirun,
            options=build.options,
            cwd=cwd,
        )

    def record(self, rank: int = 0) -> Record:
        """The record of a rank."""
        record = of_pid(self.pids[rank])
        assert record is not None, f"rank {rank} has no record"
        return record

    def waiting(self, rank: int, function: str) -> Record:
        """That of a rank which is in a call of this function, or gets there."""
        deadline = time.monotonic() + READY_TIMEOUT
        while True:
            record = self.record(rank)
            call = record.call_of()
            if call is not None and call.function == function:
                return record
            assert time.monotonic() < deadline, (call, function)
            time.sleep(0.01)


def shown(*target: str) -> List[Dict[str, Any]]:
    """What ``mpi-queues show`` says of processes."""
    result = mpi_queues("show", *target, "--format", "json")
    assert result.status == 0, str(result)
    found: List[Dict[str, Any]] = json.loads(result.out)["processes"]
    return found


def compiled(build: MpiBuild, source: str, *flags: str) -> Path:
    """A program of ``tests/programs/recorder`` in one file, in the language of its ending, without optimisation."""
    path = PROGRAMS / "recorder" / source
    compiler, language = LANGUAGES[path.suffix.lower()]
    command = build.mpicc.with_name(build.mpicc.name.replace("mpicc", compiler))
    if path.suffix == ".F90":
        language = ("-std=gnu", "-g", "-O0", "-fallow-argument-mismatch")
    if path.suffix == ".c":
        language = (*language, "-Wno-stringop-overflow", "-Wno-stringop-overread")
    return compile_with([str(command)], f"recorder-{build.id}", [path], ["-ldl", *flags], language=language)


def line_of(pid: int, program: Path, address: int) -> int:
    """The line of a program at which a call stands that returns to an address."""
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    base = min(int(line.split("-")[0], 16) for line in maps if line.endswith(str(program)))
    command = ["addr2line", "-e", str(program), hex(address - 1 - base)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return int(text.split(":")[1].split()[0])


def marked_lines(source: str, mark: str, *, before: str = "!") -> List[int]:
    """The lines of a program that end in a mark."""
    text = (PROGRAMS / "recorder" / source).read_text().splitlines()
    return [number for number, line in enumerate(text, 1) if line.endswith(f"{before} {mark}")]
