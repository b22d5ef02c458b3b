"""``set mpi …`` and ``show mpi …`` as parameters of gdb."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import gdb

from ..report.text import DEFAULT_LIMIT

DEFAULT_TIMEOUT = 60

# gdb.Parameter reads its help from these class attributes: set_doc, show_doc and the docstring.


NAMES = ("source", "plugin-path", "internal", "limit", "timeout")


class _SetPrefix(gdb.Command):
    """Set how the mpi commands read and show message queues."""

    def __init__(self) -> None:
        super().__init__("set mpi", gdb.COMMAND_DATA, prefix=True)

    def invoke(self, argument: str, from_tty: bool) -> None:
        if argument:
            raise gdb.GdbError(f'Undefined set mpi command: "{argument.split()[0]}".  Try "help set mpi".')
        gdb.execute("help set mpi")


class _ShowPrefix(gdb.Command):
    """Show how the mpi commands read and show message queues."""

    def __init__(self) -> None:
        super().__init__("show mpi", gdb.COMMAND_DATA, prefix=True)

    def invoke(self, argument: str, from_tty: bool) -> None:
        if argument:
            raise gdb.GdbError(f'Undefined show mpi command: "{argument.split()[0]}".  Try "help show mpi".')
        for name in NAMES:
            gdb.write(f"{name}:  ")
            gdb.execute(f"show mpi {name}")


class SourceParameter(gdb.Parameter):
    """auto reads with the built-in reader, builtin and plugin are what they say.
    plugin uses the one that 'mpi plugin load' or 'set mpi plugin-path' names, else the one that the MPI library names.

    Example: set mpi source plugin"""

    set_doc = "Set who reads the message queues: auto, builtin or plugin."
    show_doc = "Show who reads the message queues."

    def __init__(self) -> None:
        super().__init__("mpi source", gdb.COMMAND_DATA, gdb.PARAM_ENUM, ["auto", "builtin", "plugin"])
        self.value = "auto"

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return f'The source of message queues is "{value}".'


class PluginPathParameter(gdb.Parameter):
    """Files and directories, separated by colons; the first plug-in found is used where a plug-in is asked for.
    Naming a plug-in here allows it to be loaded. Empty: the plug-in that the MPI library names.

    Example: set mpi plugin-path /opt/openmpi/lib/openmpi"""

    set_doc = "Set where message-queue plug-ins are looked for."
    show_doc = "Show where message-queue plug-ins are looked for."

    def __init__(self) -> None:
        super().__init__("mpi plugin-path", gdb.COMMAND_DATA, gdb.PARAM_OPTIONAL_FILENAME)
        self.value = ""

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return f'Message-queue plug-ins are looked for in "{value}".' if value else "No plug-in path is set."


class InternalParameter(gdb.Parameter):
    """Operations of MPI itself have negative tags: collectives, one-sided communication.

    Example: set mpi internal on"""

    set_doc = "Set whether 'mpi queues' shows operations of MPI itself."
    show_doc = "Show whether 'mpi queues' shows operations of MPI itself."

    def __init__(self) -> None:
        super().__init__("mpi internal", gdb.COMMAND_DATA, gdb.PARAM_BOOLEAN)
        self.value = False

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return f"Showing operations of MPI itself is {value}."


class LimitParameter(gdb.Parameter):
    """A number of rows of each queue, or 'unlimited'. JSON is always complete.

    Example: set mpi limit 1000"""

    set_doc = "Set how many operations of a queue are shown as text."
    show_doc = "Show how many operations of a queue are shown as text."

    def __init__(self) -> None:
        super().__init__("mpi limit", gdb.COMMAND_DATA, gdb.PARAM_UINTEGER)
        self.value = DEFAULT_LIMIT

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return f"At most {value} operations of a queue are shown."


class TimeoutParameter(gdb.Parameter):
    """In seconds, at least 1. A plug-in that takes longer is ended; what it said before is shown.

    Example: set mpi timeout 10"""

    set_doc = "Set how long a plug-in may take to read a process, in seconds."
    show_doc = "Show how long a plug-in may take to read a process, in seconds."

    def __init__(self) -> None:
        super().__init__("mpi timeout", gdb.COMMAND_DATA, gdb.PARAM_ZINTEGER)
        self.value = DEFAULT_TIMEOUT
        self._last = DEFAULT_TIMEOUT

    def get_set_string(self) -> str:
        if self.value < 1:
            refused, self.value = self.value, self._last
            raise gdb.GdbError(f"set mpi timeout {refused}: not a time; it stays at {self._last} seconds.")
        self._last = self.value
        return ""

    def get_show_string(self, value: str) -> str:
        return f"A plug-in may take {value} seconds to read a process."


class Settings:
    """All parameters of ``set mpi``."""

    def __init__(self) -> None:
        # The prefixes have to be there before the parameters.
        self._prefixes: Tuple[Any, ...] = (
            _SetPrefix(),
            _ShowPrefix(),
        )
        self._source = SourceParameter()
        self._plugin_path = PluginPathParameter()
        self._internal = InternalParameter()
        self._limit = LimitParameter()
        self._timeout = TimeoutParameter()

    def get(self, name: str) -> Any:
        """The value of one: ``source``, ``plugin-path``, ``internal``, ``limit``, ``timeout``."""
        if name == "source":
            return self._source.value
        if name == "plugin-path":
            return self._plugin_path.value or ""
        if name == "internal":
            return bool(self._internal.value)
        if name == "limit":
            limit: Optional[int] = self._limit.value
            # gdb says None for unlimited; older versions the largest number.
            return None if limit is None or limit >= 0xFFFF_FFFF else int(limit)
        if name == "timeout":
            return int(self._timeout.value)
        raise KeyError(name)
