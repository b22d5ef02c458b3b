"""Makes the commands, settings and convenience functions known to gdb."""

from __future__ import annotations

from typing import Any, List, Optional

import gdb

from .. import _native
from ..commands import Command, Context, all_commands
from ..commands.context import HandleValue
from ..debuggers.base import DebuggerError
from ..debuggers.sessions import ProcessSession
from ..errors import UserError, as_user_error
from ..request import COMMUNICATORS
from ..system.output import in_lines
from . import expressions as gdb_expressions
from . import types as gdb_types
from .jobs import GdbJobs
from .printers import Registration
from .sessions import GdbInferior, Sessions
from .settings import DIALECT, Settings

#: gdb pages by lines; pieces of about this size keep Ctrl-C and the pager's q quick.
_PIECE = 8192

_EXPECTED = (UserError, _native.NativeError, DebuggerError)


class GdbContext(Context):
    """gdb, as commands see it."""

    dialect = DIALECT

    def __init__(self) -> None:
        self._settings = Settings()
        self.jobs = GdbJobs()
        self._sessions = Sessions(self.jobs.name_of)
        self._sessions.connect()
        self._printers = Registration(self._sessions)

    def write(self, text: str) -> None:
        text = in_lines(text)
        for start in range(0, len(text), _PIECE):
            gdb.write(text[start : start + _PIECE])

    def processes(self) -> List[ProcessSession]:
        return list(self._sessions.live())

    def selected(self) -> GdbInferior:
        """The selected inferior.

        Raises:
            UserError: where it has no process.
        """
        for process in self._sessions.live():
            if process.selected:
                return process
        raise UserError(
            "the selected inferior has no process",
            help=self.dialect.start,
            kind="no_process",
        )

    def evaluate(self, expression: str, kind: Optional[str]) -> List[HandleValue]:
        self.selected().require_stopped()
        inferior, found = gdb_expressions.evaluate(expression, kind)
        process = self._sessions.of(inferior)
        return [HandleValue(one.expression, one.kind, one.value, one.fortran, process) for one in found]

    def setting(self, name: str) -> Any:
        return self._settings.get(name)


class _MpiPrefix(gdb.Command):
    """Show why an MPI job is stuck: message queues, communicators, what was detected.

    The process must be stopped; it is neither changed nor resumed.
    Example: mpi queues"""

    def __init__(self) -> None:
        super().__init__("mpi", gdb.COMMAND_DATA, prefix=True)

    def invoke(self, argument: str, from_tty: bool) -> None:
        if argument:
            raise gdb.GdbError(f'Undefined mpi command: "{argument.split()[0]}".  Try "help mpi".')
        gdb.execute("help mpi")


class _GdbCommand(gdb.Command):
    def __init__(self, command: Command, context: GdbContext) -> None:
        self._command = command
        self._context = context
        self.__doc__ = command.help_text(DIALECT)
        super().__init__(command.full_name, gdb.COMMAND_DATA)

    def invoke(self, argument: str, from_tty: bool) -> None:
        self.dont_repeat()
        try:
            self._command.run(self._context, self._command.parse(argument))
        except _EXPECTED as error:
            raise gdb.GdbError(in_lines(str(as_user_error(error)))) from None

    def complete(self, text: str, word: Optional[str]) -> Any:
        try:
            if self._command.completes != "expression" and not text.lstrip().startswith("-"):
                return self._completions_of_rest(text, word)
            if self._command.takes_expression:
                if not text.lstrip().startswith("-"):
                    return gdb.COMPLETE_EXPRESSION
                expression = self._command.expression_in(text)
                if expression is not None:
                    return _completions(expression, word)
            unfinished, candidates = self._command.complete(self._context, text)
        except (*_EXPECTED, gdb.error):
            return []
        # gdb breaks words at characters such as - and replaces only what stands after them.
        kept = len(unfinished) - len(word) if word is not None and unfinished.endswith(word) else 0
        return [candidate[kept:] for candidate in candidates]

    def _completions_of_rest(self, text: str, word: Optional[str]) -> Any:
        if self._command.completes == "program":
            return gdb.COMPLETE_FILENAME
        ranks, space, rest = text.lstrip().partition(" ")
        if space:
            return _completions(rest.lstrip(), word, typed="")
        return [one for one in self._command.words(self._context) if one.startswith(ranks)]


