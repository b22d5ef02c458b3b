"""What pip builds a wheel with (``tools/build_backend.py``): tools and a maturin that stand in, and compile nothing."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

import pytest
from support.paths import PROJECT

#: Tells what the package has when the wheel is made.
MATURIN = """
import pathlib

def get_maturin_pep517_args(settings):
    return (settings or {}).get("maturin.build-args", "").split()

def build_wheel(directory, settings, metadata):
    print(settings["maturin.build-args"])
    package = pathlib.Path("python/mpi_queues")
    for path in sorted(path for path in package.rglob("*") if path.is_file()):
        print(path.relative_to(package), path.read_text().strip())
    return "made.whl"

build_editable = build_sdist = get_requires_for_build_editable = get_requires_for_build_sdist = None
get_requires_for_build_wheel = prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel = None
"""
AGENT, RECORDER, LIBRARY = "bin/mpi-queues-agent", "lib/libmpi_queues_recorder.so", "lib/libmpi_queues_mqs.so"
FAILS = "echo 'the first of two lines' >&2\necho 'no compiler is here; type:  install one' >&2\nexit 1\n"


@pytest.fixture
def tree(tmp_path: pathlib.Path) -> pathlib.Path:
    """All parts are made, of the options that the tool got; the last build of the Makefile was an optimised one."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "maturin.py").write_text(MATURIN)
    shutil.copy(PROJECT / "tools" / "build_backend.py", tmp_path / "tools")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / ".optimised").touch()
    for tool, place in (("build-agent", AGENT), ("build-recorder", RECORDER), ("build-mqs-library", LIBRARY)):
        (tmp_path / "python" / "mpi_queues" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tools" / tool).write_text(f"tools/make $* >python/mpi_queues/{place}\n")
    # As in an archive of the sources: it cannot be executed.
    (tmp_path / "tools" / "make").write_text("#!/bin/sh\necho made: $*\n")
    return tmp_path


def build(tree: pathlib.Path, settings: str = "None") -> subprocess.CompletedProcess[str]:
    """As pip does, in the tree."""
    code = f"import build_backend; print(build_backend.build_wheel('.', {settings}))"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=tree, env={"PYTHONPATH": f"{tree}:{tree / 'tools'}", "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_all_parts_are_there_before_the_wheel_is_made(tree: pathlib.Path) -> None:
    done = build(tree)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "--profile source",
        f"{AGENT} made: --profile source",
        f"{LIBRARY} made: --profile source",
        f"{RECORDER} made:",
        "made.whl",
    ]
    assert done.stderr == ""


def test_the_makefile_makes_its_own_again(tree: pathlib.Path) -> None:
    assert build(tree).returncode == 0
    assert not (tree / ".venv" / ".optimised").exists()
    assert all(
        (tree / "python" / "mpi_queues" / place).stat().st_mtime == 946684800 for place in (AGENT, RECORDER, LIBRARY)
    )


def test_the_profile_of_the_makefile_is_kept(tree: pathlib.Path) -> None:
    done = build(tree, "{'maturin.build-args': '--profile dev'}")
    made = [f"{place} made: --development" for place in (AGENT, LIBRARY, RECORDER)]
    assert done.stdout.splitlines() == ["--profile dev", *made, "made.whl"]
    assert (tree / ".venv" / ".optimised").exists()


@pytest.mark.parametrize(
    ("asked", "profile"),
    [("--release", "release"), ("--strip --profile=release", "release"), ("--strip", "source")],
)
def test_parts_and_module_are_of_the_profile_that_was_asked_for(tree: pathlib.Path, asked: str, profile: str) -> None:
    first, *made = build(tree, f"{{'maturin.build-args': '{asked}'}}").stdout.splitlines()
    assert first == (f"{asked} --profile source" if profile == "source" else asked)
    assert made[:2] == [f"{place} made: --profile {profile}" for place in (AGENT, LIBRARY)]


@pytest.mark.parametrize(
    ("tool", "place", "line"),
    [
        ("build-agent", AGENT, "the agent, which jobs on other nodes need"),
        ("build-recorder", RECORDER, "the flight recorder, which 'mpi-queues run' needs"),
        ("build-mqs-library", LIBRARY, "the library for other debuggers, which TotalView and padb need"),
    ],
)
def test_without_a_part_the_wheel_is_made_and_the_last_line_says_why(
    tree: pathlib.Path, tool: str, place: str, line: str
) -> None:
    for one in (AGENT, RECORDER, LIBRARY):
        (tree / "python" / "mpi_queues" / one).write_text("of an earlier version\n")
    (tree / "tools" / tool).write_text(FAILS)
    done = build(tree)
    assert done.returncode == 0, done.stderr
    assert [line.partition(" ")[0] for line in done.stdout.splitlines()[1:]] == [
        *(one for one in (AGENT, LIBRARY, RECORDER) if one != place),
        "made.whl",
    ]
    said = done.stderr.splitlines()
    assert said[0] == "the first of two lines"
    assert said[-1] == f"mpi-queues is built without {line}: no compiler is here; type:  install one"


def test_a_tool_that_says_nothing(tree: pathlib.Path) -> None:
    (tree / "tools" / "build-agent").write_text("exit 3\n")
    done = build(tree)
    assert done.returncode == 0 and done.stderr.endswith("which jobs on other nodes need: status 3\n"), done.stderr
