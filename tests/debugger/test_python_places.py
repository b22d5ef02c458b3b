"""Python's frames of random programs: function, file and line of every thread, as the programs themselves say.

The same is asked of py-spy, which reads interpreters in a way of its own.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Callable, Dict, List

import pytest
from support import installs
from support.python_jobs import PYTHON
from support.python_places import Programs, ours, py_spys

#: Programs that are read at once: two of these have every construct first in one of them.
TOGETHER = 22
#: Those of other Debian suites, and further ones by their paths: MPI_QUEUES_PYTHONS=/opt/python3.12/bin/python3.12:...
OTHERS: Dict[str, Callable[[], List[str]]] = {
    "3.9": lambda: installs.other_debian_python("bullseye", "3.9", older=True),
    "3.13": lambda: installs.other_debian_python("trixie", "3.13"),
    "3.14": lambda: installs.other_debian_python("forky", "3.14"),
    **{path: partial(list, [path]) for path in os.environ.get("MPI_QUEUES_PYTHONS", "").split(":") if path},
}


def compare(batch: int, folder: Path, python: List[str]) -> None:
    seeds = range(TOGETHER * batch, TOGETHER * (batch + 1))
    with Programs(seeds, folder, python) as programs:
        found, exceptions, notes = ours(programs.pids)
        assert not programs.wrong(found), "\n".join(programs.wrong(found))
        assert exceptions == programs.exceptions
        assert not notes
        assert found == py_spys(programs.pids)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(6))
def test_frames_are_those_of_the_program(tmp_path: Path, batch: int) -> None:
    compare(batch, tmp_path, [str(PYTHON)])


@pytest.mark.parametrize("batch", range(2))
@pytest.mark.parametrize("which", OTHERS)
@pytest.mark.slow
def test_the_frames_of_other_releases(tmp_path: Path, which: str, batch: int) -> None:
    compare(batch, tmp_path, OTHERS[which]())
