"""Compares a process of a snapshot (JSON ``mpi-queues/1``) with what the program says it posted."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any, Callable, Hashable, Iterable, List, Mapping, Optional, Sequence, Tuple

from .expected import EXPECTED, Json
from .known import ALL_KNOWN, NOT_AVAILABLE, PARTIAL, Known, reason_of

#: Operation, its expected fields and what is shown; what is missing; what is shown besides.
Pairs = Tuple[List[Tuple[Json, Json, Json]], List[Tuple[Json, Json]], List[Json]]

QUEUES = {"sends": "pending_sends", "receives": "pending_receives", "unexpected": "unexpected_messages"}


@dataclass(frozen=True)
class Difference:
    """One fact in which the snapshot is not what was posted."""

    kind: str  #: missing, extra, field, null (not known, but should be), known (but should not be), order, state
    what: str  #: communicator, or the name of a queue
    name: str  #: field for kind ``field``, else empty
    expected: Any = None
    found: Any = None
    where: str = ""
    posted: Json = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        if self.kind == "missing":
            return f"{self.where}: missing, but posted: {self.expected}"
        if self.kind == "extra":
            return f"{self.where}: shown, but never posted: {self.found}"
        if self.kind == "null":
            return f"{self.where}: {self.name} is not known ({self.found}), posted {self.expected!r}"
        if self.kind == "known":
            return f"{self.where}: {self.name} is {self.found!r}, which this MPI cannot tell (known.json)"
        return f"{self.where}: {self.name or self.kind} is {self.found!r}, posted {self.expected!r}"


def brief(op: Mapping[str, Any]) -> str:
    """An operation of either kind in one line."""
    names = ("call", "status", "peer", "desired_local_rank", "tag", "desired_tag", "bytes", "desired_length")
    rest = ("datatype", "count", "persistent", "request", "extra_text")
    return " ".join(f"{name}={op[name]}" for name in (*names, *rest) if name in op)


def _key(fields: Mapping[str, Any]) -> Hashable:
    """What finds the partner of an operation that was posted by a blocking call, whose request nobody knows."""
    names = ("desired_local_rank", "any_source", "tag_wild", "desired_tag", "desired_length", "datatype", "count")
    return tuple(fields.get(name) for name in names)


def paired(kind: str, posted: Sequence[Json], shown: Sequence[Json]) -> Pairs:
    """What was posted on a queue of one communicator beside what is shown of it."""
    # Of a buffered send only the library's copy may be left, with a request of its own.
    traces = [op for op in posted if not op.get("traceless") or (op.get("optional") and op.get("mode") == "buffered")]
    return _pairs([(op, EXPECTED[kind](op)) for op in traces], shown)


def _pairs(posted: Sequence[Tuple[Json, Json]], shown: Sequence[Json]) -> Pairs:
    """Pairs of what was posted and what is shown, and what is left of either.

    Partners are found by request address, else by all that was asked for, else by peer and tag.
    """
    free = list(shown)
    pairs: List[Tuple[Json, Json, Json]] = []
    # What must be there finds its partner before what may be there.
    remaining = sorted(posted, key=lambda pair: bool(pair[0].get("optional")))

    def take(same: Callable[[Json, Json], bool]) -> None:
        nonlocal remaining
        left = []
        for op, fields in remaining:
            partner = next((candidate for candidate in free if same(fields, candidate)), None)
            if partner is None:
                left.append((op, fields))
            else:
                free.remove(partner)
                pairs.append((op, fields, partner))
        remaining = left

    take(lambda fields, other: fields.get("request") is not None and fields["request"] == other.get("request"))
    known = {fields["request"] for _, fields in posted if fields.get("request") is not None}
    free_again = [other for other in free if other.get("request") is None or other["request"] not in known]
    other_requests = [other for other in free if other not in free_again]
    free = free_again
    take(
        lambda fields, other: (
            _matchable(fields, other)
            and fields.get("buffer") == other.get("buffer") is not None
            and fields["desired_tag"] == other.get("desired_tag")
        )
    )
    take(lambda fields, other: _matchable(fields, other) and _key(fields) == _key(other))
    take(
        lambda fields, other: (
            _matchable(fields, other)
            and (fields["desired_tag"], fields["desired_local_rank"])
            == (other.get("desired_tag"), other.get("desired_local_rank"))
        )
    )
    # A held message is known by what was matched alone.
    names = ("actual_tag", "actual_local_rank", "actual_length")
    take(
        lambda fields, other: (
            "desired_tag" not in fields and all(fields.get(name) == other.get(name) is not None for name in names)
        )
    )
    # Last those some of whose facts cannot be known.
    take(lambda fields, other: _matchable(fields, other) and _agrees(fields, other))
    return pairs, remaining, free + other_requests


def _agrees(fields: Json, other: Json) -> bool:
    """Whether all is the same but for what is not known, with a reason."""
    names = ("desired_local_rank", "desired_tag", "desired_length", "datatype", "count", "buffer")
    return bool(other.get("unknown")) and all(
        fields[name] == other.get(name) or (other.get(name) is None and reason_of(other, name))
        for name in names
        if name in fields
    )


def _matchable(fields: Json, other: Json) -> bool:
    """A known request address can only be paired with an operation that does not tell its own."""
    return "desired_tag" in fields and (fields.get("request") is None or other.get("request") is None)


def _is_whole(kind: str, posted: Sequence[Json], queue: Json) -> bool:
    """Whether a queue is said to be all, and has all that waits."""
    _, missing, _ = paired(kind, posted, queue["operations"])
    return queue["state"] == "ok" and all(op.get("status") == "complete" or op.get("optional") for op, _ in missing)


def _compare_queue(
    kind: str, posted: Sequence[Json], queue: Json, where: str, internal: bool, known: Known, waiting: bool
) -> List[Difference]:
    """``waiting``: whether the process has operations of this kind that wait, on any communicator."""
    what = QUEUES[kind]
    differences: List[Difference] = []
    listed = known.level(f"{kind}.listed")
    # Partial: of what waits, not even the communicator need be known, unless all of it is there; that nothing waits is.
    if listed == NOT_AVAILABLE or (listed == PARTIAL and waiting and not _is_whole(kind, posted, queue)):
        if queue["state"] != "no_information" or not queue["detail"]:
            differences.append(Difference("state", what, "", "no_information", queue["state"], f"{where}, {what}"))
        return differences
    if queue["state"] != "ok":
        differences.append(Difference("state", what, "", "ok", queue["state"], f"{where}, {what}"))
    if queue["state"] == "no_information":
        return differences
    shown = queue["operations"]
    if internal:
        shown = [op for op in shown if not op["internal"]]
    pairs, missing, extra = paired(kind, posted, shown)
    for op, _ in missing:
        if op.get("optional") or (op.get("status") == "complete" and not known.is_exact(f"{kind}.complete")):
            continue
        differences.append(Difference("missing", what, "", brief(op), None, f"{where}, {what}", op))
    # Of a buffered send its request may be there, which is complete at once, besides the library's copy.
    copied = {op["request"] for op in posted if op.get("optional") and op["request"] is not None}
    for op in extra:
        if op.get("request") in copied and op["status"] == "complete":
            continue
        differences.append(Difference("extra", what, "", None, brief(op), f"{where}, {what}", op))
    for op, fields, found in pairs:
        place = f"{where}, {what}, {brief(op)}"
        for name, value in fields.items():
            problem = known.judge(kind, name, value, found, complete=op.get("status") == "complete")
            if problem:
                shown_value = found.get(name) if problem != "null" else reason_of(found, name)
                differences.append(Difference(problem, what, name, value, shown_value, place, op))
        if found.get("call") is not None and found["call"] != op.get("call"):
            differences.append(Difference("field", what, "call", op.get("call"), found["call"], place, op))
        if kind == "sends":
            for name in ("local_rank", "global_rank", "tag", "length"):
                actual = found.get(f"actual_{name}")
                if actual is not None and actual != fields[f"desired_{name}"]:
                    expected = fields[f"desired_{name}"]
                    differences.append(Difference("field", what, f"actual_{name}", expected, actual, place, op))
    # A queue says itself where its order is not known: that of sends that MPI_Mprobe has taken at the receiver.
    if known.is_exact(f"{kind}.order") and not queue.get("unordered"):
        differences += compare_order(kind, pairs, shown, f"{where}, {what}")
    return differences


def compare_order(
    kind: str, pairs: Sequence[Tuple[Json, Json, Json]], shown: Sequence[Json], where: str
) -> List[Difference]:
    """Receives in posting order; sends and messages in the order of each peer."""
    position = {id(op): index for index, op in enumerate(shown)}
    groups: dict[Hashable, list[tuple[int, int, Json]]] = defaultdict(list)
    for index, (op, _, found) in enumerate(pairs):
        if kind == "unexpected":
            groups[op["peer"]].append((index, position[id(found)], op))
        elif op["order"] is not None and not op.get("optional") and op["status"] == "pending" and not op["probe"]:
            groups[op["peer"] if kind == "sends" else None].append((op["order"], position[id(found)], op))
    differences = []
    for members in groups.values():
        if kind == "unexpected":
            # Pairs are found by content, so equal messages may be paired crosswise: compare the contents in order.
            posted = [(op["tag"], op["bytes"]) for _, _, op in sorted(members, key=lambda member: member[2]["index"])]
            order = [(op["tag"], op["bytes"]) for _, _, op in sorted(members, key=lambda member: member[1])]
        else:
            posted = [(op["tag"], op["request"]) for _, _, op in sorted(members, key=lambda member: member[0])]
            order = [(op["tag"], op["request"]) for _, _, op in sorted(members, key=lambda member: member[1])]
        if posted != order:
            differences.append(Difference("order", QUEUES[kind], "", posted, order, where))
    return differences


def compare(truth: Json, process: Json, *, internal: bool = False, known: Known = ALL_KNOWN) -> List[Difference]:
    """All differences between the truth of a rank and its process in a snapshot.

    Args:
        internal: the snapshot was taken with ``--internal``: internal operations are no difference.
        known: what can be known of this MPI.
    """
    rank = f"rank {truth['rank']}"
    differences = []
    for name, expected, found in (
        ("rank", truth["rank"], process["rank"]),
        ("world_size", truth["world_size"], process["world_size"]),
        ("pid", truth["pid"], process["pid"]),
    ):
        if expected != found:
            differences.append(Difference("field", "process", name, expected, found, rank))
    for index, message in enumerate(truth["unexpected"]):
        message["index"] = index
    shown = {comm["handle"]: comm for comm in process["communicators"]}
    handles = Counter(comm["handle"] for comm in process["communicators"])
    for comm in process["communicators"]:
        if handles[comm["handle"]] > 1:
            differences.append(Difference("extra", "communicator", "", None, comm["name"], rank))
    for comm in truth["communicators"]:
        found_comm = shown.pop(comm["handle"], None)
        where = f"{rank}, communicator {comm['name'] or comm['handle']}"
        if found_comm is None and comm.get("optional"):
            continue
        if found_comm is None:
            differences.append(Difference("missing", "communicator", "", comm["name"] or comm["handle"], None, where))
            continue
        differences += _compare_communicator(comm, found_comm, where, known)
        for kind, queue in QUEUES.items():
            posted = [op for op in truth[kind] if op["comm"] == comm["handle"]]
            waiting = any(_waits(op) for op in truth[kind])
            differences += _compare_queue(kind, posted, found_comm[queue], where, internal, known, waiting)
    for comm in shown.values():
        differences.append(Difference("extra", "communicator", "", None, f"{comm['name']} {comm['handle']}", rank))
    return differences


def _waits(op: Json) -> bool:
    """Whether an operation must be there, and is not done."""
    return op.get("status", "pending") == "pending" and not op.get("optional") and not op.get("traceless")


def _compare_communicator(comm: Json, found: Json, where: str, known: Known) -> List[Difference]:
    pairs: Iterable[Tuple[str, Any]] = (
        ("local_rank", comm["local_rank"]),
        ("size", comm["size"]),
        ("group", comm["group"]),
        ("remote_group", comm["remote_group"]),
    )
    if comm["name"] is not None:
        pairs = (*pairs, ("name", comm["name"]))
    if comm["name"] != "" or known.is_exact("communicators.empty_name"):
        pairs = (*pairs, ("name_set", comm["name"] is not None))
    return [
        Difference("field", "communicator", name, expected, found.get(name), where)
        for name, expected in pairs
        if found.get(name) != expected
    ]


def assert_equal(truth: Json, process: Json, *, internal: bool = False, known: Known = ALL_KNOWN) -> None:
    """Fails with every difference in a line of its own."""
    differences = compare(truth, process, internal=internal, known=known)
    if process["problems"]:
        raise AssertionError("problems were reported:\n" + "\n".join(process["problems"]))
    if differences:
        raise AssertionError(f"{len(differences)} differences:\n" + "\n".join(map(str, differences)))


@dataclass(frozen=True)
class Deviation:
    """A documented defect of a plug-in: which differences it explains."""

    name: str
    explains: Callable[[Difference], bool]


def unexplained(
    differences: Sequence[Difference], deviations: Sequence[Deviation]
) -> tuple[list[Difference], dict[str, int]]:
    """Differences that no deviation explains, and how many each deviation explains."""
    seen = {deviation.name: 0 for deviation in deviations}
    rest = []
    for difference in differences:
        cause: Optional[Deviation] = next((one for one in deviations if one.explains(difference)), None)
        if cause is None:
            rest.append(difference)
        else:
            seen[cause.name] += 1
    return rest, seen


def lasting(process: Json) -> Json:
    """A process of the JSON without what differs between looks at one that is stuck, or between kinds of targets:
    who reads, when, whether the kernel said that it ran or slept, what it did in the kernel and what that held for its
    connections, by which names and paths the debugger knows the system's libraries, and fingerprints, which have memory
    in them that core files may lack."""
    passing = ("fingerprint", "system_call", "through", "start_image")
    left = {name: value for name, value in process.items() if name not in ("captured_at", "state", "tcp")}
    left["source"] = {name: value for name, value in (process["source"] or {}).items() if name != "via"}
    for place in ("calls", "outside"):
        threads = left.get(place, [])
        left[place] = [{name: value for name, value in one.items() if name not in passing} for one in threads]
    if "stacks" in left:
        left["stacks"] = [{**stack, "frames": _outside(stack["frames"])} for stack in left["stacks"]]
    return left


def _outside(frames: List[Json]) -> List[Json]:
    """The frames from the call of MPI outwards; all where there is none. What polls is elsewhere at each look."""
    inside = [at for at, frame in enumerate(frames) if (frame["function"] or "").startswith(("MPI_", "PMPI_"))]
    return frames[inside[-1] :] if inside else frames
