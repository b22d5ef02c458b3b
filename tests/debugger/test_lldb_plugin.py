"""The vendor's plug-in, and hostile ones, in a helper process of lldb, which has many threads."""

from __future__ import annotations

import json
import pathlib
import time
from typing import Set

import pytest
from debuggers import Lldb
from support import processes
from support.builds import compile_with, debian_plugin
from support.jobs import Job
from support.paths import PROGRAMS

lldb = Lldb()


@pytest.fixture(scope="module")
def plugin() -> str:
    return str(debian_plugin())


@pytest.mark.slow
def test_the_plugin_that_the_program_names(comms_job: Job, plugin: str) -> None:
    info, bare, queues, compared = lldb.at(
        comms_job, 0, "mpi plugin info", "mpi plugin", "mpi queues -source plugin -format json", "mpi queues -compare"
    )
    assert f"path: {plugin}" in info
    assert bare == info
    assert json.loads(queues)["processes"][0]["source"]["plugin"] == plugin
    assert compared.startswith(f"target #0 (pid {comms_job.pids[0]}): ")
    assert "differences between built-in reader and plug-in" in compared


@pytest.mark.slow
def test_a_plugin_by_name(comms_job: Job, plugin: str, tmp_path: pathlib.Path) -> None:
    copy = tmp_path / "libompi_dbg_msgq.so"
    copy.write_bytes(pathlib.Path(plugin).read_bytes())
    for first in (f"mpi config plugin-path {tmp_path}", f"mpi plugin load {copy}"):
        said, text = lldb.at(comms_job, 0, first, "mpi queues -source plugin -format json")
        assert json.loads(text)["processes"][0]["source"]["plugin"] == str(copy)
    assert "or: mpi config source plugin" in said


@pytest.mark.parametrize("fate", ["crash", "loop", "abort", "exit", "kill", "sleep"])
@pytest.mark.usual("crash")
def test_lldb_survives_a_hostile_plugin(comms_job: Job, fate: str) -> None:
    flags = ["-shared", "-fPIC", "-Wno-error", f'-DVARIANT="{fate}:mqs_setup_image"']
    path = compile_with(["cc"], "plugins", [PROGRAMS / "plugins" / "plugin.c"], flags)
    started = time.monotonic()
    _, refused, after = lldb.at(
        comms_job, 0, "mpi config timeout 2", f"mpi queues -source plugin={path}", "mpi queues -format json"
    )
    assert time.monotonic() - started < 60
    assert refused.startswith("error: ")
    assert str(path) in refused
    assert json.loads(after)["processes"][0]["source"]["kind"] == "builtin"
    assert not holders(path), "processes that still have the plug-in loaded"


def holders(path: pathlib.Path) -> Set[int]:
    found = set()
    for process in processes.descendants(1):
        try:
            if str(path) in pathlib.Path(f"/proc/{process.pid}/maps").read_text():
                found.add(process.pid)
        except OSError:
            continue
    return found
