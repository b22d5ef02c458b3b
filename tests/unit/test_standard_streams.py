"""Standard streams that are full, closed or read by nobody, and Ctrl-C at any moment: a sentence, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import Any, Dict, Tuple

import pytest
from support.paths import MPI_QUEUES, PROJECT

RECORDING = str(PROJECT / "tests" / "recordings" / "format-1" / "openmpi-4.1-barrier.mpirec")

#: Every command, with what it prints.
COMMANDS: Tuple[Tuple[str, ...], ...] = (
    ("--help",),
    ("--version",),
    ("show", "--recording", RECORDING),
    ("show", "--recording", RECORDING, "--format", "json"),
    ("diagnose", "--recording", RECORDING),
    ("report", "--recording", RECORDING, "-o", "/dev/null"),
    ("comms", "-v", "--recording", RECORDING),
    ("handles", "all", "--recording", RECORDING, "--format", "json"),
    ("ranks", "1"),
    ("layouts", "list"),
    ("layouts", "show", "openmpi-4.1"),
    ("layouts", "check", "--recording", RECORDING),
    ("recording", "info", RECORDING),
    ("record", "--recording", RECORDING, "-o", "/dev/null"),
    ("init", "gdb"),
    ("show",),
)


def _run(words: Tuple[str, ...], redirection: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", f'exec "$0" "$@" {redirection}', str(MPI_QUEUES), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)


def _held(run: subprocess.CompletedProcess[str]) -> None:
    said = run.stdout + run.stderr
    assert "Traceback" not in said, said
    assert "Exception ignored" not in said, said
    assert run.returncode in (0, 1, 2, 3), said


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words).replace(RECORDING, "R"))
@pytest.mark.usual("--help", "show --recording R", "layouts list")
def test_no_command_ends_in_a_traceback(words: Tuple[str, ...]) -> None:
    full = _run(words, "> /dev/full")
    _held(full)
    usual = _run(words, "")
    _held(usual)
    if usual.stdout:
        assert full.returncode == 1
        assert "cannot write to standard output: No space left on device" in full.stderr
    closed = _run(words, ">&-")
    _held(closed)
    if usual.stdout:
        assert "cannot write to standard output: it is closed" in closed.stderr
    for redirection in ("2>&-", "2> /dev/full", ">&- 2>&-", "> /dev/full 2> /dev/full"):
        _held(_run(words, redirection))


def test_a_reader_that_has_seen_enough() -> None:
    words = " ".join(f"'{word}'" for word in (str(MPI_QUEUES), "layouts", "show", "openmpi-4.1"))
    command = ["bash", "-c", f"{words} | head -c 10 >/dev/null; echo ${{PIPESTATUS[0]}}"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert run.stderr == ""
    assert int(run.stdout) in (0, 141)


def test_an_interrupt_at_any_moment_is_one_line() -> None:
    """From the moment that Python has begun with the command's own file: before, it is Python's."""
    seen: Dict[Any, int] = {}
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    for delay in (0.03, 0.06, 0.09, 0.12, 0.16, 0.2, 0.3, 0.5):
        process = subprocess.Popen(
            [str(MPI_QUEUES), "show", "--recording", RECORDING],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        deadline = time.monotonic() + 60
        # The package is being imported once its core is mapped.
        while process.poll() is None and time.monotonic() < deadline and not _has_begun(process.pid):
            time.sleep(0.001)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=120)
        assert "Traceback" not in error, error
        # Python gives signals back to the kernel at its very end, when all is printed: then nobody says a word.
        assert process.returncode in (0, 130) or (process.returncode, error) == (-signal.SIGINT, ""), (
            process.returncode,
            error,
        )
        if process.returncode == 130:
            assert [line for line in error.splitlines() if line][:1][0].startswith("mpi-queues: interrupted")
        seen[process.returncode] = seen.get(process.returncode, 0) + 1
    assert seen.get(130), "none was interrupted"


def _has_begun(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            return "_native" in maps.read()
    except OSError:
        return False
