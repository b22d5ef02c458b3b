"""A debugger command, whatever the debugger."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Dict, List, Optional, Sequence, Tuple

from .._native import NativeError, Session, Snapshot
from ..debuggers.sessions import ProcessSession
from ..errors import UsageError, UserError, as_user_error
from ..report.words import fitted, in_columns, wrapped
from ..request import COMMUNICATORS, Request, wrappers_in
from . import options as opt
from . import universe
from .context import Context, Dialect
from .job_ranks import RANKS, chosen, debugged_job, named, rank_words
from .plugins import absolute, requested_plugin

FORMAT = opt.Option(
    "format", "Text for people or JSON (schema mpi-queues/1).", "text|json", ("text", "json"), short="f"
)
VERBOSE = opt.Option("verbose", "Show all that is known about each.", short="v")
COMM = opt.Option("comm", "Only communicators with this name.", "NAME", short="c")
RANK = opt.Option("rank", "Only the process of this rank in MPI_COMM_WORLD.", "N", short="r")
INTERNAL = opt.Option("internal", "Also show operations of MPI itself, with the collective they belong to.", short="i")
SOURCE = opt.Option(
    "source",
    "What reads the queues: the built-in reader, a vendor's plug-in (or plugin=PATH), or the flight recorder.",
    "SOURCE",
    ("auto", "builtin", "plugin", "recorder"),
    also="plugin=",
    short="s",
)
SELECTED = opt.Option("selected", "Only the selected {process}; the default is every MPI process.", short="S")
ALL = opt.Option("all", "Every {process}; for those that are not MPI processes, say why not.", short="a")


class Command(ABC):
    """One command under the prefix ``mpi``. Stateless: all state is the context's."""

    name: ClassVar[str]
    #: One sentence; the first line of the help.
    summary: ClassVar[str]
    #: Further lines of the help, in the words of ``Dialect.fill``.
    description: ClassVar[str] = ""
    options: ClassVar[Tuple[opt.Option, ...]] = ()
    #: The words that it takes, for the usage line.
    usage_words: ClassVar[str] = ""
    max_words: ClassVar[int] = 0
    #: Whether an expression of the debugger stands after the options; it is the only word then, as it was typed.
    takes_expression: ClassVar[bool] = False
    #: What that is, for completion: an ``expression``, a ``program`` with its arguments, or ranks and a ``command``.
    completes: ClassVar[str] = "expression"
    #: What to type, and what it does.
    examples: ClassVar[Tuple[Tuple[str, str], ...]]

    @abstractmethod
    def run(self, context: Context, arguments: opt.Arguments) -> None:
        """Does it.

        Raises:
            UserError, NativeError, DebuggerError: what the user reads.
        """

    def words(self, context: Context) -> Sequence[str]:
        """Words that may stand where no option does, for completion."""
        return ()

    @property
    def full_name(self) -> str:
        """As it is typed."""
        return f"{Context.prefix} {self.name}"

    def parse(self, text: str) -> opt.Arguments:
        """Takes apart what was typed after it."""
        if self.takes_expression:
            arguments, expression = opt.leading(text, self.options, command=self.full_name)
            arguments.words = [expression] if expression else []
            return arguments
        return opt.parse(text, self.options, words=self.max_words, command=self.full_name)

    def expression_in(self, text: str) -> Optional[str]:
        """The unfinished expression of a command that takes one, None while an option is still typed."""
        try:
            _, expression = opt.leading(text, self.options, command=self.full_name)
        except UsageError:
            return None
        return expression if expression and not expression.startswith("-") else None

    def complete(self, context: Context, text: str) -> Tuple[str, List[str]]:
        """The last, unfinished word of ``text``, and what may stand in its place."""
        return opt.complete(text, self.options, lambda option: self._values(context, option), self.words(context))

    def _values(self, context: Context, option: opt.Option) -> Sequence[str]:
        if option.name == COMM.name:
            return communicator_names(context)
        if option.name == RANKS.name:
            return rank_words(context)
        if option.name == RANK.name:
            ranks = (process.asked(Session.identity).get("rank") for process in context.processes())
            return [str(rank) for rank in ranks if rank is not None]
        return [*option.choices, option.also] if option.also else option.choices

    def help_text(self, dialect: Dialect) -> str:
        """All of the help."""
        lines = [fitted(self.summary), "", *wrapped("Usage: " + self.usage, "", "         ").splitlines()]
        details = fitted(self.details(dialect))
        if details:
            lines += ["", details]
        if self.options:
            lines.append("")
            lines += in_columns([(option.usage, dialect.fill(option.help)) for option in self.options])
        return "\n".join([*lines, "", self.examples_text(dialect)])

    def details(self, dialect: Dialect) -> str:
        """What there is to say besides the summary; may be empty."""
        return dialect.fill(self.description)

    def examples_text(self, dialect: Dialect) -> str:
        """The examples under their heading."""
        examples = (*self.examples, *dialect.examples.get(self.name, ()))
        return "\n".join(["Example:" if len(examples) == 1 else "Examples:", *in_columns(examples)])

    @property
    def usage(self) -> str:
        """One line."""
        words = [self.usage_words] if self.usage_words else []
        options = ["[OPTION]..."] if self.options else []
        return " ".join([self.full_name, *(options + words if self.takes_expression else words + options)])


