"""What a watch writes, and the times that it is given."""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest
from mpi_queues.cli import watch
from mpi_queues.errors import UsageError, UserError
from mpi_queues.request import Request
from mpi_queues.system import processes
from mpi_queues.watching import ending
from mpi_queues.watching.bell import Bell, await_end
from mpi_queues.watching.files import Directory, duration
from mpi_queues.watching.looks import Looks
from samples import process, snapshot


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90.0), ("10m", 600.0), ("1h", 3600.0), ("2d", 172800.0), ("30", 30.0), ("1.5m", 90.0)]
)
def test_times(text: str, seconds: float) -> None:
    assert watch._time(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "m", "0.5s", "-1h", "nan", "inf", "1e9", "32d", "10 minutes", "10M"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        watch._time(text)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1.0, "1 second"),
        (90.4, "90 seconds"),
        (130.0, "2 minutes 10 s"),
        (605.0, "10 minutes"),
        (7500.0, "2 hours 5 min"),
    ],
)
def test_how_long_it_was(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def nothing() -> Looks:
    return Looks(list, Request())


def test_nothing_is_replaced(tmp_path: pathlib.Path) -> None:
    diagnosis = snapshot(process()).diagnose()
    directory = Directory(str(tmp_path / "a" / "hang"))
    names = [directory.write(diagnosis, ["first"], nothing()).files for _ in range(3)]
    assert names[0] == ["diagnosis.txt", "diagnosis.json", "diagnosis.html"]
    assert names[2] == ["diagnosis-3.txt", "diagnosis-3.json", "diagnosis-3.html"]
    (tmp_path / "a" / "hang" / "job-4.mpirec").symlink_to("nowhere")
    assert directory.write(diagnosis, [], nothing()).files == [
        "diagnosis-5.txt",
        "diagnosis-5.json",
        "diagnosis-5.html",
    ]


def test_what_a_job_says_is_clean(tmp_path: pathlib.Path) -> None:
    diagnosis = snapshot(process(problems=["\x1b[31mred\x07"])).diagnose()
    Directory(str(tmp_path)).write(diagnosis, ["a job \x1b[31m"], nothing())
    for name in ("diagnosis.txt", "diagnosis.json", "diagnosis.html"):
        content = (tmp_path / name).read_bytes()
        assert b"\x1b" not in content and b"\x07" not in content


def test_a_place_that_is_no_directory(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot write into the directory"):
        Directory(str(tmp_path / "file"))


def test_what_ends_a_job() -> None:
    assert ending.command("slurm:12.3") == ["scancel", "12.3"]
    assert ending.command("flux:fAb") == ["flux", "cancel", "fAb"]
    assert ending.command("4242") is None
    with pytest.raises(UsageError, match="not a job that can be ended"):
        ending.command("hosts:n[1-3]")


def test_a_launcher_and_a_rank_that_do_not_listen_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "GRACE", 0.5)
    command = ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as launcher,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as deaf,
        subprocess.Popen(["sleep", "600"]) as rank,
    ):
        for process in (launcher, deaf):
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        assert ending.end(launcher.pid, str(launcher.pid), [deaf.pid, rank.pid]) == []
        assert launcher.wait() == deaf.wait() == -signal.SIGKILL and rank.wait() == -signal.SIGTERM


def test_a_launcher_that_ends_with_its_ranks_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "GRACE", 60.0)
    # Its status is that of its rank: by a signal it would be another.
    with subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; wait $!"], stdout=subprocess.PIPE, text=True) as launcher:
        assert launcher.stdout is not None
        rank = int(launcher.stdout.readline())
        assert ending.end(launcher.pid, str(launcher.pid), [rank]) == []
        assert launcher.wait() == 128 + signal.SIGTERM


def test_what_ends_the_waiting() -> None:
    child = subprocess.Popen(["sleep", "600"])
    bell = Bell(child.pid)
    begun = time.monotonic()
    bell.ring()
    bell.wait(600)
    threading.Timer(0.2, bell.ring).start()
    bell.wait(600)
    assert not bell.has_ended and not await_end(child.pid, processes.start_time(child.pid), 0.0)
    threading.Timer(0.2, child.kill).start()
    bell.wait(600)
    assert time.monotonic() - begun < 300
    child.wait()
    assert bell.has_ended
    # An end that was is seen at once.
    bell.wait(600)
    bell.close()
    with pytest.raises(OSError):
        os.fstat(bell.write_end)
