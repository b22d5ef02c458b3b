"""``mpi ranks``: the ranks of the job that is being debugged."""

from __future__ import annotations

from typing import Any, Dict

from ..launchers.model import Job
from ..report.ranks import job_json, write_job
from ..report.words import wrapped
from ..system.output import json_text
from . import gates, mpir, spawning
from . import options as opt
from .base import FORMAT, VERBOSE, Command
from .context import Context
from .job_control import Held
from .job_ranks import FAILURES, as_held, debugged_job, having, held_ranks


class RanksCommand(Command):
    """The process table."""

    name = "ranks"
    summary = "Show the ranks of the job: what each is here, its pid, host, state."
    description = (
        "-verbose adds what the launcher says about itself (MPIR), if it is being debugged. With '{set} source plugin' "
        "it also shows processes that only the plug-in of a stopped rank knows."
    )
    options = (FORMAT, VERBOSE)
    examples = (("mpi ranks", "of the job that is being debugged"),)

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        held = held_ranks(context)
        job = as_held(spawning.with_told(context, debugged_job(context), held), held)
        spoken = self._launcher(context, job, held) if arguments.has(VERBOSE.name) else None
        if arguments.get(FORMAT.name) == "json":
            found = job_json(job)
            for process, entry in zip(found["processes"], job.ranks):
                one = having(entry, held)
                process["held_by"] = one.label if one is not None else None
            if spoken is not None:
                found["job"]["mpir"] = spoken
            context.write(json_text(found))
            return
        selected = next((pid for pid, one in held.items() if one.selected), None)
        labels = {pid: one.label + (" *" if pid == selected else "") for pid, one in held.items()}
        write_job(job, context.write, held=(context.dialect.process, labels))
        launcher = held.get(job.pid)
        if launcher is not None:
            context.tell(f"The launcher is {launcher.label}, {launcher.state}.")
        for name, said in (spoken or {}).items():
            context.write(wrapped(f"{name}: {said}", "  ", "    "))
        if arguments.has(VERBOSE.name) and not spoken:
            context.tell(
                "To see what the launcher says about itself (MPIR), attach to it: mpi attach -launcher"
                if spoken is None
                else f"The launcher says nothing about itself: it does not have the MPIR interface ({mpir.BREAKPOINT})."
            )

    def _launcher(self, context: Context, job: Job, held: Dict[int, Held]) -> Any:
        if job.pid not in held:
            return None
        try:
            return gates.facts(context.jobs, job.pid)
        except FAILURES as error:
            return {"problem": str(error)}
