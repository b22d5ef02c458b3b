"""docs/mpis.md: what can be known of each MPI, as a page."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping

from .known import EXACT, NOT_AVAILABLE, PARTIAL
from .paths import PROJECT

PAGE = PROJECT / "docs" / "mpis.md"

#: A queue of which nothing is known once something waits in it.
EMPTY = f"{NOT_AVAILABLE} but for that there are none"

_HEAD = """# What can be known of each MPI

Measured on runs of programs that write down what they post, all ranks on one node, and demanded of every later run.
*exact*: always shown, and right. *partial*: null in some places, with the reason. *not available*: always null, with
the reason; a queue that is not available says so, and is never shown as empty: where the library tells that nothing at
all waits there, the table says so.

*Peer* is the source of a receive or message, or the destination of a send; *complete* are operations that are done and
that the program has not waited for; *listed* are the operations themselves; *empty_name*: whether a communicator that
was named "" is told from one without a name; *call*: the MPI function that a thread is in, which a stripped library
hides where it jumps to a function of its own.

`make test-all-mpis` measures every row; `.venv/bin/python tests/measure_mpis.py [BUILD...]` writes this page anew.
"""

_QUEUES = {
    "processes": "Calls",
    "communicators": "Communicators",
    "receives": "Receives",
    "unexpected": "Unexpected",
    "sends": "Sends",
}


def _cell(facts: Mapping[str, str], group: str) -> str:
    """The levels of the facts of a group; those that are exact are not named where others are not."""
    own = {name.split(".")[1]: level for name, level in facts.items() if name.startswith(f"{group}.")}
    if not own or own.get("listed") == NOT_AVAILABLE:
        return NOT_AVAILABLE
    rest: Dict[str, List[str]] = {}
    for name, level in own.items():
        if level != EXACT:
            rest.setdefault(level, []).append(name)
    if own.get("listed") == PARTIAL:
        return EMPTY
    parts = [f"{', '.join(names)}: {level}" for level, names in sorted(rest.items())]
    return "; ".join([EXACT, *parts] if len(parts) == 0 else [f"{EXACT} but for", *parts]).replace("for; ", "for ")


def page(table: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of a whole table."""
    lines = [_HEAD, "## Queues\n", f"| MPI | {' | '.join(_QUEUES.values())} |", "|---" * (len(_QUEUES) + 1) + "|"]
    for build, known in table.items():
        device = f", {known['device']}" if known["device"] else ""
        cells = " | ".join(_cell(known["facts"], group) for group in _QUEUES)
        lines.append(f"| {known['mpi']} {known['version']}{device} (`{build}`) | {cells} |")
    return "\n".join(lines) + "\n"
