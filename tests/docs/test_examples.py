"""What the pages of the documentation show is what is said: each example is run, and its output compared."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

import mpi_queues
import pytest
from mpi_queues import jobs
from mpi_queues.cli import command_line, demo, options
from support import builds, cli, output, pages, python_jobs
from support.paths import PACKAGE, PROJECT
from support.shell import Shell
from support.slurm import Slurm
from support.transports import JOB

#: Kinds of blocks that are run; others are text: lists of commands, parts of files.
RUN = ("console", "gdb", "lldb", "python")

#: Ranks that wait leave the processors to others.
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}

PAGES = {str(path.relative_to(PROJECT)): list(pages.blocks(path)) for path in pages.pages()}


def examples(language: str) -> List[Any]:
    """The blocks of a language by page and by how they are run: those run alike follow one another."""
    found: Dict[Tuple[str, str], List[pages.Block]] = {}
    for name, blocks in PAGES.items():
        for block in blocks:
            if block.language == language and not block.not_run:
                found.setdefault((name, block.run), []).append(block)
    return [pytest.param(run, blocks, id=f"{name}-{run}".rstrip("-")) for (name, run), blocks in found.items()]


def test_there_are_examples_of_each_kind() -> None:
    for language in RUN:
        assert examples(language), language


def test_what_is_not_run_says_why() -> None:
    for blocks in PAGES.values():
        for block in blocks:
            where = f"{block.page}:{block.line}"
            if block.language not in RUN:
                assert not block.run, where
                # An output that a person would take for one of ours is typed and compared.
                if block.language != "output":
                    assert not re.search(r"^(\$|\(\w+\)) mpi\S* .*\n(?!\$|\(\w+\)|\Z)", block.text, re.MULTILINE), where


def demo_job(place: Path) -> jobs.Job:
    build = builds.BUILDS[builds.OPENMPI_4]()
    return jobs.Job(demo.compile_demo(place), ranks=demo.RANKS, launcher=build.mpirun, env=build.environment)


@contextlib.contextmanager
def shell(run: str, place: Path) -> Iterator[Tuple[Shell, str]]:
    """A shell, and the number of the job of the batch system."""
    if run != "slurm":
        # Fortran's compiler and mpi4py are of the distribution's MPI alone.
        build = builds.BUILDS[builds.DEBIAN if run in ("distribution", "mpi4py") else builds.OPENMPI_4]()
        with Shell(place, build, python_jobs.with_mpi4py(build) if run == "mpi4py" else None) as found:
            yield found, ""
        return
    with Slurm(2) as cluster:
        configuration = cluster.environment["SLURM_CONF"]
        with Shell(place, None, {"SLURM_CONF": configuration, **JOB, **YIELD}) as found:
            yield found, configuration


@pytest.mark.parametrize(("run", "blocks"), examples("console"))
def test_what_is_typed_into_a_shell(run: str, blocks: List[pages.Block], tmp_path: Path, preflight: None) -> None:
    with shell(run, tmp_path) as (found, cluster):
        for block in blocks:
            for typed, shown in block.commands():
                if cluster:
                    typed = typed.replace("slurm:1234", "slurm:$(squeue --noheader --format=%A)")
                found.check(typed, shown)


@pytest.mark.parametrize("debugger", ["gdb", "lldb"])
def test_what_is_typed_into_debuggers(debugger: str, tmp_path: Path, preflight: None) -> None:
    """On rank 1 of the demo's job."""
    with demo_job(tmp_path) as job:
        for blocks in (example.values[1] for example in examples(debugger)):
            for block in blocks:
                typed = [command for command, _ in block.commands()]
                said = in_gdb(job.pids[1], typed) if debugger == "gdb" else in_lldb(job.pids[1], typed)
                for (command, shown), part in zip(block.commands(), said):
                    assert output.fits(shown, part), f"({debugger}) {command}\nsays:\n{part}\nthe page says:\n{shown}"


def in_gdb(pid: int, commands: List[str]) -> List[str]:
    """What gdb says to each command on a process."""
    mark = "-- next --"
    words = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-p", str(pid)]
    for command in (f"source {PROJECT / 'gdb-scripts' / 'mpi_queues.py'}", *commands):
        words += ["-ex", command, "-ex", f'printf "\\n{mark}\\n"']
    run = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    return run.stdout.split(f"\n{mark}\n")[1:]


def in_lldb(pid: int, commands: List[str]) -> List[str]:
    """The same of lldb, which repeats what is typed."""
    words = ["lldb-19", "--no-lldbinit", "--batch", "-p", str(pid)]
    for command in (f"command script import {PROJECT / 'lldb-scripts' / 'mpi_queues.py'}", *commands):
        words += ["-o", command]
    run = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    said, rest = [], run.stdout
    for command in commands:
        before, _, rest = rest.partition(f"(lldb) {command}\n")
        said.append(before)
    return [*said[1:], rest]


