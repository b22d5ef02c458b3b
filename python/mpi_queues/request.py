"""What is asked of a process: one object, from the command line, a command or a program to the call of the core."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any, Dict, Literal, Optional, Tuple, Union

from ._native import Session, Snapshot
from .handle_types import HandleDict

Action = Literal["read", "stacks", "handles", "compare", "layouts", "record"]

#: The variable of the environment that names what wraps MPI, where nothing else does.
WRAPPERS = "MPI_QUEUES_WRAPPERS"


def wrappers_in(text: str) -> Tuple[str, ...]:
    """The names in what a person has typed for ``wrappers``, separated by commas."""
    return tuple(name for name in (piece.strip() for piece in text.split(",")) if name)


def _usual_wrappers() -> Tuple[str, ...]:
    return wrappers_in(os.environ.get(WRAPPERS, ""))


@dataclass(frozen=True)
class Request:
    """What is asked of every target."""

    action: Action = "read"
    #: ``auto``, ``builtin`` or ``plugin``.
    source: str = "auto"
    #: The path of a plug-in that was asked for by name; None: it is searched for.
    plugin: Optional[str] = None
    #: Also the queues, or the communicators only.
    queues: bool = True
    #: Handles: pairs of a kind and a value, None for all of that kind. Where they alone are asked for and none is
    #: named, every kind.
    wanted: Tuple[Tuple[str, Optional[str]], ...] = ()
    #: Seconds for one target, and for several that are stopped together.
    timeout: float = 60.0
    #: For recordings: all writable memory of the MPI library, too.
    full: bool = False
    #: A layout profile to use instead of the shipped ones.
    layouts: Optional[str] = None
    #: Where an answer is kept until it is used; None for the system's place of temporary files.
    spool: Optional[str] = None
    #: Also the frames of all threads.
    stacks: bool = False
    #: Ranks before MPI_Init or after MPI_Finalize are told of even where no other could be read: to a diagnosis it
    #: matters where they stand.
    tells_of_all: bool = False
    #: Libraries and functions that wrap MPI for the application: calls are shown where these are called.
    wrappers: Tuple[str, ...] = field(default_factory=_usual_wrappers)

    def within(self, seconds: float) -> Request:
        """The same, with another time limit."""
        return replace(self, timeout=seconds)

    @property
    def gives_snapshots(self) -> bool:
        """Whether a process answers with a snapshot."""
        return self.action in ("read", "stacks", "handles")

    # The calls of the core. All raise NativeError as these do.

    def ask(self, session: Session) -> Any:
        """What a process answers to the action, but to be recorded: a snapshot or facts."""
        if self.action == "layouts":
            # Reading the communicators is what proves that the layouts fit; where they do not, this says what differs.
            COMMUNICATORS.read(session)
            return session.info()
        if self.action == "stacks":
            return session.standing(wrappers=self.wrappers)
        if self.action == "handles":
            return session.handles(self.wanted, source=self.source, plugin=self.plugin, timeout=self.timeout)
        if self.action == "compare":
            return session.compare(plugin=self.plugin, timeout=self.timeout)
        return self.read(session)

    def read(self, session: Session) -> Snapshot:
        """:meth:`Session.read`, with the objects of the kinds that are wanted."""
        kinds = [kind for kind, _ in self.wanted]
        return session.read(
            source=self.source,
            plugin=self.plugin,
            timeout=self.timeout,
            queues=self.queues,
            handles=kinds,
            stacks=self.stacks,
            wrappers=self.wrappers,
        )

    def outline(self, session: Session) -> Optional[Snapshot]:
        """:meth:`Session.outline`."""
        return session.outline(stacks=self.stacks, wrappers=self.wrappers)

    def describe(
        self, session: Session, kind: str, value: Union[int, bytes], *, fortran: bool, full: bool
    ) -> HandleDict:
        """:meth:`Session.describe`."""
        return session.describe(
            kind, value, fortran=fortran, full=full, source=self.source, plugin=self.plugin, timeout=self.timeout
        )

    def plugin_info(self, session: Session) -> Dict[str, Any]:
        """:meth:`Session.plugin_info`."""
        return session.plugin_info(plugin=self.plugin, timeout=self.timeout)

    def handle_plugin_info(self, session: Session) -> Dict[str, Any]:
        """:meth:`Session.handle_plugin_info`."""
        return session.handle_plugin_info(plugin=self.plugin, timeout=self.timeout)


#: Reads no more than the communicators, as the built-in reader knows them.
COMMUNICATORS = Request(source="builtin", queues=False)


#: As it is read where nobody says anything else.
USUAL = Request()
