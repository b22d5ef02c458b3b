"""Whose processes an agent of root takes for ranks: those of the job's owner, whatever others call theirs."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from mpi_queues._native import Digests, Snapshot
from mpi_queues.launchers.environment import FAMILIES
from mpi_queues.nodes.frames import Frames
from support.agent import AGENT
from support.processes import asleep

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root sees the processes of all")

#: Nobody has these numbers here.
OWNER, STRANGER = 61_234, 61_235


@contextlib.contextmanager
def rank(job: str, user: int, number: int) -> Iterator[int]:
    """A process of a user that says to be a rank of a job."""
    environment = {"PATH": os.defpath, "SLURM_JOB_ID": job, "PMI_RANK": str(number), "PMI_SIZE": "2"}
    with asleep(env=environment, user=user, group=user, extra_groups=[]) as process:
        yield process.pid


def asked(job: str, owner: int, **more: Any) -> Snapshot:
    """What the agent of this machine lists."""
    families = [{"rank": one.rank, "size": one.size, "world": one.world} for one in FAMILIES]
    question: Dict[str, Any] = {"look": 1, "owner": owner, "families": families, "timeout": 20, "action": "list"}
    question.update(job={"SLURM_JOB_ID": job}, **more)
    said = subprocess.run(
        [str(AGENT), "node"], input=json.dumps(question).encode() + b"\n", capture_output=True, check=True, timeout=60
    )
    frames = Frames()
    messages = [message for message in map(frames.feed, said.stdout.splitlines()) if message is not None]
    (digest,) = [message for message in messages if message.kind == "digest"]
    return Digests().read("n1", digest.packed, digest.longest)


def ranks(snapshot: Snapshot) -> List[Tuple[Any, Any]]:
    return [(process.rank, process.pid) for process in snapshot.processes]


def test_a_stranger_cannot_stand_in_for_a_rank(tmp_path: Path) -> None:
    job = f"9{os.getpid()}"
    with rank(job, STRANGER, 0) as false, rank(job, OWNER, 0) as first, rank(job, OWNER, 1) as second:
        found = asked(job, OWNER)
        assert ranks(found) == [(0, first), (1, second)]
        # He is named, and nothing of the job is less known for it.
        (note,) = found.notes
        assert f"pid {false} of uid {STRANGER} says that it is rank 0, and is left out" in note
        assert note.endswith(f"the job is uid {OWNER}'s") and not found.problems
        # Whoever has written down numbers of processes, too.
        assert ranks(asked(job, OWNER, pids=[false, second])) == [(1, second)]
        # The job of the other one is his.
        assert ranks(asked(job, STRANGER)) == [(0, false)]


def test_very_many_strangers_are_counted() -> None:
    job = f"9{os.getpid()}"
    with contextlib.ExitStack() as many:
        for number in range(9):
            many.enter_context(rank(job, STRANGER, number % 2))
        found = asked(job, OWNER)
        assert not found.processes and len(found.notes) == 6
        assert found.notes[-1].endswith("4 more processes of other users than the job's are left out")
