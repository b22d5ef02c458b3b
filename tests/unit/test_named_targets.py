"""Words on the command line that name targets, and the job that is meant where there is none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from mpi_queues.cli import command_line, named, options
from mpi_queues.cli import report as report_command
from mpi_queues.cli.demo import RECORDING
from mpi_queues.cli.named import JobTarget
from mpi_queues.errors import UserError
from mpi_queues.launchers import job as acquisition
from mpi_queues.launchers.model import Job, RankEntry, World
from mpi_queues.targets.core import CoreTarget
from mpi_queues.targets.process import PidTarget
from mpi_queues.targets.recording import RecordingTarget

#: Launchers of a made-up machine, and a process that is no part of a job.
JOB, OTHER, ALONE = 10, 20, 4_000_000


def _job(pid: int) -> Job:
    ranks = [RankEntry(0, 0, pid + 1, "here", None, "running", True, "a test")]
    return Job(pid, "mpi\x1brun", "here", worlds=[World(0, None, 1, 0)], ranks=ranks)


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With one job, ``mpirun``, in an empty directory."""
    jobs: Dict[Optional[str], Job] = {None: _job(JOB), "mpirun": _job(JOB), str(JOB): _job(JOB), "11": _job(JOB)}

    def find(name: Optional[str]) -> Job:
        if name not in jobs:
            raise UserError(f"{name}: no launcher of that name is running here", kind="no_job")
        return jobs[name]

    monkeypatch.setattr(acquisition, "find", find)
    monkeypatch.chdir(tmp_path)


def parsed(*words: str) -> Any:
    return command_line.parser().parse_args(words)


def resolved(*words: str) -> List[Any]:
    found = parsed(*words)
    options.resolve(found)
    return list(found.targets)


def a_core(path: Path, kind: int = 4, order: str = "little") -> str:
    head = b"\x7fELF\x02" + (b"\x01" if order == "little" else b"\x02") + bytes(10)
    path.write_bytes(head + kind.to_bytes(2, order) + bytes(64))  # type: ignore[arg-type]
    return str(path)


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("mpirun", JobTarget("mpirun", sure=False)),
        ("slurm:1234", JobTarget("slurm:1234")),
        ("hosts:node[1-4]", JobTarget("hosts:node[1-4]")),
        (str(JOB), JobTarget(str(JOB))),
        # A rank is one process.
        (str(JOB + 1), PidTarget(JOB + 1)),
        (str(ALONE), PidTarget(ALONE)),
        (str(RECORDING), RecordingTarget(str(RECORDING))),
    ],
)
def test_what_a_word_names(word: str, wanted: object) -> None:
    assert resolved("diagnose", word) == [wanted]


@pytest.mark.parametrize("order", ["little", "big"])
def test_files_are_known_by_what_is_in_them(tmp_path: Path, order: str) -> None:
    a_core(tmp_path / "crash", order=order)
    a_core(tmp_path / "mpirun", kind=2, order=order)
    (tmp_path / "packed").write_bytes(b"\x28\xb5\x2f\xfd")
    (tmp_path / "job.sh").write_text("#!/bin/sh\n")
    (tmp_path / "slurm").mkdir()
    words = ["crash", "packed", "mpirun", "./job.sh", "slurm"]
    assert resolved("show", *words) == [
        CoreTarget("crash"),
        CoreTarget("packed"),
        *(JobTarget(name, sure=False) for name in words[2:]),
    ]


@pytest.mark.parametrize("word", ["hang.mpirec", "a/b", "hang.html", "before.json", "core", "core.*", "./mpirun"])
def test_what_looks_like_a_file_is_one(word: str) -> None:
    with pytest.raises(UserError, match="no such file") as error:
        resolved("diagnose", word)
    assert error.value.kind == "no_file" and "type: ls " in error.value.help


@pytest.mark.parametrize("word", ["0", "4294967297", "99999999999999999999"])
def test_numbers_that_are_no_process(word: str) -> None:
    with pytest.raises(UserError, match="not a process id"):
        resolved("diagnose", word)


def test_a_name_that_nothing_has() -> None:
    with pytest.raises(UserError) as error:
        options.requested(parsed("diagnose", "mpirum"))
    assert str(error.value).startswith("mpirum: there is no such file, and no such job\n")
    # An option says that it is a job.
    with pytest.raises(UserError) as error:
        options.requested(parsed("diagnose", "--job", "mpirum"))
    assert "file" not in str(error.value)


def test_words_stand_anywhere(tmp_path: Path) -> None:
    cores = [a_core(tmp_path / name) for name in ("core.1", "core.2")]
    first, second = map(CoreTarget, cores)
    for words in (
        ["--once", *cores],
        [*cores, "--once"],
        [cores[0], "--once", cores[1]],
        ["--source", "builtin", cores[0], "--format=json", cores[1], "-v"],
        ["--once", "--", *cores],
    ):
        assert resolved("diagnose", *words) == [first, second], words
    mixed = resolved("show", "--pid", "7", cores[0], "--job", "mpirun", cores[1], "--limit", "3", str(ALONE))
    assert mixed == [PidTarget(7), first, JobTarget("mpirun"), second, PidTarget(ALONE)]


def test_a_program_belongs_to_the_core_before_it(tmp_path: Path) -> None:
    one, two = a_core(tmp_path / "core.1"), a_core(tmp_path / "core.2")
    found = resolved("show", one, "--internal", two, "--exe", "b", "--core", "c", "--exe", "d")
    assert found == [CoreTarget(one), CoreTarget(two, "b"), CoreTarget("c", "d")]


@pytest.mark.parametrize("command", ["diagnose", "show", "comms", "stacks", "layouts check", "handles comm"])
def test_the_only_job_is_said_in_the_first_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = parsed(*command.split())
    assert [one.pid for one in options.requested(found)] == [JOB + 1]  # type: ignore[attr-defined]
    assert options.requested(found)
    said = capsys.readouterr()
    # Once, and nothing of it does something to a terminal.
    assert said.out == ""
    assert said.err == f"mpi-queues: the only job here: mpi\\x1brun (pid {JOB}), 1 rank\n"
    positional = not command.startswith(("layouts", "handles"))
    assert found.typed == ([str(JOB)] if positional else ["--job", str(JOB)])


def test_handles_takes_values_behind_options() -> None:
    found = parsed("handles", "comm", "--pid", "7", "halo", "-v", "-1")
    assert (found.kind, found.values, found.targets) == ("comm", ["halo", "-1"], [PidTarget(7)])


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (["a.json"], 1),
        (["a.json", "b.json"], 2),
        (["--no-source", "a.json", "--once", "b.json"], 2),
        ([str(RECORDING)], 1),
        (["mpirun"], 0),
        (["--recording", str(RECORDING)], 0),
        ([], 0),
    ],
)
def test_files_of_reports(words: List[str], files: int, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}")
    assert len(report_command._files(parsed("report", "-o", "x.html", *words))) == files


@pytest.mark.parametrize("words", [["a.json"] * 3, ["a.json", "mpirun"], ["a.json", "--pid", "7"]])
def test_files_of_reports_stand_alone(words: List[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text("{}")
    assert command_line.main(["report", "-o", "x.html", *words]) == 2
    assert "name one file to show or two to compare" in capsys.readouterr().err


def test_what_is_looked_at_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert named.target_of("pipe", 60.0) == RecordingTarget("pipe")
