"""What Open MPI's own plug-in is known to say wrongly, one deviation each.

Cited are lines of ompi/debuggers/ompi_msgq_dll.c of Open MPI 4.1.4. A difference that no deviation explains fails a
test, and so does a deviation that explains nothing where it should: then the plug-in, or the host around it, has been
corrected.
"""

from __future__ import annotations

from typing import Callable, Dict

from .compare import Deviation, Difference

Explains = Callable[[Difference], bool]


def _field(*names: str) -> Explains:
    return lambda difference: difference.kind == "field" and difference.name in names


def _unexpected(difference: Difference) -> bool:
    return (difference.kind, difference.what) == ("state", "unexpected_messages") and (
        difference.found == "no_information"
    )


def _buffered(difference: Difference) -> bool:
    mode = difference.posted.get("mode")
    return _field("status")(difference) and mode == "buffered" and difference.found == "complete"


def _probe(difference: Difference) -> bool:
    """Blocked probes are missing; held messages are receives of length 0 that look complete."""
    if not difference.posted.get("probe"):
        return False
    return difference.kind == "missing" or (difference.name, difference.found) in (
        ("status", "complete"),
        ("desired_length", 0),
    )


def _nothing_started(difference: Difference) -> bool:
    return difference.kind == "extra" and difference.posted.get("status") in ("complete", "matched")


DEVIATIONS: Dict[str, Deviation] = {
    deviation.name: deviation
    for deviation in (
        Deviation("lines 1284, 1307: unexpected messages are never reported", _unexpected),
        Deviation("operations come in the order of the free list", lambda difference: difference.kind == "order"),
        Deviation("a buffered send counts as complete while its message has not been taken", _buffered),
        Deviation("inactive persistent requests are listed", _nothing_started),
        Deviation("probes and the messages they hold are not told from receives", _probe),
    )
}
