"""A file system that does not answer: what can be told without its files is told in time, and says what it lacks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import pytest
from support import processes
from support.builds import MpiBuild
from support.paths import MPI_QUEUES, PROGRAMS
from support.starters import Place
from support.watched import Launched

from .hung_mount import HungMount, missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=missing() or "")

SOURCE = PROGRAMS / "watched" / "moves_then_hangs.c"

#: One question is waited for so long, and while processes are stopped less (`target::files::silence`). A busy machine
#: takes longer for all else.
PATIENCE, SLACK = 2.25, 4.0

#: What is asked of the core about a path, and what it says.
ASKED = """
import json, sys, time
from mpi_queues.system import files
path = sys.argv[1]
told = []
for ask in (lambda: files.opened(path).read(), lambda: files.about(path), lambda: files._native.real_path(path)):
    began = time.monotonic()
    try:
        ask()
        what = "done"
    except OSError as error:
        what = error.strerror
    told.append((what, time.monotonic() - began))
print(json.dumps(told), flush=True)
"""


@pytest.fixture
def mount(tmp_path: Path, place: Place) -> Iterator[HungMount]:
    # It answers, or is aborted, before all that waits for it is ended.
    content = SOURCE.read_bytes()
    common = (PROGRAMS / "common" / "diagnosed.h").read_bytes()
    files = {"src/moves_then_hangs.c": content, "src/common/diagnosed.h": common, "link": "src/moves_then_hangs.c"}
    with HungMount(tmp_path / "mount", files) as made:
        yield made


def asked(path: Path) -> Tuple[List[Tuple[str, float]], float]:
    """What the core says of a path, and how long the program took in all: it ends though somebody was left behind."""
    began = time.monotonic()
    run = subprocess.run(
        [sys.executable, "-c", ASKED, str(path)], stdout=subprocess.PIPE, timeout=60, text=True, check=True
    )
    return json.loads(run.stdout), time.monotonic() - began


@pytest.mark.parametrize("operation", ["lookup", "getattr", "open", "read", "readlink", "statfs", "flush"])
def test_a_path_is_not_waited_for_for_long(operation: str, mount: HungMount, tmp_path: Path) -> None:
    # The way there goes through a link of this machine's own file system, and one of the other.
    link = tmp_path / "here"
    link.symlink_to(mount.point / "link")
    assert [what for what, _ in asked(link)[0]] == ["done"] * 3
    mount.stand(operation)
    told, seconds = asked(link)
    assert seconds < PATIENCE + SLACK, told
    silent = f"the file system at {mount.point} (fuse.hung) does not answer"
    # Only what needs the operation waits for it, and what comes afterwards does not wait at all.
    assert silent in {what.removeprefix("[Errno 110] ") for what, _ in told} or operation == "flush", told
    assert sum(spent for what, spent in told if "does not answer" in what) < PATIENCE + SLACK / 2
    mount.answer()
    assert [what for what, _ in asked(link)[0]] == ["done"] * 3


def test_what_was_left_behind_ends_and_is_asked_again(mount: HungMount) -> None:
    program = """
import os, sys, time
from mpi_queues.system import files
path = sys.argv[1]
def told():
    try:
        files.opened(path).read()
        return "done"
    except OSError as error:
        return error.strerror
for line in sys.stdin:
    began = time.monotonic()
    print(told(), files._native.answered_again(), time.monotonic() - began, flush=True)
