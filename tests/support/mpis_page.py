"""docs/mpis.md: what is known of each MPI, as a page."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

from .known import EXACT, FACTS, NOT_AVAILABLE, PARTIAL
from .paths import PROJECT

PAGE = PROJECT / "docs" / "mpis.md"

SYMBOLS = {EXACT: "●", PARTIAL: "◐", NOT_AVAILABLE: "○"}
#: A queue of which only is known whether it is empty, and a fact that no run showed.
ONLY_EMPTY, NOT_SHOWN = "∅", "·"

_HEAD = f"""# What is known of each MPI

Test programs write down what they post, with all ranks on one node. This page is measured on them, and every later run
must give the same. [Transports](transports.md) explains the reasons.

| | |
|---|---|
| {SYMBOLS[EXACT]} | exact: always shown, and right |
| {SYMBOLS[PARTIAL]} | partial: null in some places, with the reason; of a queue: some facts are not exact |
| {SYMBOLS[NOT_AVAILABLE]} | not available: always null, with the reason; such a queue is never shown as empty |
| {ONLY_EMPTY} | not available, but it is known when nothing at all waits in the queue |
| {NOT_SHOWN} | no run showed it |

"""

_GROUPS = {
    "processes": "Calls",
    "communicators": "Communicators",
    "receives": "Receives",
    "unexpected": "Unexpected messages",
    "sends": "Sends",
}

_FACTS = """
## Fact by fact

- *listed*: the operations themselves.
- *peer*: the source of a receive or message, or the destination of a send.
- *complete*: operations that are done and that the program has not waited for.
- *empty_name*: whether a communicator that was named "" is distinguished from one without a name.
- *call*: the MPI function that a thread is in. A stripped library hides it if it jumps to a function of its own.
"""

_TAIL = """
`make test-all-mpis` measures every row; `.venv/bin/python tests/measure_mpis.py [BUILD...]` rewrites this page.
"""


def _symbol(facts: Mapping[str, str], group: str) -> str:
    """How well the facts of a group are known."""
    own = {name.split(".")[1]: level for name, level in facts.items() if name.startswith(f"{group}.")}
    if not own or own.get("listed") == NOT_AVAILABLE:
        return SYMBOLS[NOT_AVAILABLE]
    if own.get("listed") == PARTIAL:
        return ONLY_EMPTY
    return SYMBOLS[EXACT if set(own.values()) == {EXACT} else PARTIAL]


def _fact(facts: Mapping[str, str], name: str) -> str:
    return SYMBOLS[facts[name]] if name in facts else NOT_SHOWN


def _name(build: str, known: Mapping[str, Any]) -> str:
    device = f", {known['device']}" if known["device"] else ""
    return f"{known['mpi']} {known['version']}{device} (`{build}`)"


def _header(*columns: str) -> Iterator[str]:
    yield f"| MPI | {' | '.join(columns)} |"
    yield f"|---{'|:-:' * len(columns)}|"


def _folded(table: Mapping[str, Mapping[str, Any]], group: str) -> Iterator[str]:
    """The facts of a group, which a click opens."""
    names = [name for name in FACTS if name.startswith(f"{group}.")]
    yield from ("", '<details markdown="1">', f"<summary>{_GROUPS[group]}</summary>", "")
    yield from _header(*(name.split(".")[1] for name in names))
    for build, known in table.items():
        yield f"| {_name(build, known)} | {' | '.join(_fact(known['facts'], name) for name in names)} |"
    yield from ("", "</details>")


def page(table: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of a whole table."""
    lines = [f"{_HEAD}## Queues", "", *_header(*_GROUPS.values())]
    for build, known in table.items():
        lines.append(f"| {_name(build, known)} | {' | '.join(_symbol(known['facts'], group) for group in _GROUPS)} |")
    lines.append(_FACTS.rstrip("\n"))
    for group in _GROUPS:
        lines += _folded(table, group)
    return "\n".join(lines) + "\n" + _TAIL