def outputs(page: str) -> Dict[int, str]:
    """What is to be printed by the block of Python at a line."""
    found = {}
    before: Optional[pages.Block] = None
    for block in PAGES[page]:
        if block.language == "output":
            assert before is not None and before.language == "python", f"{page}:{block.line}"
            found[before.line] = block.text
        before = block
    return found


@pytest.mark.parametrize(("run", "blocks"), examples("python"))
def test_what_python_runs(
    run: str, blocks: List[pages.Block], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, preflight: None
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(PACKAGE / "data" / "demo.mpirec", "hang.mpirec")
    if run == "pytest":
        run_tests(blocks, tmp_path)
        return
    names: Dict[str, Any] = {"mpi_queues": mpi_queues, "snapshot": mpi_queues.load("hang.mpirec")}
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.text, f"{block.page}:{block.line}", "exec"), names)
        assert printed.getvalue() == outputs(block.page)[block.line]


def run_tests(blocks: List[pages.Block], place: Path) -> None:
    """Tests that a page shows pass, on the programs that they name."""
    build = builds.BUILDS[builds.OPENMPI_4]()
    demo.compile_demo(place)
    source = PROJECT / "docs" / "examples" / "solver.c"
    subprocess.run([str(build.mpicc), str(source), "-o", str(place / "solver")], check=True)
    for number, block in enumerate(blocks):
        (place / f"test_{number}.py").write_text(block.text)
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(place), str(place)],
        env=jobs.environment.of_job(str(place), build.environment) | {"PATH": f"{build.mpirun.parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    wanted = sum(len(re.findall(r"^def test_", block.text, re.MULTILINE)) for block in blocks)
    assert re.search(rf"^{wanted} passed in ", tests.stdout, re.MULTILINE), tests.stdout + tests.stderr


#: What stands for a value on pages, and a value.
VALUES = {"PID": "1", "SECONDS": "5", "TIME": "10m", "N": "1", "KIND": "comm", "NUMBER": "1", "SOURCE": "auto"}


def typed_lines() -> Iterator[Tuple[str, str, bool]]:
    """Each command of mpi-queues on the pages, with its place, and whether it is whole: text names parts of one."""
    for path in pages.pages():
        name = str(path.relative_to(PROJECT))
        for block in PAGES[name]:
            if block.language in ("sh", "console"):
                text = block.text.replace("\\\n", " ")
                for line in text.splitlines():
                    yield f"{name}:{block.line}", line.removeprefix("$ "), True
        for code in pages.inline(path):
            yield name, code, False


def arguments(line: str) -> Optional[List[str]]:
    """What the command line is given; None where the line is none of it, or only a part."""
    line = re.sub(r'"?\$\([^()]*\)"?', "--pid=1", line)
    if not line.startswith("mpi-queues ") or re.search(r"[\[\]…]|\.\.\.| \w+\|\w+|^mpi-queues [A-Z]", line):
        return None
    words = shlex.split(line, comments=True)
    for end in ("|", ">", "<", "&", "&&", ">>", "2>"):
        words = words[: words.index(end)] if end in words else words
    return [VALUES.get(word, word) for word in words[1:]]


def test_each_command_on_the_pages_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is run: the parsers take what is typed."""
    monkeypatch.setattr(options, "_layouts", str)
    parser = command_line.parser()
    count, wrong = 0, []
    for place, line, whole in typed_lines():
        words = arguments(line)
        if words is None:
            continue
        count += 1
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                parser.parse_args(words)
        except SystemExit as ended:
            if ended.code and (whole or "arguments are required" not in said.getvalue()):
                wrong.append(f"{place}: {line}: {said.getvalue()}")
    assert count > 60
    assert wrong == []


def test_each_block_says_what_it_is() -> None:
    nameless = [f"{block.page}:{block.line}" for blocks in PAGES.values() for block in blocks if not block.language]
    assert nameless == []


def test_targets_of_make_on_the_pages_are_there() -> None:
    there = set(re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    named = {
        target
        for path in [*pages.pages(), PROJECT / "CHANGELOG.md", PROJECT / "ARCHITECTURE.md"]
        for target in re.findall(r"`?make ([a-z][a-z-]*)(?: |`|\n)", "\n".join([*pages.inline(path)]) + "\n")
    }
    assert len(named) > 5 and named <= there, named - there


def test_the_readme_is_a_page() -> None:
    text = (PROJECT / "README.md").read_text()
    assert len(text.split()) <= 700
    for command in ("make demo", "make test", "make build", "pip install mpi-queues"):
        assert command in text


def test_the_picture_is_what_a_report_draws(tmp_path: Path) -> None:
    picture = tmp_path / "demo.svg"
    made = cli.mpi_queues("report", "--recording", str(demo.RECORDING), "-o", str(picture))
    assert made.status == 0, str(made)
    assert (PROJECT / "docs/assets/demo.svg").read_text() == picture.read_text()
