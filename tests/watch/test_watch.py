"""``mpi-queues watch``, and ``run --watch``: a job that hangs is told, one that moves is not."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
from support import processes
from support.builds import MpiBuild
from support.cli import mpi_queues
from support.diagnosis import load
from support.paths import MPI_QUEUES, PROGRAMS, PROJECT
from support.starters import Place
from support.watched import GUARD, Compiled, Launched, Started

FILES = ["diagnosis.html", "diagnosis.json", "diagnosis.txt", "job.mpirec"]
HANGS = PROGRAMS / "watched" / "moves_then_hangs.c"


def job(build: MpiBuild, ranks: int, program: Path, *arguments: str) -> List[str]:
    return [str(build.mpirun), "-n", str(ranks), str(program), *arguments]


def told(directory: Path) -> Dict[str, Any]:
    """The JSON of a diagnosis that a watch has written."""
    assert sorted(os.listdir(directory)) == FILES
    found: Dict[str, Any] = json.loads((directory / "diagnosis.json").read_text())
    return found


@pytest.mark.slow
def test_a_job_that_moves_is_left_alone_until_it_hangs(
    build: MpiBuild,
    program: Compiled,
    place: Place,
    launched: Launched,
    started: Started,
    environment: Dict[str, str],
    tmp_path: Path,
) -> None:
    goes_on = place.directory / "goes on"
    goes_on.touch()
    run = launched(job(build, 2, program("moves_then_hangs", build), str(goes_on)), 2)
    watch = started(["watch", str(run.pid), "--after", "2", "-o", str(tmp_path)], environment)
    with pytest.raises(subprocess.TimeoutExpired):
        watch.wait(8)
    assert os.listdir(tmp_path) == []
    goes_on.unlink()
    _, error = watch.communicate(timeout=GUARD)
    assert watch.returncode == 75, error
    found = told(tmp_path)
    assert found["verdict"]["state"] == "deadlock"
    line = next(number for number, text in enumerate(HANGS.read_text().splitlines(), 1) if "@RECV" in text)
    first = found["diagnosis"][0]
    assert {(call["rank"], call["line"]) for call in first["calls"]} == {(0, line), (1, line)}
    assert first["certain"]
    text = (tmp_path / "diagnosis.txt").read_text()
    assert "nothing in it has moved for" in text and f"moves_then_hangs.c:{line}" in text
    assert found["verdict"]["headline"] in error
    # The recording says the same, and the job was left as it was.
    again = mpi_queues("diagnose", "--recording", str(tmp_path / "job.mpirec"))
    assert again.status == 0 and f"moves_then_hangs.c:{line}" in again.out, str(again)
    for process in found["processes"]:
        processes.assert_running(process["pid"])
    processes.assert_running(run.pid)


@pytest.mark.usual("mpich")
def test_a_job_that_is_run_is_watched_and_ended(
    build: MpiBuild, program: Compiled, place: Place, started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    options = ["--watch", "--after", "2", "-o", str(tmp_path / "hang"), "--end"]
    # The JSON on its standard input, the facts in its environment, and the example of the page.
    script = (
        'cd $MPIQ_DIRECTORY; ls $MPI_QUEUES_DIR >then; cat >json; echo "$MPI_QUEUES_HEADLINE" >headline; '
        f'TEXTFILES=$PWD {PROJECT}/docs/examples/stuck-metric.sh "$MPI_QUEUES_JOB_NAME"; exit 3'
    )
    run = started(
        [
            "run",
            *options,
            "--then",
            shlex.join(["sh", "-c", script]),
            "--",
            *job(build, 2, program("moves_then_hangs", build)),
        ],
        environment,
    )
    _, error = run.communicate(timeout=GUARD)
    assert run.returncode == 75, error
    found = told(tmp_path / "hang")
    assert found["verdict"]["state"] == "deadlock"
    assert (place.directory / "then").read_text().split() == FILES
    assert json.loads((place.directory / "json").read_text()) == found
    assert (place.directory / "headline").read_text() == f"{found['verdict']['headline']}\n"
    # Its failure is told, and the job is ended all the same.
    assert "sh ended with status 3\n" in error
    (file,) = place.directory.glob("*.prom*")
    metrics = exposed(file.read_text())
    assert [name for name, _ in metrics] == ["mpi_queues_stuck", "mpi_queues_stuck_since_seconds"]
    assert (metrics[0][1], abs(time.time() - metrics[1][1]) < GUARD) == (1.0, True)
    place.await_end()


def exposed(text: str) -> List[Tuple[str, float]]:
    """The metrics of a file for Prometheus, by the rules of its text format: each has a type before it, once."""
    assert text.endswith("\n")
    types: List[str] = []
    found: List[Tuple[str, float]] = []
    for line in text.splitlines():
        head = re.fullmatch(r"# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)", line)
        if head is not None:
            if head[1] == "TYPE":
                assert head[3] in ("counter", "gauge", "histogram", "summary", "untyped") and head[2] not in types
                types.append(head[2])
            continue
        label = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
        sample = re.fullmatch(rf"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{{{label}(?:,{label})*\}})? (\S+)", line)
        assert sample is not None, line
        assert sample[1] == types[-1]
        found.append((sample[1], float(sample[2])))
    return found


@pytest.mark.slow
def test_a_job_that_is_not_ended_has_its_own_status(
    debian_mpi: MpiBuild, program: Compiled, place: Place, started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    options = ["--watch", "--after", "2", "-o", str(tmp_path)]
    run = started(["run", *options, "--", *job(debian_mpi, 2, program("moves_then_hangs", debian_mpi))], environment)
    processes.wait_until(lambda: (tmp_path / "job.mpirec").exists(), "the recording")
    ranks = [process["pid"] for process in told(tmp_path)["processes"]]
    assert run.poll() is None
    os.kill(ranks[0], signal.SIGKILL)
    run.communicate(timeout=GUARD)
    # As Open MPI says it of a rank that was killed.
    assert run.returncode == 128 + signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "one_computes",
        "threads_compute",
        "main_thread_ends",
        "pingpong_no_counter",
        "polls_with_test",
        "waits_for_script",
    ],
)
def test_a_correct_program_gives_no_alarm(
    name: str, debian_mpi: MpiBuild, launched: Launched, started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    found = load(PROGRAMS / "fine" / f"{name}.c", False)
    assert found is not None
    run = launched(job(debian_mpi, found.ranks, found.compiled(debian_mpi)), found.ranks)
    watch = started(["watch", str(run.pid), "--after", "1", "-o", str(tmp_path)], environment)
    with pytest.raises(subprocess.TimeoutExpired):
        watch.wait(8)
    run.kill()
    _, error = watch.communicate(timeout=GUARD)
    assert (watch.returncode, os.listdir(tmp_path)) == (0, []), error


@pytest.mark.slow
def test_who_sleeps_and_wakes_moves(
    debian_mpi: MpiBuild, program: Compiled, started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    command = job(debian_mpi, 2, program("sleeps", debian_mpi), "12", "1")
    run = started(["run", "--watch", "--after", "3", "-o", str(tmp_path), "--idle", "--", *command], environment)
    _, error = run.communicate(timeout=GUARD)
    assert (run.returncode, os.listdir(tmp_path)) == (0, []), error


@pytest.mark.slow
def test_who_sleeps_in_one_go_does_not_where_that_is_asked_for(
    debian_mpi: MpiBuild, program: Compiled, started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    """As one does who waits for a file system that is gone: the text says what it is."""
    command = job(debian_mpi, 2, program("sleeps", debian_mpi))
    run = started(
        ["run", "--watch", "--after", "2", "-o", str(tmp_path), "--end", "--idle", "--", *command], environment
    )
    _, error = run.communicate(timeout=GUARD)
    assert run.returncode == 75, error
    found = told(tmp_path)
    assert found["verdict"]["state"] == "waiting"
    assert "sleeps.c" in (tmp_path / "diagnosis.txt").read_text()


@pytest.mark.slow
def test_a_job_that_somebody_has_stopped_gives_no_alarm(
    debian_mpi: MpiBuild,
    program: Compiled,
    place: Place,
    launched: Launched,
    started: Started,
    environment: Dict[str, str],
    tmp_path: Path,
) -> None:
    run = launched(job(debian_mpi, 2, program("moves_then_hangs", debian_mpi)), 2)
    ranks = [pid for pid in place.members() if processes.state(pid) is not None and pid != run.pid]
    for pid in ranks:
        os.kill(pid, signal.SIGSTOP)
    watch = started(["watch", str(run.pid), "--after", "1", "-o", str(tmp_path)], environment)
    with pytest.raises(subprocess.TimeoutExpired):
        watch.wait(6)
    for pid in ranks:
        os.kill(pid, signal.SIGCONT)
    _, error = watch.communicate(timeout=GUARD)
    assert watch.returncode == 75, error


def test_signals_have_it_written_and_nothing_is_replaced(
    debian_mpi: MpiBuild,
    program: Compiled,
    launched: Launched,
    started: Started,
    environment: Dict[str, str],
    tmp_path: Path,
) -> None:
    run = launched(job(debian_mpi, 2, program("moves_then_hangs", debian_mpi)), 2)
    watch = started(["watch", str(run.pid), "--after", "1h", "-o", str(tmp_path)], environment)
    # It answers to signals once it has made the directory's files its own.
    processes.wait_until(lambda: _handles(watch.pid, signal.SIGUSR1), "the watch to be ready")
    watch.send_signal(signal.SIGUSR1)
    processes.wait_until(lambda: (tmp_path / "job.mpirec").exists(), "the first recording")
    first = {name: (tmp_path / name).read_bytes() for name in FILES}
    watch.send_signal(signal.SIGTERM)
    _, error = watch.communicate(timeout=GUARD)
    assert watch.returncode == 128 + signal.SIGTERM, error
    second = ["diagnosis-2.html", "diagnosis-2.json", "diagnosis-2.txt", "job-2.mpirec"]
    assert sorted(os.listdir(tmp_path)) == sorted([*FILES, *second])
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == first
    assert "because of SIGTERM" in (tmp_path / "diagnosis-2.txt").read_text()
    assert json.loads((tmp_path / "diagnosis-2.json").read_text())["verdict"]["state"] == "deadlock"
    processes.assert_running(run.pid)


def _handles(pid: int, number: int) -> bool:
    """Whether a process has a function for a signal."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:"))
    return bool(caught >> (number - 1) & 1)


