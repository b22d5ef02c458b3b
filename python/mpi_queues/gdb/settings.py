"""``set mpi …`` and ``show mpi …`` as parameters of gdb."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple, Type

import gdb

from ..commands import Dialect
from ..commands.settings import BY_NAME

DIALECT = Dialect(
    process="inferior",
    set="set mpi",
    start="start the program with 'run', or type: attach PID",
    settings="help set mpi",
    trusted=" or on gdb's 'auto-load safe-path'",
    examples={"comms": (('print $_mpi_comm("halo")', "the handle of one, for expressions"),)},
)


def _documented(name: str) -> Callable[[Type[Any]], Type[Any]]:
    """Gives a parameter its help, which gdb reads from these attributes of the class."""
    setting = BY_NAME[name]

    def document(parameter: Type[Any]) -> Type[Any]:
        parameter.set_doc = f"Set {setting.what}"
        parameter.show_doc = f"Show {setting.what}"
        parameter.__doc__ = f"{DIALECT.fill(setting.details)}\n\nExample: set mpi {name} {setting.example}"
        return parameter

    return document


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
        for name in BY_NAME:
            gdb.write(f"{name}:  ")
            gdb.execute(f"show mpi {name}")


@_documented("source")
class SourceParameter(gdb.Parameter):
    def __init__(self) -> None:
        super().__init__("mpi source", gdb.COMMAND_DATA, gdb.PARAM_ENUM, list(BY_NAME["source"].choices))
        self.value = BY_NAME["source"].default

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return BY_NAME["source"].tell(value)


@_documented("plugin-path")
class PluginPathParameter(gdb.Parameter):
    def __init__(self) -> None:
        super().__init__("mpi plugin-path", gdb.COMMAND_DATA, gdb.PARAM_OPTIONAL_FILENAME)
        self.value = ""

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return BY_NAME["plugin-path"].tell(value)


@_documented("internal")
class InternalParameter(gdb.Parameter):
    def __init__(self) -> None:
        super().__init__("mpi internal", gdb.COMMAND_DATA, gdb.PARAM_BOOLEAN)
        self.value = False

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return BY_NAME["internal"].tell(value == "on")


@_documented("limit")
class LimitParameter(gdb.Parameter):
    def __init__(self) -> None:
        super().__init__("mpi limit", gdb.COMMAND_DATA, gdb.PARAM_UINTEGER)
        self.value = BY_NAME["limit"].default

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return BY_NAME["limit"].tell(value)


@_documented("timeout")
class TimeoutParameter(gdb.Parameter):
    def __init__(self) -> None:
        super().__init__("mpi timeout", gdb.COMMAND_DATA, gdb.PARAM_ZINTEGER)
        self.value = BY_NAME["timeout"].default
        self._last = self.value

    def get_set_string(self) -> str:
        if self.value < 1:
            refused, self.value = self.value, self._last
            raise gdb.GdbError(f"set mpi timeout {refused}: not a time; it stays at {self._last} seconds.")
        self._last = self.value
        return ""

    def get_show_string(self, value: str) -> str:
        return BY_NAME["timeout"].tell(value)


@_documented("layouts")
class LayoutsParameter(gdb.Parameter):
    def __init__(self) -> None:
        super().__init__("mpi layouts", gdb.COMMAND_DATA, gdb.PARAM_OPTIONAL_FILENAME)
        self.value = ""

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return BY_NAME["layouts"].tell(value)


@_documented("wrappers")
class WrappersParameter(gdb.Parameter):
    def __init__(self) -> None:
        super().__init__("mpi wrappers", gdb.COMMAND_DATA, gdb.PARAM_STRING_NOESCAPE)
        self.value = BY_NAME["wrappers"].default

    def get_set_string(self) -> str:
        return ""

    def get_show_string(self, value: str) -> str:
        return BY_NAME["wrappers"].tell(value)


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
        self._layouts = LayoutsParameter()
        self._wrappers = WrappersParameter()

    def get(self, name: str) -> Any:
        """The value of one, by its name in ``commands.settings``."""
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
        if name == "layouts":
            return self._layouts.value or ""
        if name == "wrappers":
            return self._wrappers.value or ""
        raise KeyError(name)