def _completions(expression: str, word: Optional[str], typed: str = "print -- ") -> List[str]:
    """What gdb would offer in place of ``word``, the end of what follows ``typed``."""
    if word is None or not expression.endswith(word):
        return []
    kept = len(typed) + len(expression) - len(word)
    lines = gdb.execute(f"complete {typed}{expression}", to_string=True).splitlines()
    # gdb says in a line of its own that there are more than max-completions.
    return [line[kept:] for line in lines if line.startswith(typed) and " *** List " not in line]


class _RankFunction(gdb.Function):
    """$_mpi_rank(): the rank of the selected inferior in MPI_COMM_WORLD.

    Example: break solve if $_mpi_rank() == 3"""

    def __init__(self, context: GdbContext) -> None:
        self._context = context
        super().__init__("_mpi_rank")

    def invoke(self) -> int:
        return _identity(self._context, "rank", "rank")


class _SizeFunction(gdb.Function):
    """$_mpi_size(): the size of MPI_COMM_WORLD of the selected inferior.

    Example: print $_mpi_size()"""

    def __init__(self, context: GdbContext) -> None:
        self._context = context
        super().__init__("_mpi_size")

    def invoke(self) -> int:
        return _identity(self._context, "world_size", "size")


class _CommFunction(gdb.Function):
    """$_mpi_comm("NAME"): the handle of the communicator of that name in the selected inferior.

    It is of the program's type MPI_Comm where its debug information has that type. In frames of Fortran, whose texts
    stand in single quotes, it is the integer that Fortran has for it.
    Example: print $_mpi_comm("halo") == comm"""

    def __init__(self, context: GdbContext) -> None:
        self._context = context
        super().__init__("_mpi_comm")

    def invoke(self, name: Any) -> Any:
        try:
            wanted = gdb_types.text_of(name)
        except (gdb.error, AttributeError, UnicodeDecodeError):
            raise gdb.GdbError(
                '$_mpi_comm: needs a name in quotes, such as $_mpi_comm("MPI_COMM_WORLD"), '
                "in Fortran $_mpi_comm('MPI_COMM_WORLD')"
            ) from None
        try:
            snapshot = self._context.selected().read(COMMUNICATORS.within(5.0))
        except _EXPECTED as error:
            raise gdb.GdbError(in_lines(str(as_user_error(error)))) from None
        found = [one for process in snapshot.processes for one in process.communicators if one.name == wanted]
        if not found:
            raise gdb.GdbError(f"$_mpi_comm: no communicator is named {wanted!r}; to see all, type: mpi comms")
        if len(found) > 1:
            raise gdb.GdbError(
                f"$_mpi_comm: {len(found)} communicators are named {wanted!r}; to tell them apart, type: mpi comms"
            )
        if found[0].handle is None:
            raise gdb.GdbError(f"$_mpi_comm: the handle of {wanted!r} is not known")
        handle = int(found[0].handle, 16)
        return self._in_fortran(handle, wanted) if gdb_types.fortran_is_spoken() else _typed(handle)

    def _in_fortran(self, handle: int, name: str) -> Any:
        try:
            number = self._context.selected().describe("comm", handle)["fortran"]
        except _EXPECTED as error:
            raise gdb.GdbError(in_lines(str(as_user_error(error)))) from None
        if number is None:
            raise gdb.GdbError(
                f"$_mpi_comm: Fortran's integer for {name!r} is not known; for C's handle, type first: set language c"
            )
        return gdb.Value(number)


def _typed(handle: int) -> Any:
    """C's handle, of the program's own type where gdb knows that."""
    address = gdb.Value(handle)
    try:
        type_ = gdb.lookup_type("MPI_Comm")
        # Fortran's type of that name is found too: a structure of one integer.
        if type_.strip_typedefs().code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_INT):
            return address.cast(type_)
    except gdb.error:
        pass
    return address.cast(gdb_types.opaque_pointer())


def _identity(context: GdbContext, key: str, what: str) -> int:
    try:
        value = context.selected().asked(_native.Session.identity).get(key)
    except _EXPECTED as error:
        raise gdb.GdbError(in_lines(str(as_user_error(error)))) from None
    if value is None:
        raise gdb.GdbError(f"the {what} in MPI_COMM_WORLD is not known; type: mpi info")
    return value


_installed: List[Any] = []


def install() -> None:
    """Registers everything; a second time it does nothing."""
    if _installed:
        return
    context = GdbContext()
    _installed.append(context)
    _installed.append(_MpiPrefix())
    _installed.extend(_GdbCommand(command, context) for command in all_commands())
    _installed.extend((_RankFunction(context), _SizeFunction(context), _CommFunction(context)))
