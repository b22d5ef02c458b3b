"""What a thread does in the kernel, by made-up registers and by this very process."""

from __future__ import annotations

import os
import pathlib
import platform
import subprocess
import sys
import time
from typing import Dict, Optional

import pytest
from mpi_queues import _native
from mpi_queues.debuggers import elf_heads, system_calls

#: FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
PRIVATE, REALTIME = 128, 256
RESTART = -512


def told(number: int, result: int, operation: int = 0, limit: int = 0) -> Optional[system_calls.SystemCallDict]:
    registers: Dict[str, int] = {"orig_rax": number, "rax": result, "rsi": operation, "r10": limit, "rdi": 1}
    return system_calls.of_registers("i386:x86-64", registers.get)


@pytest.mark.parametrize(
    ("operation", "waits"),
    [(0, True), (9 | PRIVATE | REALTIME, True), (6 | PRIVATE, True), (13, True), (1 | PRIVATE, False), (3, False)],
)
def test_what_a_futex_does(operation: int, waits: bool) -> None:
    assert told(202, RESTART, operation) == {"name": "futex", "waits": waits, "timed": False, "descriptor": None}
    timed = {"name": "futex", "waits": waits, "timed": True, "descriptor": None}
    assert told(202, RESTART, operation, 0x7FFF0000) == timed


@pytest.mark.parametrize("result", [-4, -512, -513, -514, -516])
def test_a_call_that_was_interrupted_waits(result: int) -> None:
    for shape in (result, result & ((1 << 64) - 1)):
        assert told(232, shape) == {"name": "epoll_wait", "waits": True, "timed": False, "descriptor": None}


def test_one_that_comes_back_does_not_wait_and_one_that_runs_is_in_none() -> None:
    assert told(7, 0) == {"name": "poll", "waits": False, "timed": False, "descriptor": None}
    assert told(-1, 5) == told((1 << 64) - 1, 5) == {"name": None, "waits": False, "timed": False, "descriptor": None}
    assert told(999, RESTART) == {"name": "system call 999", "waits": True, "timed": False, "descriptor": None}


def test_what_goes_on_after_a_stop_has_a_time_limit() -> None:
    assert told(219, -516) == {"name": "restart_syscall", "waits": True, "timed": True, "descriptor": None}


def test_other_machines_and_missing_registers_tell_nothing() -> None:
    assert system_calls.of_registers("aarch64", lambda name: 0) is None
    assert system_calls.of_registers("x86_64", lambda name: None) is None


def test_by_proc() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"], stdin=-1, stdout=-1
    ) as own:
        assert own.stdout is not None and own.stdin is not None
        own.stdout.readline()
        deadline = time.monotonic() + 30
        found = None
        while time.monotonic() < deadline and not (found and found["name"] == "read"):
            found = system_calls.of_proc(own.pid, own.pid, platform.machine())
            time.sleep(0.01)
        assert found == {"name": "read", "waits": True, "timed": False, "descriptor": 0}
        # A thread that comes back has a result that is no interruption.
        if platform.machine() == "x86_64":
            assert (system_calls.of_proc(own.pid, own.pid, "x86_64", 12) or found)["waits"] is False
        own.stdin.close()
    assert system_calls.of_proc(own.pid, own.pid, platform.machine()) is None
    assert system_calls.of_proc(os.getpid(), 1 << 30, platform.machine()) is None


@pytest.mark.skipif(platform.machine() != "x86_64", reason="registers of a core file are told of x86-64 only")
def test_by_the_notes_of_a_core_file(tmp_path: pathlib.Path) -> None:
    status = bytearray(336)
    status[32:36] = (4711).to_bytes(4, "little")
    for place, value in ((7, 0), (10, RESTART), (13, 128), (15, 202)):
        status[112 + 8 * place : 120 + 8 * place] = value.to_bytes(8, "little", signed=True)
    note = b"".join(number.to_bytes(4, "little") for number in (5, len(status), 1)) + b"CORE\0\0\0\0" + bytes(status)
    ident, no_sections = b"\x7fELF\2\1\1" + bytes(9), (0, 0, 0)
    header = elf_heads.ELF_HEADER.pack(ident, 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, *no_sections)
    segment = elf_heads.PROGRAM_HEADER.pack(4, 0, 120, 0, 0, len(note), 0, 4)
    core = tmp_path / "core"
    core.write_bytes(header + segment + note)
    registers = _native.CoreFile(core).call_registers(4711)
    found = system_calls.of_registers("x86_64", registers.get)
    assert found == {"name": "futex", "waits": True, "timed": False, "descriptor": None}
    assert _native.CoreFile(core).call_registers(1 << 40) == {}
