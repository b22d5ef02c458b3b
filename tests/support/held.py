"""What MPICH, and Open MPI over networks, hold of their handles: programs note all that they know, here stands which of
it cannot be read there.

A fact that is not held is null with a reason. For messages that follows from what is known of the queues
(``known.json``).
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Optional

from .builds import MpiBuild
from .known import EXACT, NOT_AVAILABLE, PARTIAL, Known, known_of

#: Facts of a message, and the facts of its queue that they are.
_OF_QUEUE = {
    "peer": "peer",
    "peer_world": "peer",
    "any_source": "peer",
    "tag": "tag",
    "any_tag": "tag",
    "bytes": "length",
    "buffer": "buffer",
    "count": "datatype",
    "datatype": "datatype",
    "internal": "tag",
    "communicator": "listed",
}

#: Facts of handles; ch3 and ch4 differ where both are named.
_OF_ALL: Dict[str, Dict[str, str]] = {
    "datatype": {"requests": NOT_AVAILABLE},
    "op": {"users": NOT_AVAILABLE},
    "request": {
        **dict.fromkeys(("round", "rounds", "sub_requests"), NOT_AVAILABLE),
        # Told only of what has not begun and of what has all come.
        **dict.fromkeys(("started", "transferred", "data_complete"), PARTIAL),
        # Of a partitioned send the tag has gone with its header.
        "tag": PARTIAL,
        # Of a one-sided operation that is complete.
        "window": PARTIAL,
    },
    "win": {"info": NOT_AVAILABLE, "locks.type": NOT_AVAILABLE},
}
_OF_CH3: Dict[str, Dict[str, str]] = {"win": {"locks": PARTIAL, "posted": PARTIAL}}
_OF_CH4: Dict[str, Dict[str, str]] = {"request": {"mode": PARTIAL, "call": PARTIAL}}

#: Open MPI over UCX and libfabric: how far data are is the network's to know, and to UCX two modes are the same.
_OVER_NETWORKS: Dict[str, Dict[str, str]] = {
    "request": dict.fromkeys(("call", "mode", "started", "transferred", "data_complete"), PARTIAL),
    # There is none.
    "message": {"request": NOT_AVAILABLE},
}

_COMPLETE = ("complete", "cancelled", "matched")


class Held:
    """What a build holds; without one, everything, as Open MPI does."""

    def __init__(self, build: Optional[MpiBuild] = None) -> None:
        self._known = Known()
        self._levels: Dict[str, Dict[str, str]] = {}
        over_network = build is not None and build.transport is not None and not build.transport.told.startswith("ob1")
        if build is None or not (build.is_mpich or over_network):
            return
        self._known = known_of(build.id)
        of_mpich = (_OF_ALL, _OF_CH3 if "ch3" in build.id else _OF_CH4)
        for part in of_mpich if build.is_mpich else (_OVER_NETWORKS,):
            for kind, facts in part.items():
                self._levels.setdefault(kind, {}).update(facts)

    def level(self, noted: Mapping[str, Any], fact: str) -> str:
        """Of a fact such as ``peer`` or ``locks.0.type`` of a handle of the truth."""
        told = {place.replace("facts.", "", 1): value for _, place, value in noted["notes"]}
        own = self._levels.get(noted["kind"], {})
        names = _names(fact)
        if noted["kind"] == "request" and told.get("type") == "point-to-point" and self._levels:
            queued = [self._of_queue(told, name) for name in names if name in _OF_QUEUE]
            if queued:
                return queued[0]
        made_for_fortran = str(told.get("combiner")).startswith("MPI_COMBINER_F90") and self._levels
        if made_for_fortran and fact in ("type_map", "holes"):
            # 5.0 makes them of datatypes of its own, which have no name.
            return PARTIAL
        if "call" in names and told.get("status_word") in _COMPLETE and self._levels:
            # MPI_Imrecv leaves the same.
            return PARTIAL
        return next((own[name] for name in names if name in own), EXACT)

    def _of_queue(self, told: Mapping[str, Any], name: str) -> str:
        queue = "sends" if told.get("direction") == "send" else "receives"
        word = told.get("status_word")
        if word == "inactive":
            # A persistent request has all that it was made with.
            return EXACT
        level = self._known.level(f"{queue}.{_OF_QUEUE[name]}")
        done = word in _COMPLETE and not self._known.is_exact(f"{queue}.complete")
        if not self._known.is_exact(f"{queue}.listed") and level == EXACT:
            # What is in no queue has no facts.
            level = PARTIAL
        return PARTIAL if done or (level == NOT_AVAILABLE and told.get("persistent")) else level


def _names(fact: str) -> List[str]:
    """Of ``locks.0.type``: ``locks.type`` and ``locks``."""
    parts = re.sub(r"\.\d+", "", fact).split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def reason_of(handle: Mapping[str, Any], fact: str) -> str:
    """Why a fact is null; empty where no reason is given."""
    return next((handle["unknown"][name] for name in _names(fact) if name in handle["unknown"]), "")
