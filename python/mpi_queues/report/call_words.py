"""What the application gave an MPI function, in few words."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Mapping, Optional

from .._native import Process
from .words import clean

#: The word before a peer, and the parameters that have the peer, the tag, and the elements of that direction.
_DIRECTIONS = (
    ("to", "dest", ("sendtag", "tag"), ("sendcount", "count"), ("sendtype", "datatype")),
    ("from", "source", ("recvtag", "tag"), ("recvcount", "count"), ("recvtype", "datatype")),
)


def communicator_names(process: Process) -> Dict[int, str]:
    """What the communicators of a process are called, by the number that calls name them by."""
    # Of several with one number the first.
    return {communicator.unique_id: communicator.name for communicator in reversed(process.communicators)}


def given(names: Mapping[int, str], call: Mapping[str, Any]) -> str:
    """Peer, tag, root, elements, communicator and requests of a call, as far as they are known; empty where none is.

    ``names`` are the process's :func:`communicator_names`.
    """
    return ", ".join(_parts(names, {one["name"]: one for one in call.get("arguments") or ()}, call))


def _parts(names: Mapping[int, str], arguments: Mapping[str, Any], call: Mapping[str, Any]) -> Iterator[str]:
    directed = False
    for word, peer, tags, counts, types in _DIRECTIONS:
        if peer not in arguments:
            continue
        directed = True
        yield f"{word} {_rank(arguments[peer])}"
        tag = _first(arguments, tags)
        if tag is not None:
            yield "any tag" if tag.get("meaning") == "MPI_ANY_TAG" else f"tag {_shown(tag)}"
        yield from _elements(_first(arguments, counts), _first(arguments, types))
    if not directed:
        if "root" in arguments:
            yield f"root {_rank(arguments['root'])}"
        counted = "array_of_requests" not in arguments
        yield from _elements(arguments.get("count") if counted else None, arguments.get("datatype"))
    name = communicator_name(names, arguments.get("comm"), call)
    if name:
        yield f'on "{name}"'
    requests = call.get("requests") or []
    known = [one for one in requests if one.get("state") not in (None, "unknown")]
    if requests and len(known) == len(requests):
        waiting = sum(one["state"] == "open" for one in requests)
        if len(requests) > 1:
            yield f"{waiting} of {len(requests)} requests open"
        elif not waiting:
            yield f"request {requests[0]['state']}"


def _elements(count: Optional[Mapping[str, Any]], datatype: Optional[Mapping[str, Any]]) -> Iterator[str]:
    if count is not None and count.get("value") is not None:
        name = datatype.get("meaning") or datatype.get("expression") if datatype is not None else None
        yield f"{count['value']} {clean(name)}" if name else f"count {count['value']}"


def _first(arguments: Mapping[str, Any], names: tuple[str, ...]) -> Optional[Mapping[str, Any]]:
    return next((arguments[name] for name in names if name in arguments), None)


def _rank(argument: Mapping[str, Any]) -> str:
    return "any" if argument.get("meaning") == "MPI_ANY_SOURCE" else _shown(argument)


def _shown(argument: Mapping[str, Any]) -> str:
    """A number by its name where it has one; what is not known as it stands in the source."""
    if argument.get("meaning"):
        return clean(str(argument["meaning"]))
    if argument.get("value") is not None:
        return str(argument["value"])
    return f"? ({clean(str(argument['expression']))})" if argument.get("expression") else "?"


def communicator_name(names: Mapping[int, str], comm: Optional[Mapping[str, Any]], call: Mapping[str, Any]) -> str:
    """What the communicator is called that a call is on; empty where it is not known."""
    found = call.get("communicator")
    if found is not None and found in names:
        return clean(names[found])
    return clean(str(comm["meaning"])) if comm is not None and comm.get("meaning") else ""
