"""The part of the benchmarks that runs inside gdb: ``gdb -batch -p PID -x LOADER -x in_gdb.py``.

The variable BENCH holds JSON: ``measure`` (a list of the functions below), ``runs``, ``out`` (where the results go),
and for the plug-in ``plugin``, ``table`` and ``plain_host``.
"""

from __future__ import annotations

import ctypes
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any, Callable, Dict, List, Set, Tuple

import gdb

BENCH = json.loads(os.environ["BENCH"])
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mpi_queues._native import Session  # noqa: E402
from mpi_queues.gdb.adapter import GdbProcess  # noqa: E402
from mpi_queues.gdb.sessions import GdbInferior  # noqa: E402
from mpi_queues.request import Request  # noqa: E402
from scripted_host import ScriptedHost, read_table  # noqa: E402

RUNS: int = BENCH["runs"]
PAGE = 4096
results: Dict[str, Any] = {}


def seconds(act: Callable[[], Any]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def median(act: Callable[[], Any], before: Callable[[], Any] = lambda: None) -> float:
    times = []
    for _ in range(RUNS):
        before()
        times.append(seconds(act))
    return statistics.median(times)


def new_inferior() -> GdbInferior:
    return GdbInferior(gdb.selected_inferior(), [])


def builtin(inferior: GdbInferior) -> Any:
    return inferior.read(Request(source="builtin", timeout=120.0))


def plugin(inferior: GdbInferior) -> Any:
    return inferior.read(Request(source="plugin", plugin=BENCH["plugin"], timeout=120.0))


def operations(snapshot: Any) -> int:
    return sum(
        len(queue.operations)
        for comm in snapshot.processes[0].communicators
        for queue in (comm.pending_sends, comm.pending_receives, comm.unexpected_messages)
    )


def pages_read(inferior: GdbInferior) -> List[int]:
    """The pages that one whole reading takes from the target."""
    pages: Set[int] = set()
    unchanged = GdbProcess.read_memory

    def recording(self: GdbProcess, address: int, length: int) -> Any:
        memory = unchanged(self, address, length)
        pages.update(range(address // PAGE, (address + max(length, 1) - 1) // PAGE + 1))
        return memory

    GdbProcess.read_memory = recording  # type: ignore[method-assign]
    try:
        inferior.invalidate()
        builtin(inferior)
    finally:
        GdbProcess.read_memory = unchanged  # type: ignore[method-assign]
    return sorted(pages)


class Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def readv(pages: List[int], pid: int) -> Callable[[], None]:
    """Reads these pages with process_vm_readv, 1024 in a call (UIO_MAXIOV)."""
    library = ctypes.CDLL(None, use_errno=True)
    batches: List[Tuple[Any, Any, Any, int]] = []
    for first in range(0, len(pages), 1024):
        some = pages[first : first + 1024]
        buffer = ctypes.create_string_buffer(len(some) * PAGE)
        local = (Vector * 1)(Vector(ctypes.addressof(buffer), len(some) * PAGE))
        remote = (Vector * len(some))(*[Vector(page * PAGE, PAGE) for page in some])
        # The buffer is kept with what points to it.
        batches.append((buffer, local, remote, len(some)))

    def act() -> None:
        for _, local, remote, count in batches:
            got = library.process_vm_readv(pid, local, 1, remote, count, 0)
            if got != count * PAGE:
                raise OSError(ctypes.get_errno(), f"process_vm_readv: {got} of {count * PAGE} bytes")

    return act


def readable(page: int, pid: int) -> bool:
    try:
        readv([page], pid)()
    except OSError:
        return False
    return True


def measure_reader() -> None:
    """The built-in reader: the first reading of a session, and those at later stops."""
    inferior = new_inferior()
    results["reader_first"] = seconds(lambda: builtin(inferior))
    results["operations"] = operations(builtin(inferior))
    results["reader"] = median(lambda: builtin(inferior), inferior.invalidate)


def measure_pool_scan() -> None:
    """What is detected anew at a later stop: where MPICH's pools of objects are."""
    inferior = new_inferior()
    info = inferior.asked(Session.info)
    assert info["mpi"], info
    results["pool_scan"] = median(lambda: inferior.asked(Session.info), inferior.invalidate)
    results["scanned"] = variables(str(info["mpi"]["library"]))


def variables(library: str) -> int:
    """Bytes of a library's variables: what is mapped writable from its file, and what follows without a file."""
    total, end = 0, None
    with open(f"/proc/{gdb.selected_inferior().pid}/maps") as maps:
        for line in maps:
            words = line.split()
            first, last = (int(address, 16) for address in words[0].split("-"))
            of_library = words[-1] == os.path.realpath(library)
            if words[1].startswith("rw") and (of_library or (len(words) == 5 and first == end)):
                total += last - first
                end = last
            elif of_library:
                end = last
    return total


def measure_reader_and_pages() -> None:
    """The reader as above, and process_vm_readv of the same pages, in turn."""
    inferior = new_inferior()
    results["reader_first"] = seconds(lambda: builtin(inferior))
    results["operations"] = operations(builtin(inferior))
    # A debugger may read pages that process_vm_readv may not: those of the kernel's vvar area.
    pages = [page for page in pages_read(inferior) if readable(page, int(gdb.selected_inferior().pid))]
    results["pages"] = len(pages)
    read = readv(pages, int(gdb.selected_inferior().pid))
    read()
    times: Dict[str, List[float]] = {"reader": [], "readv": []}
    for _ in range(RUNS):
        inferior.invalidate()
        times["reader"].append(seconds(lambda: builtin(inferior)))
        times["readv"].append(seconds(read))
    results.update({name: statistics.median(taken) for name, taken in times.items()})


def measure_plugin() -> None:
    """The plug-in in the project's host."""
    inferior = new_inferior()
    results["plugin_operations"] = operations(plugin(inferior))
    results["plugin"] = median(lambda: plugin(inferior), inferior.invalidate)


def measure_plain_hosts() -> None:
    """The plug-in in the two plain hosts: a script inside this gdb, and a program in C."""
    read_memory = gdb.selected_inferior().read_memory
    host = ScriptedHost(BENCH["plugin"], read_table(BENCH["table"]), read_memory)
    _, counted, taken = host.count()
    results.update(scripted=taken, scripted_operations=counted, fetches=host.fetches)
    command = [BENCH["plain_host"], BENCH["plugin"], str(gdb.selected_inferior().pid), BENCH["table"]]
    times = []
    for _ in range(3):
        words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        times.append(float(words[3]))
        results["c_host_operations"] = int(words[1])
    results["c_host"] = statistics.median(times)


def measure_command() -> None:
    """The command as a user types it, right after the first stop, and at a later stop."""
    results["command_first"] = seconds(lambda: gdb.execute("mpi queues", to_string=True))

    def ran() -> None:
        # What gdb tells its listeners after a write to the target: the session forgets what it has read.
        value = gdb.parse_and_eval("*(char *) $sp")
        gdb.execute(f"set var *(char *) $sp = {int(value)}", to_string=True)

    results["command"] = median(lambda: gdb.execute("mpi queues", to_string=True), ran)


def measure_printers() -> None:
    """The printers on 200 handles in the locals of printers.c: one by one, and all in one command."""
    gdb.execute("frame function many", to_string=True)

    def show(command: str) -> Callable[[], Any]:
        return lambda: gdb.execute(command, to_string=True)

    results["printer_first"] = seconds(show("print comms[0]"))
    # The best of three of each: what else the machine does is none of the printers'.
    each = [
        min(seconds(show(f"print {name}[{at}]")) for _ in range(3))
        for name in ("comms", "requests")
        for at in range(100)
    ]
    results["printer"], results["printer_slowest"] = statistics.median(each), max(each)

    def ran() -> None:
        gdb.execute("set var values[0] = values[0]", to_string=True)

    results["locals"] = median(show("info locals"), ran)
    results["locals_shown"] = gdb.execute("info locals", to_string=True).count('"comm ')


def _status(name: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name + ":"))


def measure_memory() -> None:
    """Peak resident memory of gdb above what it had before, in KiB: reading, text and JSON."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # resets VmHWM to VmRSS (proc(5))
    before = _status("VmRSS")
    gdb.execute("mpi queues")
    results["memory_text"] = _status("VmHWM") - before
    gdb.execute("mpi queues -format json")
    results["memory_json"] = _status("VmHWM") - before


for name in BENCH["measure"]:
    globals()[f"measure_{name}"]()
with open(BENCH["out"], "w") as out:
    json.dump(results, out)
