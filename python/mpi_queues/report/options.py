"""How snapshots are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence

from .words import WIDTH

Write = Callable[[str], object]


#: Rows of a queue unless the user asks for more.
DEFAULT_LIMIT = 200


@dataclass
class Options:
    """How a snapshot is shown."""

    #: Columns of the terminal.
    width: int = WIDTH
    #: Rows of each queue; None for all.
    limit: Optional[int] = DEFAULT_LIMIT
    #: How many internal operations were left out, and what to type to see them.
    hidden_internal: int = 0
    show_internal: str = ""
    #: What to type to see more rows.
    show_more: str = ""
    #: Show communicators in which nothing is pending in full, too.
    every_communicator: bool = False
    #: Emphasis on a terminal: the kind (``process``, ``communicator``, ``problem``) and the text.
    style: Callable[[str, str], str] = lambda kind, text: text
    #: The worlds of the snapshot, where there are several; whoever shows a snapshot sets them.
    worlds: Sequence[Mapping[str, Any]] = ()
