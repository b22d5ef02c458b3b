"""How a diagnosis is shown, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional, Tuple

from .words import WIDTH, shorten, wrapped

Write = Callable[[str], object]


#: Lines of a text for a screen; with ``verbose`` the second of each.
ROWS, FURTHER, LIMITS = (8, 400), (5, 200), (4, 400)


#: A sentence that was made from what a job says may be of any length.
_SENTENCE = (500, 20_000)


@dataclass
class Options:
    """How a diagnosis is shown."""

    #: Columns of the terminal.
    width: int = WIDTH
    #: Also the evidence, all calls, and how each rank moved.
    verbose: bool = False
    #: What to type for that; empty where there is nothing to type.
    more: str = ""
    #: What to type to see the queues of a rank; None where there is no such thing.
    queues_of: Optional[Callable[[int], str]] = None
    #: What to type to read the other ranks of the job; told where some were not read.
    others: str = ""
    #: What to do for a second look; told where one look is not enough.
    again: str = ""
    #: When the earlier look was, such as ``since the last look, 12 s ago``.
    since: str = ""
    #: Emphasis on a terminal, as in ``report.text.Options``; ``headline`` and ``deadlock``, too.
    style: Callable[[str, str], str] = lambda kind, text: text

    def of(self, pair: Tuple[int, int]) -> int:
        """The second number where all is wanted."""
        return pair[self.verbose]


def write_more(what: str, write: Write, options: Options) -> None:
    """What was left out, and what to type to see it."""
    indent = " " * (len(what) - len(what.lstrip()))
    write(wrapped(with_hint(what, options), indent, indent + "  ", width=options.width))


def with_hint(what: str, options: Options) -> str:
    """What was left out, and behind it what to type to see it."""
    return what + (f" (to see all: {options.more})" if options.more and not options.verbose else "")


def cut(sentence: str, options: Options) -> str:
    """A sentence, no longer than is shown."""
    return shorten(sentence, options.of(_SENTENCE))
