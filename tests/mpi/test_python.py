"""Python's frames: what is told of mpi4py programs, against what these say of themselves."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List

import pytest
from support import cli, processes
from support.builds import MpiBuild
from support.python_jobs import PythonJob, is_at, marked

Json = Dict[str, Any]
StartPython = Callable[..., PythonJob]

#: Program, ranks.
PROGRAMS = {
    "recv_without_send": 3,
    "wrong_tag": 2,
    "head_to_head": 2,
    "barrier_missed": 3,
    "bcast_roots": 2,
    "exception_finalize": 2,
    "exception_handled": 2,
    "generator": 2,
    "coroutines": 2,
    "threads": 2,
    "pickled": 2,
    "collectives": 3,
    "request_wait": 2,
    "split_missed": 3,
    "callback": 2,
    "names": 2,
}


@pytest.fixture
def start_python() -> Iterator[StartPython]:
    jobs: List[PythonJob] = []

    def start(*arguments: Any, **options: Any) -> PythonJob:
        jobs.append(PythonJob(*arguments, **options))
        return jobs[-1]

    yield start
    for job in jobs:
        job.end()


def problems(program: str, found: Dict[int, Json]) -> List[str]:
    """What is not told as the program says it."""
    wrong = []
    for rank, places in marked(program).items():
        calls = found[rank]["calls"]
        if len(calls) != len(places) or not all(any(is_at(call, place) for call in calls) for place in places):
            wrong.append(
                f"rank {rank}: {[(c['function'], c['caller'], c['file'], c['line']) for c in calls]}: {places}"
            )
    return wrong


def stuck(job: PythonJob, program: str, *options: str) -> Dict[int, Json]:
    """By rank: its process, once all are where the program says."""
    found: Dict[int, Json] = {}

    def all_there() -> bool:
        found.clear()
        found.update({one["rank"]: one for one in cli.show(job.pids, *options).values()})
        return not problems(program, found)

    try:
        processes.wait_until(all_there, "every rank in its call", timeout=60)
    except AssertionError:
        raise AssertionError("\n".join(problems(program, found))) from None
    return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_calls_have_the_lines_of_python(debian_mpi: MpiBuild, start_python: StartPython, program: str) -> None:
    job = start_python(debian_mpi, program, ranks=PROGRAMS[program])
    for process in stuck(job, program).values():
        assert not [note for note in process["notes"] if "Python" in note]
