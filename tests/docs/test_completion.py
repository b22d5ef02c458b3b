"""What ``mpi-queues completion`` prints makes real shells complete."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path
from typing import Dict, Iterator, List

import pytest
from mpi_queues.cli import command_line
from mpi_queues.cli.completion_shells import SHELLS
from mpi_queues.cli.completion_tables import tables
from support.cli import mpi_queues
from support.paths import MPI_QUEUES

#: Only keeps a shell that does not answer from hanging the tests.
TIMEOUT = 60.0

#: What is typed, and what completes its last word. Files are those of ``place``.
COMPLETED = [
    ("mpi-queues dia", ["diagnose"]),
    ("mpi-queues layouts ", ["list", "show", "check", "make"]),
    ("mpi-queues diagnose --form", ["--format"]),
    ("mpi-queues diagnose --format ", ["text", "json"]),
    ("mpi-queues diagnose --pid 42 --via n", ["native"]),
    ("mpi-queues diagnose --format json --vi", ["--via"]),
    ("mpi-queues layouts show --h", ["--help"]),
    ("mpi-queues diagnose --pid ", []),
    ("mpi-queues diagnose --recording h", ["hang.mpirec"]),
    ("mpi-queues layouts check --engine c", ["clush"]),
    ("mpi-queues handles --pid 42 req", ["request"]),
    ("mpi-queues init a", ["agent"]),
    ("mpi-queues watch 42 --zzz", []),
    ("mpi-queues show --source rec", ["recorder"]),
    ("mpi-queues help dia", ["diagnose"]),
    ("mpi-queues diagnose --recording ", ["hang.mpirec", "page.html"]),
    ("mpi-queues recording info h", ["hang.mpirec"]),
    ("mpi-queues diagnose --core c", ["core.1"]),
    ("mpi-queues diagnose --once ha", ["hang.mpirec"]),
    # A core file may be called anything.
    ("mpi-queues diagnose --core n", ["notes"]),
    ("mpi-queues record -o n", ["notes"]),
]

#: What somebody has called a process: of it no shell may do anything.
NAME = "mpirun.$(touch${IFS}made)`touch${IFS}made`\x1b[2J"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("hang.mpirec", "notes", "page.html", "core.1"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.fixture
def launcher() -> Iterator[int]:
    with subprocess.Popen([NAME, "600"], executable="/bin/sleep") as process:
        yield process.pid
        process.kill()


@pytest.fixture(autouse=True)
def commands(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Slurm, as it lists one's jobs."""
    place = tmp_path_factory.mktemp("commands")
    stand_in(place / "squeue", "printf '%s\\n' 4242 '$(touch made)' 5150")
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    return place


