"""What docs/vscode.md has VS Code run: its tasks, and gdb as its debugger is started, on a job that hangs."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, Dict, List

import pytest
from support import builds, pages, processes
from support.paths import PROJECT
from support.shell import Shell

BLOCKS = list(pages.blocks(PROJECT / "docs" / "vscode.md"))
TASKS, LAUNCH = (json.loads(block.text) for block in BLOCKS if block.language == "json")

#: Types of inputs, and variables, that VS Code knows.
INPUTS = ("promptString", "pickString", "command")
VARIABLES = ("workspaceFolder", "command:pickProcess")


def test_the_files_name_what_there_is() -> None:
    inputs = {f"input:{one['id']}" for one in TASKS["inputs"]}
    assert TASKS["version"] == "2.0.0" and all(one["type"] in INPUTS for one in TASKS["inputs"])
    assert LAUNCH["version"] == "0.2.0"
    named = set(re.findall(r"\$\{([^}]*)\}", json.dumps([TASKS, LAUNCH])))
    assert named <= inputs.union(VARIABLES) and inputs <= named
    for one in LAUNCH["configurations"]:
        assert {"name", "type", "request", "program", "processId", "MIMode", "setupCommands"} == set(one)
        assert (one["type"], one["request"], one["MIMode"]) == ("cppdbg", "attach", "gdb")


def words(task: Dict[str, Any], job: int, place: Path) -> List[str]:
    """What a task runs."""
    assert task["type"] == "process" and set(task) == {"label", "type", "command", "args", "problemMatcher"}
    values = {"${input:job}": str(job), "${workspaceFolder}": str(place)}
    found = [task["command"], *task["args"]]
    for name, value in values.items():
        found = [word.replace(name, value) for word in found]
    assert not any("${" in word for word in found)
    return found


@pytest.mark.mpi
def test_the_tasks_and_the_debugger_on_a_job_that_hangs(tmp_path: Path, mpir_mpi: builds.MpiBuild) -> None:
    with Shell(tmp_path, mpir_mpi) as shell:
        assert shell.type("mpicc -g -O1 -o heat heat.c") == ""
        shell.type("mpirun -n 2 ./heat 100000 &")
        job = int(shell.type("echo $JOB"))
        # Until both stand where they hang.
        processes.wait_until(lambda: "Deadlock" in shell.type(f"mpi-queues diagnose {job}"), "the deadlock")
        said = [shell.type(shlex.join(words(task, job, tmp_path))) for task in TASKS["tasks"]]
        assert "Deadlock: ranks 0 and 1 wait for one another" in said[0] and "heat.c:8" in said[0]
        assert (tmp_path / "hang.html").read_text().startswith("<!DOCTYPE html>"), said[1]
        assert "ranks 0 and 1 stand" in said[2] and "heat.c:8" in said[2]
        (setting,) = LAUNCH["configurations"]
        assert "added" in shell.type("mpi-queues init gdb --write")
        pid = shell.type("pgrep -x heat -P $JOB | head -n 1").strip()
        typed = [f"-file-exec-and-symbols {setting['program'].replace('${workspaceFolder}', str(tmp_path))}"]
        typed += [one["text"] for one in setting["setupCommands"]]
        typed.append(f"-target-attach {pid}")
        (console,) = [block.text for block in BLOCKS if block.language == "text"]
        commands = [line.removeprefix("-exec ") for line in console.splitlines()]
        typed += [f'-interpreter-exec console "{command}"' for command in commands]
        (tmp_path / "typed").write_text("\n".join([*typed, "-gdb-exit", ""]))
        mi = shell.type("gdb -q --interpreter=mi -iex 'set debuginfod enabled off' <typed 2>&1")
        assert len(re.findall(r"^\^done", mi, re.MULTILINE)) == len(typed), mi
        assert "pending send" in mi and "MPI_Send" in mi and "MPI_COMM_WORLD" in mi and "heat.c:8" in mi, mi
