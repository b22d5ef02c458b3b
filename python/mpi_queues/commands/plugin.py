"""``mpi plugin``: the vendor's plug-ins, for message queues and for handles."""

from __future__ import annotations

from typing import Sequence

from ..errors import UsageError
from ..report import facts
from . import options as opt
from . import universe
from .base import SELECTED, SOURCE, Command, chosen_processes, requested
from .context import Context
from .plugins import existing_plugin


class PluginCommand(Command):
    """The plug-in."""

    name = "plugin"
    summary = "Show the plug-ins of the MPI library, or load one by its path."
    description = (
        "A plug-in runs in a process of its own, under the time limit of '{set} timeout'. A plug-in that the program "
        "names is used only if it belongs to root or to you, no other user can write to it, and it is in a system "
        "directory{trusted}. 'mpi plugin load' uses any plug-in that you name."
    )
    usage_words = "[load PATH | info]"
    max_words = 2
    options = (SELECTED,)
    examples = (
        ("mpi plugin info", "which plug-in would be used, and how it was found"),
        ("mpi plugin load /opt/mpi/lib/libompi_dbg_msgq.so", "use this one; then: mpi queues -source plugin"),
    )

    def words(self, context: Context) -> Sequence[str]:
        return ("info", "load")

    def run(self, context: Context, arguments: opt.Arguments) -> None:
        action = arguments.words[0] if arguments.words else "info"
        if action == "load":
            if len(arguments.words) != 2:
                raise UsageError("mpi plugin load: needs the path of a plug-in", help="type: help mpi plugin")
            self._load(context, arguments)
        elif action == "info" and len(arguments.words) <= 1:
            self._info(context, arguments)
        else:
            raise UsageError(f"mpi plugin: does not take {' '.join(arguments.words)!r}", help="type: help mpi plugin")

    def _info(self, context: Context, arguments: opt.Arguments) -> None:
        # Which was asked for by name, whatever source is set.
        request = requested(context, opt.Arguments(values={SOURCE.name: "plugin"}))
        processes = chosen_processes(context, arguments)
        universe.place(context, processes)
        for process in processes:
            info = process.asked(request.plugin_info)
            info["for_handles"] = process.asked(request.handle_plugin_info)
            facts.write_facts(process.label, info, context.write)

    def _load(self, context: Context, arguments: opt.Arguments) -> None:
        path = existing_plugin(arguments.words[1])
        info = None
        for process in chosen_processes(context, arguments):
            info = process.asked(lambda session: session.trust_plugin(path))
        context.loaded_plugin = path
        if info is not None:
            facts.write_facts(f"loaded {path}", info, context.write)
        # The two interfaces number themselves under names of their own.
        command = "mpi handles comm" if info is not None and "interface" in info else "mpi queues"
        context.write(context.dialect.fill(f"To use it, type: {command} -source plugin, or: {{set}} source plugin\n"))
