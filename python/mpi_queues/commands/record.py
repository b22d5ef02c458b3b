"""``mpi record``: writes what a reader needs of the processes into a file, to be looked at later and elsewhere."""

from __future__ import annotations

from typing import List

from .._native import NativeError
from ..errors import UsageError, UserError, as_user_error
from ..report.words import size
from ..targets.writer import new_recording
from . import options as opt
from .base import ALL, SELECTED, Command, chosen_processes, reason_of
from .context import Context
from .plugins import absolute

FULL = opt.Option(
    "full", "Also record all writable memory of the MPI library and the heap, for later versions.", short="F"
)


class RecordCommand(Command):
    """A recording."""

    name = "record"
    summary = "Write a recording of the processes, to be read elsewhere."
    description = (
        "It holds memory of the MPI library, symbols, layouts and stacks, not the contents of messages. To read it,\n"
        "type in a shell: mpi-queues show --recording FILE"
    )
    usage_words = "FILE"
    max_words = 1
    options = (FULL, SELECTED, ALL)
    examples = (("mpi record hang.mpirec", "all processes of this debugger in one file"),)

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        if not arguments.words:
            raise UsageError(f"{self.full_name}: needs the name of a file", help=f"type: help {self.full_name}")
        path = absolute(arguments.words[0])
        told: List[str] = []
        with new_recording(path) as writer:
            failures = []
            for process in chosen_processes(context, arguments):
                label = process.label

                def progress(done: int, total: int, label: str = label) -> None:
                    context.progress(f"{label}: {size(done)} of {size(total)} …")

                try:
                    problem = writer.add(process, full=arguments.has(FULL.name), progress=progress)
                except (NativeError, UserError) as error:
                    failures.append((process, as_user_error(error)))
                    continue
                finally:
                    context.progress("")
                if problem is not None:
                    told.append(f"{label}: {problem}; what could be read of it is recorded")
            if not writer.processes:
                raise reason_of(failures)
            told += [
                f"{process.label}: not recorded: {failure}"
                for process, failure in failures
                if failure.kind != "not_mpi" or arguments.has(ALL.name)
            ]
            count = writer.processes
        what = "1 process" if count == 1 else f"{count} processes"
        context.write("".join(f"{one}\n" for one in told))
        context.write(f"recorded {what} in {path} ({size(writer.size)})\n")