"""
    path = mount.point / "src" / "moves_then_hangs.c"
    run = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "MPIQ_HUNG": str(path)},
    )
    assert run.stdin is not None and run.stdout is not None

    def again() -> List[str]:
        assert run.stdin is not None and run.stdout is not None
        run.stdin.write("\n")
        run.stdin.flush()
        return run.stdout.readline().rsplit(" ", 2)

    assert again()[:2] == ["done", "0"]
    mount.stand("read")
    assert "does not answer" in again()[0]
    # It is remembered.
    answer, _, seconds = again()
    assert "does not answer" in answer and float(seconds) < 0.5
    mount.answer()
    processes.wait_until(lambda: again()[0] == "done", "the file system to be asked again")
    assert again()[1] == "1"
    run.stdin.close()
    assert run.wait(30) == 0
    processes.wait_until(lambda: not _left("MPIQ_HUNG", str(path)), "all that were left behind to end")
    run.stdout.close()


def _left(name: str, value: str) -> List[int]:
    """The processes that have this in their environment."""
    wanted = f"{name}={value}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                held = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            found += [int(entry.name)] if wanted in held else []
    return found


def of_two(build: MpiBuild, program: Path) -> List[str]:
    """Starts two ranks that wait for each other."""
    return [str(build.mpirun), "-n", "2", str(program)]


def compiled(build: MpiBuild, mount: HungMount, to: Path) -> Path:
    """As somebody compiles in a directory on the mount."""
    command = [str(build.mpicc), "-g", "-I.", "moves_then_hangs.c", "-o", str(to)]
    subprocess.run(command, cwd=mount.point / "src", check=True)
    return to


def answered(*arguments: str, environment: Dict[str, str], within: float) -> Tuple[str, float]:
    began = time.monotonic()
    run = subprocess.run(
        [str(MPI_QUEUES), *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    seconds = time.monotonic() - began
    assert seconds < within, f"{seconds:.1f} s: {run.stdout}"
    return run.stdout, seconds


@pytest.mark.parametrize("operation", ["lookup", "getattr", "open", "read"])
@pytest.mark.usual("read")
def test_sources_that_do_not_answer(
    operation: str,
    debian_mpi: MpiBuild,
    mount: HungMount,
    launched: Launched,
    environment: Dict[str, str],
    tmp_path: Path,
) -> None:
    pid = str(launched(of_two(debian_mpi, compiled(debian_mpi, mount, tmp_path / "program")), 2).pid)
    for _ in range(2):
        text, _ = answered("diagnose", "--job", pid, environment=environment, within=60)
        if "Deadlock" in text:
            break
    assert "Deadlock" in text and "does not answer" not in text, text
    mount.stand(operation)
    silent = f"the file system at {mount.point} (fuse.hung) does not answer"
    for command in (["stacks", "--timeout", "5"], ["diagnose", "--timeout", "20"], ["show"]):
        text, _ = answered(*command, "--job", pid, environment=environment, within=PATIENCE + 2 * SLACK)
        assert silent in " ".join(text.split()), text
        assert "moves_then_hangs.c:" in text, "the lines are in the program, which answers"
    mount.answer()
    text, _ = answered("diagnose", "--job", pid, environment=environment, within=60)
    assert "does not answer" not in text, text


def test_a_program_and_its_libraries_that_do_not_answer(
    debian_mpi: MpiBuild, place: Place, environment: Dict[str, str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """It runs, since its pages are in memory, and nothing can be opened any more."""
    built = tmp_path / "built"
    built.mkdir()
    program = built / "program"
    subprocess.run([str(debian_mpi.mpicc), "-g", f"-I{PROGRAMS}", str(SOURCE), "-o", str(program)], check=True)
    with HungMount(tmp_path / "mount", {"program": program.read_bytes()}) as mount:
        launched: Launched = request.getfixturevalue("launched")
        pid = str(launched(of_two(debian_mpi, mount.point / "program"), 2).pid)
        mount.stand("lookup", "getattr", "open", "read", "statfs")
        for command in (["stacks", "--timeout", "5"], ["diagnose", "--timeout", "20"]):
            text, _ = answered(*command, "--job", pid, environment=environment, within=PATIENCE + 2 * SLACK)
            assert f"the file system at {mount.point} (fuse.hung) does not answer" in " ".join(text.split()), text
            assert "MPI_Recv" in text, text
        mount.answer()
        place.end()


@pytest.mark.slow
def test_a_watch_alarms_in_time(
    debian_mpi: MpiBuild, mount: HungMount, launched: Launched, environment: Dict[str, str], tmp_path: Path
) -> None:
    program = compiled(debian_mpi, mount, tmp_path / "program")
    mount.stand("open", "getattr")
    pid = launched(of_two(debian_mpi, program), 2).pid
    began = time.monotonic()
    with subprocess.Popen(
        [str(MPI_QUEUES), "watch", str(pid), "--after", "4s", "-o", str(tmp_path / "hang")],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        assert run.stdout is not None
        line = next((line for line in run.stdout if "since" in line), "")
        seconds = time.monotonic() - began
        run.send_signal(signal.SIGTERM)
        run.stdout.read()
    assert "moved for" in line and seconds < 4 + PATIENCE + 2 * SLACK, (line, seconds)
    # Lines end somewhere.
    assert "does not answer" in " ".join((tmp_path / "hang" / "diagnosis.txt").read_text().split())


def test_ctrl_c_ends_it(
    debian_mpi: MpiBuild, mount: HungMount, launched: Launched, environment: Dict[str, str], tmp_path: Path
) -> None:
    pid = launched(of_two(debian_mpi, compiled(debian_mpi, mount, tmp_path / "program")), 2).pid
    mount.stand("open", "getattr", "read")
    with subprocess.Popen(
        [str(MPI_QUEUES), "diagnose", "--job", str(pid)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as run:
        time.sleep(0.7)
        began = time.monotonic()
        run.send_signal(signal.SIGINT)
        run.wait(30)
    assert time.monotonic() - began < PATIENCE + SLACK
    for one in processes.descendants(pid):
        processes.assert_running(one.pid)
