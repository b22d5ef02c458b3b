"""Every sub-command of ``tests/hostile/run.py``: some seeds, and with ``pytest --all`` thousands."""

from __future__ import annotations

from typing import Optional

import pytest

from .run import commands

COMMANDS = commands()


@pytest.mark.parametrize(
    ("name", "mpi"), [(name, mpi) for name, module in sorted(COMMANDS.items()) for mpi in (module.MPIS or [None])]
)
@pytest.mark.usual(
    "cores-openmpi",
    "digests-None",
    "files-None",
    "interrupts-openmpi",
    "memory-mpich",
    "pages-None",
    "python-None",
    "recordings-None",
    "sections-None",
)
def test_hostile_input_does_no_harm(
    name: str, mpi: Optional[str], request: pytest.FixtureRequest, preflight: None
) -> None:
    module = COMMANDS[name]
    seeds = module.LONG if request.config.getoption("--all") else module.SHORT
    runs = list(module.runs(seeds, mpi))
    assert len(runs) >= len(seeds)
    broken = [run for run in runs if run.problems]
    again = f"again: tests/hostile/run.py {name} {f'--mpi {mpi} ' if mpi else ''}--seeds SEED"
    told = "\n".join("\n    ".join((run.what, *run.problems)) for run in broken[:20])
    assert not broken, f"{len(broken)} of {len(runs)} ({again}):\n{told}"
