"""gdb's printers as editors see them, through gdb/mi."""

from __future__ import annotations

import re
import subprocess
from typing import List

import driver
from support.builds import MpiBuild
from support.variables import Program


def machine_interface(job: Program, *commands: str) -> List[str]:
    """The result record of each command of gdb/mi at rank 0, which goes on."""
    settings = [word for one in driver.QUIET for word in ("-iex", one)]
    run = subprocess.run(
        ["gdb", "-nx", "-q", "-i=mi", *settings, "-ex", f"source {driver.LOADER}", "-p", str(job.pids[0])],
        input="\n".join([*commands, "-gdb-exit", ""]),
        capture_output=True,
        text=True,
        timeout=driver.TIMEOUT,
        check=False,
    )
    job.assert_running()
    assert "Python" not in run.stdout + run.stderr, run.stdout
    records = [line for line in run.stdout.splitlines() if line.startswith("^")]
    assert len(records) == len(commands) + 1, run.stdout
    return records


def quoted(text: str) -> str:
    """A text as MI writes it."""
    return '"' + text.replace('"', '\\"') + '"'


def test_the_same_in_mi(debian_mpi: MpiBuild) -> None:
    with Program(debian_mpi, "printers.c") as job:
        said = {one.expression: quoted(one.text) for one in job.variables(0)}
        _, arguments, _, variables, value, halo, none, _, members, pending, raw, back, _, updated = machine_interface(
            job,
            "-enable-pretty-printing",
            "-stack-list-arguments --all-values 0 20",
            '-interpreter-exec console "frame function main"',
            "-stack-list-variables --all-values",
            "-data-evaluate-expression halo",
            "-var-create v * halo",
            "-var-list-children --all-values v",
            "-var-create a * all",
            "-var-list-children --all-values a",
            "-var-list-children --all-values a.pending",
            "-var-set-format v hexadecimal",
            "-var-set-format v natural",
            '-interpreter-exec console "set var halo = none"',
            "-var-update --all-values *",
        )[:-1]
    assert f'{{name="comm",value={said["comm"]}}}' in arguments
    assert f'{{name="halo",value={said["halo"]}}}' in variables
    assert '{name="none",value="MPI_COMM_NULL"}' in variables
    assert value == f"^done,value={said['halo']}"
    assert f'numchild="0",value={said["halo"]},type="MPI_Comm"' in halo
    assert none.startswith('^done,numchild="0"')
    assert f'exp="comm",numchild="0",value={said["all.comm"]},type="grid_comm"' in members
    assert f'exp="0",numchild="0",value={said["all.pending[0]"]},type="MPI_Request"' in pending
    assert 'value="MPI_REQUEST_NULL"' in pending
    assert re.match(r'\^done,format="hexadecimal",value="0x[0-9a-f]+"', raw)
    assert back == f'^done,format="natural",value={said["halo"]}'
    assert '{name="v",value="MPI_COMM_NULL",in_scope="true"' in updated
