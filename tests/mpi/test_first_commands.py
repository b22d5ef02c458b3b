"""What new users type, with and without mistakes: each ends in what was wanted, or in a hint that works when it is
pasted. One job of two ranks, in a directory with a recording, a report, JSON and a core file of it."""

from __future__ import annotations

import pathlib
import re
import shlex
import subprocess
from typing import Iterator, List, Tuple

import pytest
from support import builds, cli
from support.jobs import Job

#: What is typed, and what stands in the answer. ``JOB`` is the launcher, ``RANK`` a rank.
WANTED: List[Tuple[str, str]] = [
    ("diagnose JOB", "rank"),
    ("diagnose JOB --once -v", "rank"),
    ("diagnose --once JOB", "rank"),
    ("diagnose --job JOB --once", "rank"),
    ("diagnose --job=JOB --once", "rank"),
    ("diagnose hang.mpirec", "rank"),
    ("diagnose hang.mpirec -v", "rank"),
    ("diagnose --recording hang.mpirec", "rank"),
    ("diagnose hang.html", "rank"),
    ("diagnose core.1", "rank"),
    ("diagnose ./core.1 --format json", '"verdict"'),
    ("show RANK", "Rank 0"),
    ("show --pid RANK", "Rank 0"),
    ("show JOB --by difference", "Equal in all 2 processes"),
    ("show core.1 --internal", "Rank 0"),
    ("show hang.mpirec --rank 1", "Rank 1"),
    ("comms RANK", "MPI_COMM_WORLD"),
    ("comms JOB -v", "MPI_COMM_WORLD"),
    ("stacks JOB", "main"),
    ("stacks --threads JOB", "main"),
    ("stacks hang.mpirec core.1", "main"),
    ("report JOB -o new.html", "new.html"),
    ("report -o new.svg hang.mpirec", "new.svg"),
    ("report hang.json hang.mpirec -o changed.html", "changed.html"),
    ("record JOB -o new.mpirec", "2 processes"),
    ("record -o one.mpirec RANK", "1 process"),
    ("ranks JOB", "2 ranks"),
    ("ranks --job RANK", "2 ranks"),
    ("handles comm --job JOB", "MPI_COMM_WORLD"),
    ("handles --pid RANK comm MPI_COMM_WORLD", "MPI_COMM_WORLD"),
    ("layouts check --pid RANK", "layouts"),
    ("recording info hang.mpirec", "process"),
    ("help", "COMMAND"),
    ("help diagnose", "--twice"),
    ("diagnose --help", "--twice"),
    ("--version", "layouts"),
]

#: What is typed, and the line that its answer tells to type, which then works.
HINTS: List[Tuple[str, str]] = [
    ("JOB", "mpi-queues diagnose JOB"),
    ("hang.mpirec", "mpi-queues diagnose hang.mpirec"),
    ("--pid RANK", "mpi-queues diagnose --pid RANK"),
    ("--pid RANK show", "mpi-queues show --pid RANK"),
    ("diagnos JOB", "mpi-queues --help"),
    ("--verison", "mpi-queues --help"),
    ("diagnose --jbo JOB", "mpi-queues diagnose --help"),
    ("show -p RANK", "mpi-queues show --help"),
    ("record JOB", "mpi-queues record --help"),
    ("show --pid", "mpi-queues show --help"),
    ("help dignose", "mpi-queues --help"),
    ("show --once RANK", "mpi-queues show --help"),
    ("diagnose gone.mpirec", "ls ."),
    ("ranks JOB --job JOB", "mpi-queues ranks JOB"),
    ("report hang.json JOB -o x.html", "mpi-queues report hang.json -o x.html"),
]


@pytest.fixture(scope="module")
def job(preflight: None) -> Iterator[Job]:
    with Job(builds.BUILDS[builds.DEBIAN](), "truth_probe") as job:
        yield job


@pytest.fixture(scope="module")
def place(job: Job, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The files."""
    place = tmp_path_factory.mktemp("first")
    launcher = str(job.launcher_pid)
    with open(place / "hang.json", "w", encoding="utf-8") as file:
        file.write(cli.mpi_queues("diagnose", launcher, "--once", "--format", "json").out)
    for words in (["record", launcher, "-o"], ["report", launcher, "--once", "-o"]):
        ending = "mpirec" if words[0] == "record" else "html"
        assert cli.mpi_queues(*words, str(place / f"hang.{ending}")).status == 0
    dumped = ["gcore", "-o", str(place / "core"), str(job.pids[0])]
    subprocess.run(dumped, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (place / f"core.{job.pids[0]}").rename(place / "core.1")
    return place


def named(typed: str, job: Job) -> str:
    return typed.replace("JOB", str(job.launcher_pid)).replace("RANK", str(job.pids[0]))


def run(words: List[str], place: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> cli.Result:
    monkeypatch.chdir(place)
    result = cli.mpi_queues(*words)
    assert "Traceback" not in result.err, str(result)
    return result


@pytest.mark.usual("*")
@pytest.mark.parametrize(("typed", "wanted"), WANTED, ids=[typed for typed, _ in WANTED])
def test_what_is_wanted_is_said(
    typed: str, wanted: str, job: Job, place: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for made in (*place.glob("new.*"), *place.glob("one.*"), place / "changed.html"):
        made.unlink(missing_ok=True)
    result = run(shlex.split(named(typed, job)), place, monkeypatch)
    assert result.status in (0, 1) and wanted in result.out, str(result)
    job.assert_running()


@pytest.mark.usual("*")
@pytest.mark.parametrize(("typed", "hint"), HINTS, ids=[typed for typed, _ in HINTS])
def test_a_hint_works_when_it_is_pasted(
    typed: str, hint: str, job: Job, place: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(shlex.split(named(typed, job)), place, monkeypatch)
    assert result.status in (2, 3) and result.out == "", str(result)
    pasted = re.search(r"(?:type|Type|Try|such as): (.+)\n\Z", result.err)
    assert pasted is not None and pasted[1] == named(hint, job), str(result)
    program, *words = shlex.split(pasted[1])
    if program == "mpi-queues":
        again = run(words, place, monkeypatch)
        assert again.status in (0, 1), str(again)
    else:
        subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL)
