"""The commands of the debuggers, one file each."""

from __future__ import annotations

from typing import List

from .attach import AttachCommand
from .base import Command
from .comms import CommsCommand
from .context import Context, Dialect
from .detach import DetachCommand
from .diagnose import DiagnoseCommand
from .foreach import ForeachCommand
from .handles import HandlesCommand
from .help import HelpCommand
from .info import InfoCommand
from .launch import LaunchCommand
from .plugin import PluginCommand
from .print import PrintCommand
from .queues import QueuesCommand
from .ranks import RanksCommand
from .record import RecordCommand
from .report import ReportCommand
from .stacks import StacksCommand

__all__ = ["Command", "Context", "Dialect", "all_commands"]


def all_commands(*further: Command) -> List[Command]:
    """Every command, in the order of the help; ``further`` are those that only this debugger has."""
    commands: List[Command] = [
        DiagnoseCommand(),
        ReportCommand(),
        StacksCommand(),
        QueuesCommand(),
        CommsCommand(),
        HandlesCommand(),
        PrintCommand(),
        InfoCommand(),
        PluginCommand(),
        RecordCommand(),
        LaunchCommand(),
        AttachCommand(),
        RanksCommand(),
        ForeachCommand(),
        DetachCommand(),
        *further,
    ]
    return [*commands, HelpCommand(commands)]