def stand_in(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def of_shells(place: Path) -> Dict[str, str]:
    found = {"PATH": f"{MPI_QUEUES.parent}:{os.environ['PATH']}", "HOME": str(place), "TERM": "dumb"}
    return {**found, **{name: text for name, text in os.environ.items() if name == "PYTHONPATH"}}


def shell(command: List[str], place: Path) -> str:
    environment = of_shells(place)
    run = subprocess.run(
        command,
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert run.returncode == 0, run
    return run.stdout


@pytest.mark.parametrize("name", SHELLS)
def test_a_script_has_every_command_and_option(name: str) -> None:
    result = mpi_queues("completion", name)
    assert (result.status, result.err) == (0, ""), str(result)
    subprocess.run([name, "-n"], input=result.out, text=True, check=True)
    found = tables(command_line.parser())
    assert found.commands[""] and "layouts check" in found.options
    for rows in (*found.commands.values(), *found.options.values()):
        for word, does in rows:
            assert word in result.out
            if name != "bash":
                # Beside it what it does, as the shell quotes it.
                assert re.split("[\\\\']", does)[0] in result.out, word


_BASH = """
eval "$(mpi-queues completion bash)"
[[ $(complete -p mpi-queues) =~ -F\\ ([^ ]+) ]]
complete=${BASH_REMATCH[1]}
for typed; do
    COMP_WORDS=($typed); case $typed in *" ") COMP_WORDS+=("") ;; esac
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$typed COMP_POINT=${#typed}
    "$complete" 2>/dev/null
    echo "${COMPREPLY[*]}"
done
"""


def test_bash(place: Path) -> None:
    out = shell(["bash", "--norc", "-i", "-c", _BASH, "bash", *(typed for typed, _ in COMPLETED)], place)
    assert out.splitlines() == [" ".join(wanted) for _, wanted in COMPLETED]


_FISH = """
mpi-queues completion fish | source
for typed in $argv
    echo (complete -C $typed | cut -f 1)
end
"""


def test_fish(place: Path) -> None:
    out = shell(["fish", "--no-config", "-c", _FISH, *(typed for typed, _ in COMPLETED)], place)
    assert [sorted(line.split()) for line in out.splitlines()] == [sorted(wanted) for _, wanted in COMPLETED]


class Zsh:
    """An interactive zsh on a terminal."""

    def __init__(self, place: Path) -> None:
        environment = of_shells(place)
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(place)
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment)
        self.pid = pid
        self.said = ""
        self.type("PS1=; unsetopt prompt_cr prompt_sp; autoload -Uz compinit && compinit -u -D\n")
        self.type('eval "$(mpi-queues completion zsh)"; echo rea"dy"\n')
        self.wait("ready")

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def wait(self, text: str) -> str:
        """What it has said up to there."""
        deadline = time.monotonic() + TIMEOUT
        while text not in self.said:
            ready, _, _ = select.select([self.terminal], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"zsh has not said {text!r}: {self.said}"
            self.said += os.read(self.terminal, 4096).decode(errors="replace")
        before, _, self.said = self.said.partition(text)
        return before

    def end(self) -> None:
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def test_zsh(place: Path) -> None:
    zsh = Zsh(place)
    try:
        # Several ways to go on are a list on the terminal, not a line.
        for typed, wanted in (case for case in COMPLETED if len(case[1]) == 1):
            # The key completes the line; then it is made what another command prints, between marks.
            zsh.type(f"{typed}\t\x01print -r -- 'be'\"gin\" \x05'e'\"nd\"\n")
            zsh.wait("begin ")
            assert zsh.wait("end").split() == [*typed.split()[:-1], *wanted]
    finally:
        zsh.end()


@pytest.mark.parametrize(
    ("option", "typed", "whole"),
    [("", "slurm:4", "slurm:4242"), ("--job ", "slurm:51", "slurm:5150"), ("--job ", "sl", "slurm:")],
)
@pytest.mark.parametrize("name", SHELLS)
def test_jobs_of_a_batch_system(name: str, option: str, typed: str, whole: str, place: Path) -> None:
    line = f"mpi-queues diagnose {option}"
    if name == "zsh":
        zsh = Zsh(place)
        try:
            zsh.type(f"{line}{typed}\t\x01print -r -- 'be'\"gin\" \x05'e'\"nd\"\n")
            zsh.wait("begin ")
            assert zsh.wait("end").split() == f"{line}{whole}".split()
        finally:
            zsh.end()
        return
    if name == "bash":
        # The shell takes the colon for a word.
        said = shell(["bash", "--norc", "-i", "-c", _BASH, "bash", f"{line}{typed.replace(':', ' : ')}"], place)
        found = {f"slurm:{word}" if ":" in typed else word for word in said.split()}
    else:
        found = set(shell(["fish", "--no-config", "-c", _FISH, f"{line}{typed}"], place).split())
    assert found == ({"slurm:4242", "slurm:5150"} if whole.endswith(":") else {whole})


@pytest.mark.parametrize("option", ["", "--job ", "--job="])
@pytest.mark.parametrize("name", SHELLS)
def test_jobs(name: str, option: str, place: Path, launcher: int) -> None:
    typed = f"mpi-queues diagnose {option}{str(launcher)[:-1]}"
    if name == "zsh":
        zsh = Zsh(place)
        try:
            # Alone in a list, or with others that begin so.
            zsh.type(f"mpi-queues diagnose {option}{launcher}\t\x01print -r -- 'be'\"gin\" \x05'e'\"nd\"\n")
            zsh.wait("begin ")
            assert zsh.wait("end").split() == f"mpi-queues diagnose {option}{launcher}".split()
        finally:
            zsh.end()
    elif name == "bash":
        words = shell(["bash", "--norc", "-i", "-c", _BASH, "bash", typed.replace("=", " = ")], place).split()
        assert str(launcher) in words
    else:
        words = shell(["fish", "--no-config", "-c", _FISH, typed], place).split()
        assert f"{option.strip() if '=' in option else ''}{launcher}" in words
    assert not (place / "made").exists()


def test_what_scripts_ask_for_has_no_hidden_characters(launcher: int, commands: Path) -> None:
    # A batch system that does not answer keeps none of the others.
    stand_in(commands / "qselect", "exec sleep 60")
    result = mpi_queues("completion", "--jobs", environment={})
    assert (result.status, result.err) == (0, ""), str(result)
    lines = dict(line.split("\t") for line in result.out.splitlines())
    assert lines[str(launcher)].startswith("mpirun.??touch??IFS?made")
    assert lines["slurm:4242"] == "a job that runs"
    assert NAME not in lines and all(re.fullmatch(r"[A-Za-z0-9:._+-]+", word) for word in lines)
