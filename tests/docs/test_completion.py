"""What ``mpi-queues completion`` prints makes real shells complete."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path
from typing import Dict, List

import pytest
from mpi_queues.cli import command_line
from mpi_queues.cli.completion_shells import SHELLS
from mpi_queues.cli.completion_tables import tables
from support.cli import mpi_queues
from support.paths import MPI_QUEUES

#: Only keeps a shell that does not answer from hanging the tests.
TIMEOUT = 60.0

#: What is typed, and what completes its last word. Files are ``hang.mpirec`` and ``notes`` of an empty directory.
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
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "hang.mpirec").touch()
    (tmp_path / "notes").touch()
    return tmp_path


def shell(command: List[str], place: Path) -> str:
    environment = {"PATH": f"{MPI_QUEUES.parent}:{os.environ['PATH']}", "HOME": str(place), "TERM": "dumb"}
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
        environment: Dict[str, str] = {
            "PATH": f"{MPI_QUEUES.parent}:{os.environ['PATH']}",
            "HOME": str(place),
            "TERM": "dumb",
        }
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
