"""docs/ci.md: what it has CI and ReFrame run, on a job that hangs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Dict

import pytest
from support import builds, installs, pages
from support.paths import MPI_QUEUES, PROJECT
from support.shell import Shell
from support.starters import Place

BLOCKS = list(pages.blocks(PROJECT / "docs" / "ci.md"))
GITHUB, GITLAB = (block.text for block in BLOCKS if block.language == "yaml")
(REFRAME,) = (block.text for block in BLOCKS if block.language == "reframe")

#: The time on the page, and one for which tests can wait.
AFTER, SOONER = "5m", "2s"

#: A machine with one MPI, as ReFrame wants to be told of it.
SITE = """
site_configuration = {
    "systems": [{
        "name": "here", "hostnames": [".*"],
        "partitions": [{"name": "local", "scheduler": "local", "launcher": "mpirun", "environs": ["builtin"]}],
    }],
    "environments": [{"name": "builtin", "cc": "mpicc"}],
}
"""


def test_the_files_are_what_both_services_read(tmp_path: Path) -> None:
    (tmp_path / "github.yml").write_text(GITHUB)
    (tmp_path / "gitlab.yml").write_text(GITLAB)
    tools = PROJECT / ".venv" / "bin"
    for command in (
        ["actionlint", "github.yml"],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", "github.yml"],
        ["check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", "gitlab.yml"],
    ):
        checked = subprocess.run([str(tools / command[0]), *command[1:]], cwd=tmp_path, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.mpi
def test_the_commands_of_both(tmp_path: Path, debian_mpi: builds.MpiBuild) -> None:
    watched = re.findall(r"^ +- (?:run: )?(mpi-queues run .*)$", GITHUB + GITLAB, re.MULTILINE)
    compiled = re.findall(r"^ +- (?:run: )?(mpicc .*)$", GITHUB + GITLAB, re.MULTILINE)
    assert len(watched) == len(compiled) == 2 and len({*watched}) == len({*compiled}) == 1
    (summary,) = re.findall(r"^ +run: (cat .*)$", GITHUB, re.MULTILINE)
    (artifact,) = re.findall(r"^ +path: (.*)$", GITHUB, re.MULTILINE)
    assert f"paths: [{artifact}]" in GITLAB
    with Shell(tmp_path, debian_mpi) as shell:
        shell.type(compiled[0])
        said = shell.type(f"{watched[0].replace(AFTER, SOONER)}; echo status $?")
        assert said.endswith("status 75\n") and "Deadlock: ranks 0 and 1 wait for one another" in said, said
        files = ["diagnosis.html", "diagnosis.json", "diagnosis.txt", "job.mpirec"]
        assert sorted(os.listdir(tmp_path / artifact)) == files
        shell.type(f"GITHUB_STEP_SUMMARY={tmp_path}/summary; {summary}")
        assert "heat.c:8" in (tmp_path / "summary").read_text()


@pytest.mark.slow
@pytest.mark.mpi
def test_reframe(tmp_path: Path, debian_mpi: builds.MpiBuild, place: Place, environment: Dict[str, str]) -> None:
    python = installs.packages("reframe", "reframe-hpc==4.10.4")
    sources = tmp_path / "src"
    sources.mkdir()
    (tmp_path / "heat_test.py").write_text(REFRAME.replace(AFTER, SOONER))
    (tmp_path / "site.py").write_text(SITE)
    heat = PROJECT / "docs" / "examples" / "heat.c"
    subprocess.run([str(debian_mpi.mpicc), "-g", "-O1", "-o", str(sources / "heat"), str(heat)], check=True)
    path = [str(python.parent), str(MPI_QUEUES.parent), str(debian_mpi.mpirun.parent), environment["PATH"]]
    command = [str(python.parent / "reframe"), "-C", "site.py", "-c", "heat_test.py", "--prefix", "made", "-r"]
    run = subprocess.run(
        command,
        cwd=tmp_path,
        env={**environment, "PATH": os.pathsep.join(path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    said = run.stdout + run.stderr
    assert run.returncode == 1 and "stuck: see hang/diagnosis.txt" in said, said
    (diagnosis,) = (tmp_path / "made").rglob("hang/diagnosis.txt")
    assert "heat.c:8" in diagnosis.read_text()
    place.await_end()
