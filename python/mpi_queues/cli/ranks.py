"""``mpi-queues ranks``: the ranks of a running job, from its launcher."""

from __future__ import annotations

import argparse
import sys
from typing import Any, List

from ..launchers.model import Job
from ..nodes import ranks as nodes
from ..nodes.engines import PREFIXES, engine_of
from ..report import progress
from ..report.ranks import job_json, write_job
from ..system.output import json_text
from ..targets.jobs import found_job
from .answers import tell, terminal_style
from .options import add_engine, add_format, add_job, add_timeout, named_job


def add_command(commands: Any) -> None:
    """Adds the command's parser."""
    parser = commands.add_parser(
        "ranks",
        help="the ranks of a running job, with host, pid and state",
        description="Lists the ranks of a job, where they run, and how that is known. Processes that MPI_Comm_spawn "
        "started form worlds of their own. No process is stopped.",
        epilog="examples:\n"
        "  mpi-queues ranks              the only job of this machine\n"
        "  mpi-queues ranks 4242         by the process id of its launcher, or of any process of the job\n"
        "  mpi-queues ranks mpirun       by the launcher's name\n"
        "  mpi-queues ranks slurm:1234   on all nodes of a job, by the cluster's engine\n"
        "  mpi-queues ranks 4242 --format json | jq '.processes[] | [.rank, .host, .pid]'",
    )
    add_job(parser)
    add_engine(parser)
    add_format(parser)
    add_timeout(parser, "limit for finding them (default: 60)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Finds and shows them; returns the exit status."""
    name = named_job(options)
    if name is not None and name.startswith(PREFIXES):
        job = nodes.of_job(name, options.timeout, progress.of_nodes(), engine_of(name, options.engine))
    else:
        job = found_job(name, options.timeout)
    if options.format == "json":
        sys.stdout.write(json_text(job_json(job)))
    else:
        write_job(job, sys.stdout.write, terminal_style())
    problems = unfound(job)
    if options.format == "json" or not (sys.stdout.isatty() and sys.stderr.isatty()):
        tell(problems)
    return 1 if problems else 0


def unfound(job: Job) -> List[str]:
    """What of a job could not be found out: ranks of which nobody knows where they are, and what else is wrong."""
    lost = [f"{one.name}: {one.problem}" for one in job.ranks if one.pid is None and one.state == "unknown"]
    return [*lost, *job.problems]
