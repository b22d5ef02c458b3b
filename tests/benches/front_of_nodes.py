"""``mpi-queues diagnose`` of a job whose agents' answers are files: ``front_of_nodes.py DIRECTORY NODES [WORD...]``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Sequence

from mpi_queues.cli import main
from mpi_queues.nodes import reading
from mpi_queues.nodes.engines import Engine
from mpi_queues.targets import jobs

REPLAY = Path(__file__).resolve().parents[1] / "programs/replayed_nodes.py"


@dataclass
class Replay(Engine):
    """Writes what was kept."""

    directory: str
    count: int

    name = "replayed"
    called = "replayed"
    knows_all_nodes = True
    same = ()
    other = ()

    @property
    def job_variables(self) -> Dict[str, str]:
        return {}

    def nodes(self) -> List[str]:
        return [f"node{number}" for number in range(self.count)]

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        return [sys.executable, "-S", str(REPLAY), self.directory]


if __name__ == "__main__":
    directory, count, *words = sys.argv[1:]
    jobs.engine_of = lambda job, engine: Replay(directory, int(count))  # type: ignore[assignment]
    reading.agent.path = lambda: Path("agent")  # type: ignore[assignment]
    sys.exit(main(["diagnose", "--job", "hosts:replayed", *words]))
