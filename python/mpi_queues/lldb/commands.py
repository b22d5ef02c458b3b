"""Makes the commands known to lldb."""

from __future__ import annotations

import importlib.util
import re
import sys
import threading
from typing import Any, Callable, Dict, List, Optional, Type

import lldb

from .. import _native
from ..commands import Command, Context, Dialect, all_commands
from ..commands import options as opt
from ..commands.config import ConfigCommand
from ..commands.context import HandleValue
from ..commands.settings import Values
from ..debuggers import base
from ..debuggers.base import DebuggerError
from ..debuggers.sessions import ProcessSession
from ..errors import UserError, as_user_error
from ..system.output import in_lines
from . import formatters as lldb_formatters
from . import print as lldb_print
from .jobs import LldbJobs
from .sessions import LldbTarget, ThreadSessions

DIALECT = Dialect(
    process="target",
    set="mpi config",
    start="start the program with 'run', or type: process attach -p PID",
    settings="mpi config",
)

#: Between pieces of about this size it is asked whether the user has interrupted.
_PIECE = 65536

_EXPECTED = (UserError, _native.NativeError, DebuggerError)


class LldbContext(Context):
    """One of lldb's debuggers, as commands see it while one of them runs."""

    dialect = DIALECT

    def __init__(self, number: int) -> None:
        self.jobs: LldbJobs = LldbJobs(number)
        self.settings = Values()
        self._number = number
        self._thread = 0
        self._sessions = ThreadSessions()
        self._debugger: Any = None
        self._result: Any = None

    def run(self, debugger: Any, result: Any, act: Callable[[], None]) -> None:
        """Runs a command; its output and its error are lldb's result."""
        self._debugger, self._result, self._thread = debugger, result, threading.get_ident()
        unchanged = base.wants_interrupt
        base.wants_interrupt = debugger.GetCommandInterpreter().WasInterrupted
        try:
            self._sessions.here().begin()
            act()
            result.SetStatus(lldb.eReturnStatusSuccessFinishResult)
        except _EXPECTED as error:
            result.SetError(in_lines(str(as_user_error(error))))
        except KeyboardInterrupt:
            result.SetError("interrupted")
        finally:
            base.wants_interrupt = unchanged
            # lldb's objects belong to the call.
            self._debugger = self._result = None

    def write(self, text: str) -> None:
        text = in_lines(text)
        if self._result is None or threading.get_ident() != self._thread:
            # No command's: what happens to a launcher, told on the thread that takes lldb's events.
            out = lldb.SBDebugger.FindDebuggerWithID(self._number).GetOutputFile()
            out.Write(text.encode("utf-8", "replace"))
            out.Flush()
            return
        for start in range(0, len(text), _PIECE):
            if base.wants_interrupt():
                raise KeyboardInterrupt
            self._result.write(text[start : start + _PIECE])

    def processes(self) -> List[ProcessSession]:
        sessions, debugger = self._sessions.here(), self._debugger
        if debugger is None or threading.get_ident() != self._thread:
            # No command's: what happens to a rank, on the thread that takes lldb's events.
            debugger = lldb.SBDebugger.FindDebuggerWithID(self._number)
            sessions.begin()
        live = sessions.live(debugger)
        return [process for process in live if not self.jobs.runs_beside(process.pid)]

    def evaluate(self, expression: str, kind: Optional[str]) -> List[HandleValue]:
        target = self._debugger.GetSelectedTarget()
        try:
            process = self.session_of(self._debugger, target)
        except UserError as error:
            raise UserError(str(error), help=DIALECT.start, kind=error.kind) from None
        thread = target.GetProcess().GetSelectedThread()
        frame = thread.GetSelectedFrame() if thread.IsValid() else None
        found = process.reached(lambda: lldb_print.evaluate(target, frame, expression, kind))
        return [HandleValue(one.expression, one.kind, one.value, one.fortran, process) for one in found]

    def session_of(self, debugger: Any, target: Any) -> LldbTarget:
        """The session of a target, also where no command runs.

        Raises:
            UserError: where it has no process.
        """
        return self._sessions.here().of(debugger, target)

    def setting(self, name: str) -> Any:
        return self.settings.get(name)