def test_there_is_no_such_job(tmp_path: Path, started: Started, environment: Dict[str, str]) -> None:
    run = started(["watch", "no-such-launcher", "-o", str(tmp_path / "new")], environment)
    _, error = run.communicate(timeout=GUARD)
    assert run.returncode == 3
    assert "no-such-launcher" in error
    assert not (tmp_path / "new").exists()


def test_a_job_that_has_ended_ends_the_watch(
    debian_mpi: MpiBuild,
    program: Compiled,
    launched: Launched,
    started: Started,
    environment: Dict[str, str],
    tmp_path: Path,
) -> None:
    run = launched(job(debian_mpi, 2, program("sleeps", debian_mpi), "4", "1"), 2)
    begun = time.monotonic()
    watch = started(["watch", str(run.pid), "--after", "1h", "-o", str(tmp_path)], environment)
    run.wait(GUARD)
    _, error = watch.communicate(timeout=GUARD)
    assert watch.returncode == 0, error
    # Not at the next look, which is minutes later.
    assert time.monotonic() - begun < GUARD


@pytest.mark.slow
def test_a_full_disk_is_told_once_with_what_to_do(
    debian_mpi: MpiBuild,
    program: Compiled,
    launched: Launched,
    started: Started,
    environment: Dict[str, str],
    tmp_path: Path,
) -> None:
    run = launched(job(debian_mpi, 2, program("moves_then_hangs", debian_mpi)), 2)
    place = tmp_path / "full"
    place.mkdir()
    # A limit on the size of files is as good as a full disk, and needs no mount: the recording is what does not fit.
    typed = f"ulimit -f 24; exec {MPI_QUEUES} watch {run.pid} --after 2s -o {place}"
    watch = subprocess.Popen(
        ["bash", "-c", typed], env=environment, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )
    assert watch.stderr is not None
    lines = []
    for line in watch.stderr:
        lines.append(line)
        if "cannot" in line:
            break
    watch.send_signal(signal.SIGTERM)
    lines += watch.stderr.readlines()
    watch.stderr.close()
    watch.wait(GUARD)
    told = "".join(lines)
    assert "Errno" not in told and "Traceback" not in told, told
    assert f"what was read cannot be kept in the directory {place}: File too large; free space there" in told, told
    assert "RuntimeError" not in told, told
    assert told.count("cannot be kept") == 1, told
