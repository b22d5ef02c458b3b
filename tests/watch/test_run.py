"""``mpi-queues run``: a job that it starts is as one that is started without it."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List, Optional, Tuple

import pytest
from support import processes
from support.builds import MpiBuild
from support.paths import MPI_QUEUES
from support.starters import Place
from support.watched import GUARD, Compiled, Started

#: A command that was started, and the process id of its launcher.
Running = Tuple["subprocess.Popen[str]", int]

#: With the recorder alone, and with a watch beside the job, which stands between.
WAYS = ("recorder", "watch", "both")


def run_options(way: str, library: str, directory: Path) -> List[str]:
    """``run`` with its options, up to the command."""
    recorder = ["--library", library] if way != "watch" else []
    watch = ["--watch", "--after", "60", "-o", str(directory)] if way != "recorder" else []
    return ["run", *recorder, *watch, "--"]


def ran(command: List[str], environment: Dict[str, str], typed: str = "") -> Tuple[int, str]:
    """How a command ends, and what it prints on standard output."""
    run = subprocess.run(
        command, env=environment, input=typed, capture_output=True, text=True, timeout=GUARD, check=False
    )
    return run.returncode, run.stdout


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "ends", [("status", 0), ("status", 3), ("signal", int(signal.SIGSEGV))], ids=lambda end: str(end[1])
)
@pytest.mark.usual("openmpi-3-both", "mpich-3-recorder", "mpich-11-watch")
def test_the_exit_status_is_the_jobs(
    ends: Tuple[str, int],
    way: str,
    build: MpiBuild,
    program: Compiled,
    library: str,
    environment: Dict[str, str],
    tmp_path: Path,
) -> None:
    # One rank: where one of two is ended by a signal, the launcher of MPICH 4.2.1 has the status 0 or 11, by chance.
    command = [str(build.mpirun), "-n", "1", str(program("status", build)), ends[0], str(ends[1])]
    without = ran(command, environment)
    assert ran([str(MPI_QUEUES), *run_options(way, library, tmp_path), *command], environment)[0] == without[0]
    if ends[1] == 3:
        assert without[0] == 3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usual("openmpi-recorder", "mpich-both")
def test_the_ranks_have_the_library_first_and_read_what_is_typed(
    way: str, build: MpiBuild, program: Compiled, library: str, environment: Dict[str, str], tmp_path: Path
) -> None:
    command = [str(build.mpirun), "-n", "2", str(program("status", build)), "reads"]
    status, out = ran([str(MPI_QUEUES), *run_options(way, library, tmp_path), *command], environment, "a line\n")
    assert status == 0
    assert "read a line\n" in out
    assert out.count(f"preloaded {library if way != 'watch' else 'nothing'}\n") == 2
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("way", ["recorder", "watch"])
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGKILL, signal.SIGQUIT, signal.SIGPIPE], ids=lambda number: number.name
)
@pytest.mark.usual("SIGTERM-watch", "SIGKILL-watch")
def test_a_command_that_a_signal_ends(
    number: signal.Signals, way: str, library: str, environment: Dict[str, str], tmp_path: Path
) -> None:
    options = run_options(way, library, tmp_path)
    assert (
        ran([str(MPI_QUEUES), *options, "sh", "-c", f"ulimit -c 0; kill -{int(number)} $$"], environment)[0] == -number
    )


@pytest.mark.parametrize("way", ["recorder", "watch"])
def test_a_command_that_cannot_be_started(way: str, library: str, environment: Dict[str, str], tmp_path: Path) -> None:
    options = run_options(way, library, tmp_path / "new")
    assert ran([str(MPI_QUEUES), *options, str(tmp_path / "none")], environment)[0] == 127
    assert ran([str(MPI_QUEUES), *options, str(tmp_path)], environment)[0] == 126


def test_nothing_is_started_where_nothing_can_be_written(environment: Dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    options = ["run", "--watch", "-o", str(tmp_path / "file" / "hang"), "--"]
    status, out = ran([str(MPI_QUEUES), *options, "echo", "started"], environment)
    assert (status, out) == (3, "")


def test_descriptors_that_are_open_are_handed_on(environment: Dict[str, str], tmp_path: Path) -> None:
    command = [str(MPI_QUEUES), *run_options("watch", "", tmp_path), "sh", "-c", "cat <&9; echo said >&8"]
    script = 'exec "$@" 9<<<"heard" 8>"$MPIQ_DIRECTORY/said"'
    assert ran(["bash", "-c", script, "bash", *command], environment) == (0, "heard\n")
    assert Path(environment["MPIQ_DIRECTORY"], "said").read_text() == "said\n"


@pytest.mark.parametrize("way", ["recorder", "watch"])
@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signal_reaches_the_launcher(
    number: signal.Signals, way: str, library: str, started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    """No terminal is there: what is sent to us is meant for it."""
    script = f"trap 'echo heard; exit 5' {number.name[3:]}; echo ready; while :; do sleep 0.1; done"
    run = started([*run_options(way, library, tmp_path), "bash", "-c", script], environment, start_new_session=True)
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    run.send_signal(number)
    assert (run.communicate(timeout=GUARD)[0], run.returncode) == ("heard\n", 5)


def test_what_is_known_is_written_before_a_signal_of_the_batch_system_arrives(
    debian_mpi: MpiBuild, program: Compiled, started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    command = [str(debian_mpi.mpirun), "-n", "2", str(program("status", debian_mpi)), "waits"]
    run = started([*run_options("watch", "", tmp_path), *command], environment)
    assert run.stdout is not None
    lines = [run.stdout.readline() for _ in range(4)]
    assert sorted(lines) == ["preloaded nothing\n"] * 2 + ["ready\n"] * 2
    run.send_signal(signal.SIGUSR1)
    # Open MPI hands it on to the ranks.
    assert run.stdout.readline() == f"signal {int(signal.SIGUSR1)}\n"
    names = set(os.listdir(tmp_path))
    _, error = run.communicate(timeout=GUARD)
    assert run.returncode == 0, error
    assert names == {"diagnosis.txt", "diagnosis.json", "diagnosis.html", "job.mpirec"}, error
    assert "because of SIGUSR1" in (tmp_path / "diagnosis.txt").read_text()


#: The command, in which the first look is the moment at which a signal comes.
SIGNALLED_IN_A_LOOK = """
import os, signal, sys
from mpi_queues.cli import main
from mpi_queues.watching.service import Service