class LldbCommand:
    """A command whose options lldb takes apart, completes and documents (``command script add --parsed``).

    The methods are those that lldb calls, with the names that it wants (lldb's own ``lldb.plugins.parsed_cmd``).
    """

    command: Command

    def __init__(self, debugger: Any, _: Any) -> None:
        self._context = _contexts[int(debugger.GetID())]
        self._given = opt.Arguments()

    def get_short_help(self) -> str:
        return self.command.summary

    def get_long_help(self) -> str:
        # lldb breaks the lines itself.
        details = re.sub(r"(?<!\n)\n(?!\n)", " ", self.command.details(DIALECT))
        return "\n" + (details + "\n\n" if details else "") + self.command.examples_text(DIALECT) + "\n"

    def get_flags(self) -> int:
        return 0

    def get_options_definition(self) -> Dict[str, Dict[str, Any]]:
        return {option.name: _definition(option) for option in self.command.options}

    def get_args_definition(self) -> List[List[Dict[str, Any]]]:
        if not self.command.max_words:
            return []
        return [[{"arg_type": lldb.eArgTypeValue, "repeat": "star"}]]

    def option_parsing_started(self) -> None:
        self._given = opt.Arguments()

    def set_option_value(self, _: Any, name: str, value: str) -> bool:
        option = next(option for option in self.command.options if option.name == name)
        if option.value is None:
            self._given.switches[name] = True
        else:
            self._given.values[name] = value
        return True

    def __call__(self, debugger: Any, words: Any, _: Any, result: Any) -> None:
        given = self._given
        given.words = [str(words.GetItemAtIndex(index)) for index in range(int(words.GetSize()))]
        command = self.command

        def act() -> None:
            arguments = opt.checked(given, command.options, words=command.max_words, command=command.full_name)
            command.run(self._context, arguments)

        self._context.run(debugger, result, act)


class RawLldbCommand:
    """A command as lldb before 19 has them: it gets what was typed as it was typed."""

    command: Command

    def __init__(self, debugger: Any, _: Any) -> None:
        self._context = _contexts[int(debugger.GetID())]

    def get_short_help(self) -> str:
        return self.command.summary

    def get_long_help(self) -> str:
        return self.command.help_text(DIALECT)

    def __call__(self, debugger: Any, text: str, _: Any, result: Any) -> None:
        self._context.run(debugger, result, lambda: self.command.run(self._context, self.command.parse(text)))


def _definition(option: opt.Option) -> Dict[str, Any]:
    definition: Dict[str, Any] = {
        "short_option": option.short,
        "required": False,
        "help": DIALECT.fill(option.help),
    }
    if option.value is not None:
        definition["value_type"] = lldb.eArgTypeValue
    if option.choices:
        definition["enum_values"] = [[choice, choice] for choice in option.choices]
    return definition


#: By the number of lldb's debugger: a program may have several.
_contexts: Dict[int, LldbContext] = {}


def install(debugger: Any) -> None:
    """Registers everything with this debugger; a second time it does nothing."""
    number = int(debugger.GetID())
    if number in _contexts:
        return
    context = _contexts[number] = LldbContext(number)
    run = debugger.HandleCommand
    run('command container add -o -h "Show why an MPI job is stuck: message queues and communicators." mpi')
    parsed = importlib.util.find_spec("lldb.plugins.parsed_cmd") is not None
    for command in all_commands(ConfigCommand(context.settings)):
        # lldb's own options would take an expression apart.
        apart = parsed and not command.takes_expression
        name = _class_of(command, number, LldbCommand if apart else RawLldbCommand)
        run(
            f"command script add {'-o -p' if apart else '-o' if parsed else ''} -c {__name__}.{name} mpi {command.name}"
        )
    lldb_formatters.install(debugger, context.session_of)


def _class_of(command: Command, number: int, base_class: Type[Any]) -> str:
    """Makes the class that lldb asks for by name."""
    name = f"{type(command).__name__}_{number}"
    made: Type[Any] = type(name, (base_class,), {"command": command, "__doc__": command.summary})
    setattr(sys.modules[__name__], name, made)
    return name
