"""What the commands on whole jobs do apart from a debugger: programs, words, and what launchers' variables may hold."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence

import pytest
from mpi_queues.commands import mpir
from mpi_queues.commands.attach import told_through
from mpi_queues.commands.job_control import Held, JobControl, Launched
from mpi_queues.commands.job_ranks import named, names_of
from mpi_queues.commands.launch import split
from mpi_queues.debuggers import programs
from mpi_queues.errors import UserError
from mpi_queues.launchers.model import RankEntry


class Memory(JobControl):
    """One process with these symbols, of which only these bytes can be read."""

    def __init__(self, symbols: Dict[str, int], content: Dict[int, bytes]) -> None:
        self.symbols = symbols
        self.content = content

    def held(self) -> List[Held]:
        return [Held(1, "inferior 1", "launcher x", True, "stopped", launcher=True)]

    def symbol(self, pid: int, name: str) -> Optional[int]:
        return self.symbols.get(name)

    def read(self, pid: int, address: int, length: int) -> bytes:
        for start, content in self.content.items():
            if start <= address and address + length <= start + len(content):
                return content[address - start : address - start + length]
        raise UserError(f"pid {pid}: cannot read {address:#x}", kind="memory")

    def write(self, pid: int, address: int, content: bytes) -> None:
        self.content[address] = content

    def attach(self, pid: int, executable: Optional[str], name: str) -> Held:
        raise NotImplementedError

    def detach(self, pid: int) -> None:
        raise NotImplementedError

    def select(self, pid: int) -> None:
        raise NotImplementedError

    def execute(self, pid: int, command: str) -> str:
        raise NotImplementedError

    def launch(self, program: str, arguments: str, tell: Callable[[str], None]) -> Launched:
        raise NotImplementedError

    def watch_launcher(self, pid: int, tell: Callable[[str], None]) -> None:
        raise NotImplementedError

    def watch_spawning(self, pid: int, function: str, reached: Callable[[], None]) -> bool:
        raise NotImplementedError

    def release_launcher(self, pid: int) -> str:
        raise NotImplementedError


def number(value: int, width: int = 4) -> bytes:
    return value.to_bytes(width, sys.byteorder)


def aborting(text: Optional[bytes], address: int = 0x2000) -> Memory:
    symbols = {"MPIR_debug_state": 0x10, "MPIR_debug_abort_string": 0x20}
    content = {0x10: number(2), 0x20: number(address, 8)}
    if text is not None:
        content[address] = text
    return Memory(symbols, content)


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        (aborting(b"rank 1 called MPI_Abort(3)\0rest" + bytes(300)), ": rank 1 called MPI_Abort(3)"),
        (aborting(b"\x1b[2Jbad\nline\0" + bytes(300)), ": [2Jbad line"),
        # Never ended, and nothing that can be read after it.
        (aborting(b"x" * 256), ": " + "x" * 256),
        (aborting(b"x" * 100_000), ": " + "x" * 4096),
        (aborting(None), "; it gives no reason"),
        (aborting(None, address=0), "; it gives no reason"),
    ],
)
def test_why_a_job_is_aborted(memory: Memory, said: str) -> None:
    assert mpir.event(memory, 1) == f"The job is being aborted (MPIR_DEBUG_ABORTING){said}"


@pytest.mark.parametrize("state", [0, 3, -1])
def test_states_that_are_nothing_to_stop_for(state: int) -> None:
    memory = Memory({"MPIR_debug_state": 0x10}, {0x10: state.to_bytes(4, sys.byteorder, signed=True)})
    assert mpir.event(memory, 1) is None


def test_a_state_that_cannot_be_read_is_none() -> None:
    assert mpir.event(Memory({"MPIR_debug_state": 0x10}, {}), 1) is None
    assert mpir.event(Memory({}, {}), 1) is None


def test_gates_are_opened_where_there_are_any() -> None:
    memory = Memory({"MPIR_debug_gate": 0x30}, {})
    assert mpir.open_gate(memory, 1)
    assert memory.content == {0x30: number(1)}
    assert not mpir.open_gate(Memory({}, {}), 1)


def test_arguments_of_a_server_that_never_end() -> None:
    memory = Memory({"MPIR_server_arguments": 0x100}, {0x100: b"ab\0" * 86})
    found = mpir.facts(memory, 1)["MPIR_server_arguments"]
    assert found == " ".join(["ab"] * 85 + ["a"])


@pytest.mark.parametrize("name", ["MPIR_ignore_queues", "MPIR_ignore_queue", "MPIR_Ignore_queues"])
def test_each_spelling_of_leaving_queues_alone(name: str) -> None:
    said = mpir.asking_to_ignore_queues(Memory({name: 1}, {}))
    assert said is not None
    assert f"launcher x asks debuggers to leave message queues alone ({name})" in said
    assert mpir.asking_to_ignore_queues(Memory({}, {})) is None


def test_only_a_fifo_is_written_to(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"as it was")
    assert told_through(str(plain)).endswith(f"{plain}: not a FIFO")
    assert plain.read_bytes() == b"as it was"
    assert "No such file" in told_through(str(tmp_path / "nix"))
    assert "null" in told_through("a\0b")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    # Nobody reads it.
    assert "No such device or address" in told_through(str(fifo))
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert told_through(str(fifo)) == f"The launcher was told of the debugger through {fifo}."
        assert os.read(reader, 8) == b"\x01"
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    ("typed", "program", "arguments"),
    [
        ("", "", ""),
        ("mpirun", "mpirun", ""),
        ("mpirun -n 4 ./a.out 'x y' > out", "mpirun", "-n 4 ./a.out 'x y' > out"),
        ('"/my dir/mpirun" -n 2', "/my dir/mpirun", "-n 2"),
        ("/my\\ dir/mpirun -n 2", "/my dir/mpirun", "-n 2"),
        ("'a'\"b\"c d", "abc", "d"),
    ],
)
def test_the_launcher_and_its_arguments(typed: str, program: str, arguments: str) -> None:
    assert split(typed, "mpi launch") == (program, arguments)


@pytest.mark.parametrize("typed", ["'mpirun", '"mpirun -n 2', "\\"])
def test_a_quote_that_is_not_closed(typed: str) -> None:
    with pytest.raises(UserError, match="no closing quotation"):
        split(typed, "mpi launch")


def script(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_what_runs_a_script(tmp_path: Path) -> None:
    shell = os.path.realpath("/bin/sh")
    inner = script(tmp_path / "inner", f"#!{shell} -e x\nexec mpirun\n")
    assert programs.runnable(inner, "") == (shell, ["-e x", inner])
    outer = script(tmp_path / "outer", f"#! {inner}\n")
    assert programs.runnable("outer", str(tmp_path)) == (shell, ["-e x", inner, outer])
    assert programs.runnable(shell, "") == (shell, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo no first line\n", "neither a program nor a script"),
        ("#!\n", "neither a program nor a script"),
        ("#!/nix/interpreter\n", "/nix/interpreter: No such file or directory"),
        ("", "neither a program nor a script"),
    ],
)
def test_what_cannot_be_run(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        programs.runnable(script(tmp_path / "launcher", text), "")


def test_a_script_that_is_its_own_interpreter(tmp_path: Path) -> None:
    path = tmp_path / "loop"
    with pytest.raises(UserError, match="neither a program nor a script"):
        programs.runnable(script(path, f"#!{path}\n"), "")


def entries(*places: Sequence[Optional[int]]) -> List[RankEntry]:
    return [RankEntry(rank, world or 0, 1, "vm", None, "running", True, "a test") for rank, world in places]


def test_ranks_for_people() -> None:
    assert named(entries((3, 0))) == "rank 3"
    assert named(entries((0, 0), (1, 0), (5, 0))) == "ranks 0, 1 and 5"
    assert named(entries((0, 0), (0, 1), (1, 1))) == "rank 0 and ranks 0 and 1 of world 1"
    assert named(entries((0, 0), (None, 0))) == "rank 0 and a process without a rank"
    assert named([]) == ""


def test_processes_of_the_debugger_for_people() -> None:
    def held(pid: int, name: Optional[str]) -> Held:
        return Held(pid, "inferior 1", name, False, "stopped")

    some = [held(1, "rank 0"), held(2, "rank 1 of world 1"), held(3, "launcher mpirun"), held(4, None)]
    assert names_of(some) == "rank 0 and rank 1 of world 1 and launcher mpirun and pid 4"