def look(service, whole=Service.look):
    Service.look = whole
    os.kill(os.getpid(), signal.SIGUSR1)
    return True

Service.look = look
sys.exit(main())
"""


def test_a_signal_during_a_look_has_it_written_first(environment: Dict[str, str], tmp_path: Path) -> None:
    script = f"trap 'ls {tmp_path}; exit 5' USR1; while :; do sleep 0.1; done"
    options = ["run", "--watch", "--after", "60", "-o", str(tmp_path), "--"]
    command = [sys.executable, "-c", SIGNALLED_IN_A_LOOK, *options, "bash", "-c", script]
    assert ran(command, environment) == (5, "diagnosis.txt\n")


def test_who_is_killed_takes_the_launcher_along(
    place: Place, started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    run = started([*run_options("watch", "", tmp_path), "sh", "-c", "echo $$; exec sleep 600"], environment)
    assert run.stdout is not None
    launcher = int(run.stdout.readline())
    run.kill()
    run.communicate()
    processes.wait_until(lambda: processes.state(launcher) in (None, "Z"), "the end of the launcher")


def _with_launcher(started: Started, command: List[str], environment: Dict[str, str], directory: Path) -> Running:
    """``run --watch`` over a command whose first word prints its own process id as the first line."""
    options = run_options("watch", "", directory)
    run = started([*options, *command], environment, stdin=subprocess.PIPE, start_new_session=True)
    assert run.stdout is not None
    return run, int(run.stdout.readline())


def test_a_launcher_that_is_stopped_and_let_go_on_alone(
    started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    """Somebody sends both to the launcher's pid, as who suspends a job by hand."""
    command = ["bash", "-c", "echo $$; read line; echo read $line; exit 5"]
    run, launcher = _with_launcher(started, command, environment, tmp_path)
    for _ in range(3):
        os.kill(launcher, signal.SIGSTOP)
        processes.wait_until(lambda: processes.state(run.pid) == "T", "the command to stop as its launcher")
        assert processes.state(launcher) == "T"
        os.kill(launcher, signal.SIGCONT)
        processes.wait_until(lambda: processes.state(run.pid) not in ("T", None), "the command to go on")
        # Who has let it go on is gone, and what it has ended.
        processes.wait_until(lambda: len(processes.descendants(run.pid)) == 1, "the launcher alone to be left")
    assert (run.communicate("a line\n", timeout=GUARD)[0], run.returncode) == ("read a line\n", 5)


