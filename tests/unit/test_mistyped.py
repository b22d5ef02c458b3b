"""What is mistyped is named, with what was meant; hints repeat the command that was typed."""

from __future__ import annotations

import os
import pathlib
from typing import Iterator, List

import pytest
from mpi_queues.cli import command_line
from mpi_queues.errors import UserError
from mpi_queues.launchers import finding
from mpi_queues.launchers.tree import ProcessTree
from mpi_queues.system import advice, attaching

PROGRAM = "/home/me/my env/bin/mpi-queues"


def refused(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        command_line.main(words.split())
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.endswith("\n")
    return said.err[:-1]


@pytest.mark.parametrize(
    ("words", "said", "next_one"),
    [
        ("--verison", "mpi-queues: --verison: no such option; did you mean --version?", "mpi-queues --help"),
        ("diagnos", "mpi-queues: diagnos: no such command; did you mean diagnose?", "mpi-queues --help"),
        (
            "layouts chekc",
            "mpi-queues layouts: chekc: no such command; did you mean check?",
            "mpi-queues layouts --help",
        ),
        ("zzz", "mpi-queues: zzz: no such command", "mpi-queues --help"),
        (
            "diagnose --jbo=1 mpirun",
            "mpi-queues diagnose: --jbo: no such option; did you mean --job?",
            "mpi-queues diagnose --help",
        ),
        ("show -pid 1", "mpi-queues show: -pid: no such option; did you mean --pid?", "mpi-queues show --help"),
        ("show -p 1", "mpi-queues show: -p: no such option; did you mean --pid?", "mpi-queues show --help"),
        # An option of another command.
        ("show --once", "mpi-queues show: --once: no such option", "mpi-queues show --help"),
        ("show -q", "mpi-queues show: -q: no such option", "mpi-queues show --help"),
        # Not that --output is missing.
        (
            "record --ouptut x",
            "mpi-queues record: --ouptut: no such option; did you mean --output?",
            "mpi-queues record --help",
        ),
        # What nobody types is not what was meant.
        ("show --targets=1", "mpi-queues show: --targets: no such option", "mpi-queues show --help"),
        ("show --zzz\x1b[2J", "mpi-queues show: --zzz\\x1b[2J: no such option", "mpi-queues show --help"),
        ("demo now", "mpi-queues demo: now: one argument too many for this command", "mpi-queues demo --help"),
        ("ranks 1 2", "mpi-queues ranks: 2: one argument too many for this command", "mpi-queues ranks --help"),
        (
            "run --wtach -- mpirun",
            "mpi-queues run: --wtach: no such option; did you mean --watch?",
            "mpi-queues run --help",
        ),
        ("help dignose", "mpi-queues: dignose: no such command; did you mean diagnose?", "mpi-queues --help"),
        ("help demo x", "mpi-queues demo: x: it has no subcommands", "mpi-queues demo --help"),
    ],
)
def test_the_error_is_of_the_command_and_says_what_was_meant(
    words: str, said: str, next_one: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(words, capsys) == f"{said}\nTry: {next_one}"


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ("--pid 7", "mpi-queues diagnose --pid 7"),
        ("--format json show --pid 7", "mpi-queues show --format json --pid 7"),
        ("4242", "mpi-queues diagnose 4242"),
        ("mpirun", "mpi-queues diagnose mpirun"),
        ("slurm:12", "mpi-queues diagnose slurm:12"),
    ],
)
def test_what_lacks_its_command_gets_one(words: str, typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(words, capsys).endswith(f"ype: {typed}")


@pytest.mark.parametrize("words", ["", "diagnose", "layouts make"])
def test_help_is_a_command(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["help", *words.split()]) == 0
    said = capsys.readouterr().out
    with pytest.raises(SystemExit):
        command_line.main([*words.split(), "--help"])
    assert said == capsys.readouterr().out


@pytest.mark.parametrize("between", [[], ["--"]])
def test_the_words_of_a_job_are_left_alone(between: List[str]) -> None:
    job = ["mpirun", "--verison", "-n", "4", "--", "x", "-c"]
    found = command_line.parser().parse_args(["run", "--recorder", "-o", "d", *between, *job])
    assert found.command[-len(job) :] == job


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Somebody who is not root, whom the kernel refuses all memory."""

    def opened(*_: object) -> int:
        raise PermissionError(13, "no")

    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("sys.argv", [PROGRAM])
    monkeypatch.setattr("os.open", opened)
    yield
    advice.set_line(None)


def typed(words: List[str]) -> None:
    advice.set_line(command_line.parser().parse_args(words).line)


def test_hints_repeat_the_command(user: None) -> None:
    typed(["diagnose", "--pid", "7", "--once", "my core", "--wrappers=a b"])
    assert advice.of_job(42) == "mpi-queues diagnose --once '--wrappers=a b' 42"
    assert advice.of_process() == "mpi-queues diagnose --once '--wrappers=a b' --pid PID"
    whole = "diagnose --pid 7 --once 'my core' '--wrappers=a b'"
    assert advice.with_rights() == f"type: sudo '{PROGRAM}' {whole}"
    assert advice.see_all() == f"to see all processes, type: sudo '{PROGRAM}' {whole}"
    assert advice.as_user("ann") == f"sudo -u ann '{PROGRAM}' {whole}"
    # Of other programs root's PATH has its own.
    assert advice.as_root("sysctl x=0") == "sudo sysctl x=0"


@pytest.mark.parametrize(
    ("words", "job", "process"),
    [
        ("show --limit 3 mpirun", "show --limit 3 9", "show --limit 3 --pid PID"),
        ("ranks mpirun --format json", "ranks --format json 9", "show --pid PID"),
        ("watch --job mpirun -o d", "watch -o d 9", "show --pid PID"),
        ("handles --job mpirun comm halo -v", "handles comm halo -v --job 9", "handles comm halo -v --pid PID"),
        ("layouts check --core c", "layouts check --job 9", "layouts check --pid PID"),
        ("report a.json -o x.html", "report -o x.html 9", "report -o x.html --pid PID"),
    ],
)
def test_each_command_with_other_targets(words: str, job: str, process: str, user: None) -> None:
    typed(words.split())
    assert advice.of_job(9) == f"mpi-queues {job}"
    assert advice.of_process() == f"mpi-queues {process}"


def test_refusals_say_what_to_type(user: None) -> None:
    typed(["diagnose", "--pid", "7"])
    with pytest.raises(UserError, match=f"sudo '{PROGRAM}' diagnose --pid 7, or start the container"):
        attaching._check_permission(1 << 30, {"Uid": "1000 1000"})
    with pytest.raises(UserError, match=f"sudo -u [^ ]+ '{PROGRAM}' diagnose --pid 7"):
        attaching._check_permission(1 << 30, {"Uid": "0 0"})
    with pytest.raises(UserError, match="one by one: mpi-queues diagnose --pid PID; to see all"):
        finding.find(ProcessTree(pathlib.Path("/nonexistent")), None)


def test_without_a_command_line_nothing_is_repeated() -> None:
    assert advice.of_job(42) is None
    assert advice.of_process() == "mpi-queues show --pid PID"
    assert advice.as_user("ann") == "sudo -u ann mpi-queues …"


def test_long_and_hidden_words_are_not_repeated(user: None) -> None:
    typed(["diagnose", *map(str, range(1000))])
    assert advice.with_rights() == f"type: sudo '{PROGRAM}' diagnose …"
    typed(["diagnose", "a\x1b[2J"])
    assert "\x1b" not in advice.with_rights()


def test_the_command_is_forgotten_when_it_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["show", "--pid", str(_ended())]) == 3
    assert advice.of_job(42) is None


def _ended() -> int:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid
