"""The job of several worlds that a debugger has, for what is read of its processes: which world each is in, and its
place in the universe of all, which plug-ins for MPI-2 are told (mqs interface, "The Process naming problem")."""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence

from ..debuggers.sessions import ProcessSession
from ..launchers.model import Job, JobWorld
from .context import Context
from .job_ranks import FAILURES, debugged_job


def place(context: Context, processes: Sequence[ProcessSession]) -> List[JobWorld]:
    """Gives processes their places in the job that ``mpi launch`` or ``mpi attach`` has, and returns its worlds for
    ``Snapshot.merged``; none where it has one only, and where no job is known."""
    job = _job(context)
    places: Dict[Optional[int], Optional[int]] = {}
    if job is not None:
        places = {entry.pid: job.universe_index(entry) for entry in job.ranks if entry.here}
    for process in processes:
        process.set_identity(places.get(process.pid) if process.pid is not None else None)
    return job.for_snapshots() if job is not None else []


def _job(context: Context) -> Optional[Job]:
    # What was attached to by hand may be of several jobs, and reading one process should not cost looking at all.
    if not any(one.name and not one.launcher for one in context.jobs.held()):
        return None
    try:
        job = debugged_job(context)
    except FAILURES:
        return None
    return job if len(job.worlds) > 1 else None