def test_a_launcher_that_ends_while_it_is_stopped(
    started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    run, launcher = _with_launcher(started, ["bash", "-c", "echo $$; read line"], environment, tmp_path)
    os.kill(launcher, signal.SIGSTOP)
    processes.wait_until(lambda: processes.state(run.pid) == "T", "the command to stop as its launcher")
    os.kill(launcher, signal.SIGKILL)
    run.communicate(timeout=GUARD)
    assert run.returncode == -signal.SIGKILL


def test_who_is_killed_while_all_stands_leaves_nobody(
    place: Place, started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    run, launcher = _with_launcher(started, ["bash", "-c", "echo $$; read line"], environment, tmp_path)
    os.kill(launcher, signal.SIGSTOP)
    processes.wait_until(lambda: processes.state(run.pid) == "T", "the command to stop as its launcher")
    below = [one.pid for one in processes.descendants(run.pid) if processes.state(one.pid) != "Z"]
    assert len(below) == 2
    run.kill()
    run.wait()
    processes.wait_until(lambda: all(processes.state(pid) in (None, "Z") for pid in below), "both to end")


def test_an_mpirun_that_is_stopped_and_let_go_on_alone(
    build: MpiBuild, program: Compiled, started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    mpirun = [str(build.mpirun), "-n", "2", str(program("status", build)), "reads"]
    command = ["bash", "-c", 'echo $$; exec "$@"', "bash", *mpirun]
    run, launcher = _with_launcher(started, command, environment, tmp_path)
    assert run.stdout is not None
    # Lines of two ranks may stand in one.
    text = ""
    while text.count("nothing\n") < 2 or text.count("ready") < 2:
        text += run.stdout.read(1)
    os.kill(launcher, signal.SIGSTOP)
    processes.wait_until(lambda: processes.state(run.pid) == "T", "the command to stop as its launcher")
    os.kill(launcher, signal.SIGCONT)
    out, error = run.communicate("a line\n", timeout=GUARD)
    assert (run.returncode, "read a line" in out) == (0, True), error


class Terminal:
    """A terminal, and a command in its foreground."""

    def __init__(self, command: List[str], environment: Dict[str, str]) -> None:
        self.master, terminal = pty.openpty()
        told, tell = os.pipe()
        heard, self.hear = os.pipe()
        helper = Path(__file__).with_name("terminal.py")
        self.process = subprocess.Popen(
            [sys.executable, str(helper), str(tell), str(heard), *command],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=environment,
            pass_fds=(tell, heard),
        )
        for descriptor in (terminal, tell, heard):
            os.close(descriptor)
        self.told = os.fdopen(told, "r")
        self.output = ""

    def await_output(self, text: str) -> None:
        deadline = time.monotonic() + GUARD
        while text not in self.output:
            assert time.monotonic() < deadline, self.output
            if select.select([self.master], [], [], 1.0)[0]:
                self.output += os.read(self.master, 4096).decode(errors="replace")

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def close(self) -> None:
        """Ends what is still there, because a test has failed: it leads a session of its own."""
        if self.process.poll() is None and sys.exc_info()[0] is not None:
            for one in processes.descendants(self.process.pid):
                os.kill(one.pid, signal.SIGKILL)
        self.process.wait(GUARD)
        self.told.close()
        os.close(self.hear)
        os.close(self.master)


def _group(pid: int) -> Optional[int]:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _all_stand(pid: int) -> bool:
    """Of the group that a terminal stops. A sleep that has just ended is waited for by nobody as long as its shell
    stands."""
    group = os.getpgid(pid)
    below = [one.pid for one in processes.descendants(pid)]
    states = [processes.state(one) for one in below if _group(one) == group]
    return all(state in ("T", "Z", None) for state in states)


@pytest.mark.parametrize("way", ["recorder", "watch"])
def test_a_terminal_is_the_jobs(way: str, library: str, environment: Dict[str, str], tmp_path: Path) -> None:
    """It is read, Ctrl-Z stops all and Ctrl-C comes once."""
    script = (
        "[ -t 0 ] && [ -t 1 ] && echo a terminal; read line; echo read $line; "
        "trap 'echo interrupted; count=$((count + 1))' INT; echo waiting; "
        'while [ -z "$count" ]; do sleep 0.1; done; sleep 0.5; exit $((count + 6))'
    )
    command = [str(MPI_QUEUES), *run_options(way, library, tmp_path), "bash", "-c", script]
    terminal = Terminal(command, environment)
    try:
        pid = int(terminal.told.readline().split()[1])
        terminal.await_output("a terminal")
        terminal.type("what was typed\n")
        terminal.await_output("read what was typed")
        terminal.await_output("waiting")
        terminal.type("\x1a")
        # As without us: a shell says 148.
        assert terminal.told.readline() == f"stopped {int(signal.SIGTSTP)}\n"
        assert processes.state(pid) == "T"
        processes.wait_until(lambda: _all_stand(pid), "all to stop")
        os.write(terminal.hear, b"\n")
        processes.wait_until(lambda: processes.state(pid) != "T", "the command to go on")
        terminal.type("\x03")
        terminal.await_output("interrupted")
        assert terminal.told.readline() == "exited 7\n"
        assert terminal.output.count("interrupted") == 1
    finally:
        terminal.close()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run"], "no command given"),
        (["run", "--after", "10m", "--", "true"], "--watch --after"),
        (["run", "-o", "x", "--", "true"], "--watch -o"),
        (["run", "--end", "--", "true"], "--watch --end"),
        (["run", "--watch", "--", "true"], "--watch -o DIR"),
        (["run", "--watch", "-o", "x", "--after", "0", "--", "true"], "0: not a time"),
        (["run", "--watch", "-o", "x", "--then", "'", "--", "true"], "--then '"),
        (["watch", "1"], "--output"),
        (["watch", "hosts:a", "-o", "x", "--end"], "hosts:a: a set of nodes is not a job that can be ended"),
    ],
)
def test_bad_usage(
    arguments: List[str], named: str, started: Started, environment: Dict[str, str], tmp_path: Path
) -> None:
    run = started(arguments, environment, cwd=tmp_path)
    out, error = run.communicate(timeout=GUARD)
    assert (run.returncode, out) == (2, ""), error
    assert named in error
    assert os.listdir(tmp_path) == []
