"""What is made of processes that only a plug-in tells of: each is listed once, within bounds; a failure is a reason."""

from __future__ import annotations

import os
import socket
from types import SimpleNamespace
from typing import Any, Dict, List

import pytest
from mpi_queues.commands import spawning
from mpi_queues.commands.job_control import Held
from mpi_queues.launchers.model import Job, RankEntry, World

#: No process has it: the kernel's largest is 4194304 (Linux, include/linux/threads.h).
GONE = 2**31 - 1
HELD = {10: Held(10, "inferior 1", "rank 0", True, "stopped")}


class Plain:
    """A debugger with one rank, of which a plug-in tells this."""

    def __init__(self, told: Dict[str, Any], source: str = "plugin") -> None:
        self.said: List[str] = []
        self.settings = {"source": source, "timeout": 5.0, "plugin-path": "", "layouts": ""}
        self.loaded_plugin = None
        self.jobs = SimpleNamespace(held=lambda: [Held(10, "inferior 1", None, True, "stopped")])
        self.process = SimpleNamespace(
            pid=10,
            asked=lambda _: told,
            set_identity=print,
            set_plugin_path=print,
            set_layouts=print,
        )

    def setting(self, name: str) -> Any:
        return self.settings[name]

    def processes(self) -> List[Any]:
        return [self.process]

    def tell(self, text: str) -> None:
        self.said.append(text)


def rank(pid: int) -> RankEntry:
    return RankEntry(0, 0, pid, socket.gethostname(), "/a.out", "stopped", True, "its environment")


def job() -> Job:
    return Job(1, "mpirun", socket.gethostname(), [World(0, None, 1, 0)], [rank(10)])


def one(pid: int, host: str, executable: str = "child") -> Dict[str, Any]:
    return {"pid": pid, "host": host, "executable": executable}


def test_processes_that_are_known_are_not_listed_again() -> None:
    here = socket.gethostname()
    told = {"spawned": [one(10, here), one(os.getpid(), here), one(10, "node7"), one(10, "node7"), one(GONE, "")]}
    found = spawning.with_told(Plain(told), job(), HELD)  # type: ignore[arg-type]
    assert found.worlds[1:] == [World(1, None, None, None, 0, "known only from a plug-in")]
    assert [(entry.pid, entry.host, entry.here, entry.rank) for entry in found.ranks[1:]] == [
        (os.getpid(), here, True, None),
        (10, "node7", False, None),
        (GONE, None, True, None),
    ]
    assert [entry.state for entry in found.ranks[2:]] == ["unknown", "ended"]
    assert {entry.origin for entry in found.ranks[1:]} == {"the plug-in of rank 0 (mqs_next_new_process)"}


def test_a_plugin_that_tells_of_too_many() -> None:
    told = {"spawned": [one(pid, "node7") for pid in range(1, 10000)]}
    found = spawning.with_told(Plain(told), job(), HELD)  # type: ignore[arg-type]
    assert len(found.ranks) == 4096
    assert found.problems == ["the plug-in reports more spawned processes than are listed (4096)"]


def test_a_plugin_that_fails_is_a_problem_of_the_job() -> None:
    found = spawning.with_told(Plain({"spawned_not_known": "it crashed"}), job(), HELD)  # type: ignore[arg-type]
    assert found.problems == ["which processes rank 0 has spawned is not known: it crashed"]
    assert found.ranks == job().ranks


def test_without_a_plugin_in_use_none_is_asked() -> None:
    told = {"spawned": [one(11, "node7")]}
    assert spawning.with_told(Plain(told, source="auto"), job(), HELD) == job()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"spawned": [one(11, "n\x1b7", "")]}, "rank 0 has spawned processes: pid 11 on n"),
        ({"spawned": [one(pid, "") for pid in range(20, 40)]}, "pid 27 (child) and 12 more.\n"),
        ({"spawned": [one(10, "")]}, "rank 0 has spawned processes; the plug-in names none that are new."),
        ({"spawned_not_known": "it crashed"}, "; the plug-in does not say which: it crashed.\n"),
    ],
)
def test_a_stop_names_some_of_those_that_are_new(told: Dict[str, Any], said: str) -> None:
    context = Plain(told)
    spawning._stopped(context, rank(10))  # type: ignore[arg-type]
    assert said in context.said[0]
    assert "\x1b" not in context.said[0]
