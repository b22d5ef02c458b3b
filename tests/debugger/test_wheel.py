"""The wheel, in an environment that has nothing else."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest
from driver import ROOT
from support.jobs import Job


def run(*command: object, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Built by what `pip install .` uses, with the tools that are here already, and of the crates as `make build` has
    compiled them: `make release-check` tries optimised ones."""
    place = tmp_path_factory.mktemp("wheel")
    wrapper = run(ROOT / "tools" / "find-cargo", "--clippy").strip()
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    run(
        sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", place, ROOT,
        environment={
            "PATH": path,
            "MATURIN_PEP517_ARGS": "--profile dev --features model/schema",
            "RUSTC_WORKSPACE_WRAPPER": wrapper,
        },
    )  # fmt: skip
    (built,) = place.glob("mpi_queues-*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_is_abi3_and_carries_all_that_it_needs(wheel: pathlib.Path) -> None:
    assert "-cp39-abi3-" in wheel.name
    archive = zipfile.ZipFile(wheel)
    names = set(archive.namelist())
    for wanted in (
        "mpi_queues/_native.abi3.so",
        "mpi_queues/_native.pyi",
        "mpi_queues/py.typed",
        "mpi_queues/data/demo.c",
        "mpi_queues/data/demo.mpirec",
        "mpi_queues/data/gdb-scripts/mpi_queues.py",
        "mpi_queues/data/lldb-scripts/mpi_queues.py",
        "mpi_queues/bin/mpi-queues-agent",
        "mpi_queues/lib/libmpi_queues_recorder.so",
        "mpi_queues/lib/libmpi_queues_mqs.so",
    ):
        assert wanted in names
    # pip makes it one that can be run.
    assert archive.getinfo("mpi_queues/bin/mpi-queues-agent").external_attr >> 16 & 0o111 == 0o111
    assert any(name.endswith("licenses/LICENSE-MIT") for name in names)
    (entry_points,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
    assert "[pytest11]\nmpi_queues=mpi_queues.pytest_plugin" in zipfile.ZipFile(wheel).read(entry_points).decode()


@pytest.mark.slow
def test_an_empty_environment_and_the_lines_of_init_give_working_debuggers(
    wheel: pathlib.Path, tmp_path: pathlib.Path, comms_job: Job
) -> None:
    run("/usr/bin/python3", "-m", "venv", tmp_path / "venv")
    run(tmp_path / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index", wheel)
    line = run(tmp_path / "venv/bin/mpi-queues", "init", "gdb").strip()
    assert str(tmp_path) in line
    output = run("gdb", "-nx", "-q", "-batch", "-ex", line, "-p", comms_job.pids[0], "-ex", "mpi queues")
    assert "Rank 0 of 2, pid" in output
    line = run(tmp_path / "venv/bin/mpi-queues", "init", "lldb").strip()
    output = run("lldb-19", "--no-lldbinit", "--batch", "-o", line, "-p", comms_job.pids[0], "-o", "mpi queues")
    assert "Rank 0 of 2, pid" in output
    shown = run(tmp_path / "venv/bin/mpi-queues", "show", "--pid", comms_job.pids[1])
    assert shown.startswith("Rank 1 of 2, pid")
    comms_job.assert_running()
    # Nothing of an MPI or a debugger is in sight.
    agent = run(tmp_path / "venv/bin/mpi-queues", "init", "agent").strip()
    assert agent.startswith(str(tmp_path)) and run(agent, "--version").startswith("mpi-queues-agent ")
    told = run(tmp_path / "venv/bin/mpi-queues", "demo", environment={"PATH": str(tmp_path), "TMPDIR": str(tmp_path)})
    assert "This was a recording" in told and "rank 1 waits for tag 20" in " ".join(told.split())