def communicator_names(context: Context) -> List[str]:
    """Names of communicators for completion: nothing rather than an error while somebody types."""
    names: Dict[str, None] = {}
    for process in context.processes():
        try:
            snapshot = process.read(COMMUNICATORS.within(5.0))
        except (NativeError, UserError):
            continue
        for read in snapshot.processes:
            for communicator in read.communicators:
                if communicator.name:
                    names.setdefault(communicator.name)
    return list(names)


def chosen_processes(context: Context, arguments: opt.Arguments) -> List[ProcessSession]:
    """The processes that a command is about.

    Raises:
        UserError: where there is none.
    """
    processes = context.processes()
    if arguments.has(SELECTED.name):
        processes = [process for process in processes if process.selected]
    if processes and arguments.get(RANKS.name) is not None:
        processes = _of_ranks(context, processes, arguments)
    if not processes:
        raise UserError(
            "no process: nothing is being debugged here",
            help=context.dialect.start,
            kind="no_process",
        )
    prepare(context, processes)
    return processes


def prepare(context: Context, processes: Sequence[ProcessSession]) -> None:
    """Tells processes the settings by which they are read.

    Raises:
        UserError: where the layout profile is none.
    """
    paths = [absolute(entry) for entry in str(context.setting("plugin-path") or "").split(os.pathsep) if entry]
    layouts = str(context.setting("layouts") or "")
    for process in processes:
        process.set_plugin_path(paths)
        process.set_layouts(absolute(layouts) if layouts else None)


def _of_ranks(context: Context, processes: List[ProcessSession], arguments: opt.Arguments) -> List[ProcessSession]:
    """Those of the ranks that were asked for.

    Raises:
        UserError: where the debugger has none of them, or no job is known.
    """
    asked = chosen(arguments.get(RANKS.name), debugged_job(context), f"-{RANKS.name}")
    pids = {entry.pid for entry in asked if entry.pid is not None}
    found = [process for process in processes if process.pid in pids]
    if not found:
        raise UserError(f"not attached to any of: {named(asked)}", help="type: mpi ranks", kind="not_attached")
    return found


def from_processes(context: Context, arguments: opt.Arguments, request: Request) -> Snapshot:
    """What the chosen processes answer, in one snapshot; where the request ``tells_of_all`` also what is known of those
    that are before MPI_Init or after MPI_Finalize.

    Raises:
        UserError: where none of them answers.
    """
    snapshots: List[Snapshot] = []
    failures: List[Tuple[ProcessSession, UserError]] = []
    processes = chosen_processes(context, arguments)
    worlds = universe.place(context, processes)
    for process in processes:
        try:
            snapshots.append(process.ask(request))
        except (NativeError, UserError) as error:
            failures.append((process, as_user_error(error)))
    # Of one process alone the reason says more than where it stands.
    if request.tells_of_all and len(processes) > 1:
        for failed in list(failures):
            process, failure = failed
            outline = process.asked(request.outline) if failure.kind in ("not_initialized", "finalized") else None
            if outline is not None:
                snapshots.append(outline)
                failures.remove(failed)
    if not snapshots:
        raise reason_of(failures)
    told = [
        f"{process.label}: {failure.in_a_line}"
        for process, failure in failures
        if failure.kind != "not_mpi" or arguments.has(ALL.name)
    ]
    return Snapshot.merged(snapshots, told, worlds=worlds)


def write_json(context: Context, snapshot: Snapshot) -> None:
    """What ``-format json`` shows."""
    snapshot.write_json(context.write, indent=2)
    context.write("\n")


def reason_of(failures: Sequence[Tuple[ProcessSession, UserError]]) -> UserError:
    """One error for many, of which there is one at least."""
    # A process that is not of MPI explains least.
    worst, failure = next((pair for pair in failures if pair[1].kind != "not_mpi"), failures[0])
    if len(failures) == 1:
        return failure
    return UserError(f"{worst.label}: {failure.args[0]}", help=failure.help, kind=failure.kind)


def requested(context: Context, arguments: opt.Arguments, **asked: Any) -> Request:
    """Who is to read: the source asked for, the plug-in asked for by name, the time limit; and what is ``asked``.

    Raises:
        UserError: where that plug-in is not there.
    """
    source, plugin = requested_plugin(
        arguments.get(SOURCE.name) or str(context.setting("source")), context.loaded_plugin
    )
    wrappers = wrappers_in(str(context.setting("wrappers") or ""))
    return Request(source=source, plugin=plugin, timeout=float(context.setting("timeout")), wrappers=wrappers, **asked)
