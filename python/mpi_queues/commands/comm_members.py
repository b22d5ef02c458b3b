"""Which ranks of a job are the members of a communicator: one that has it is asked for its group."""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

from .._native import NativeError
from ..errors import UserError, as_user_error
from ..launchers.model import Job, RankEntry
from ..report.words import clean
from ..request import COMMUNICATORS
from .context import Context
from .job_ranks import attach_all, held_ranks, named, tell_failures

#: Further ranks that are looked at for another communicator of the same name.
_MAX_LOOKS = 16


def members(context: Context, job: Job, among: Sequence[RankEntry], name: str) -> List[RankEntry]:
    """The members of the communicator of that name. Ranks are attached to where they have to be looked at, the
    selected one first, then the lowest; they stay so.

    Raises:
        UserError: where none of these ranks has one, or its group is not known.
    """
    held = held_ranks(context)
    order = sorted(among, key=lambda entry: not (entry.pid in held and held[entry.pid].selected))
    failure: Optional[UserError] = None
    for at, entry in enumerate(order):
        try:
            found = _groups(context, job, entry, name)
        except UserError as error:
            failure = failure or error
            continue
        if not found:
            continue
        group, several = found[0], len(found) > 1
        if several:
            context.tell(f"{entry.name} has {len(found)} communicators named {clean(name)}; this is the first.")
        _tell_others(context, job, [one for one in order[at + 1 :] if one not in group], entry, name)
        return group
    if failure is not None:
        raise failure
    raise UserError(
        f"no communicator is named {name!r} in {named(order) or 'these ranks'}",
        help="for their names, type: mpi comms",
        kind="no_communicator",
    )


def _groups(context: Context, job: Job, entry: RankEntry, name: str) -> List[List[RankEntry]]:
    """The groups of the communicators of that name in one rank."""
    failed = attach_all(context, [entry])
    if failed:
        tell_failures(context, failed)
        return []
    process = next((one for one in context.processes() if one.pid == entry.pid), None)
    if process is None:
        return []
    try:
        snapshot = process.read(COMMUNICATORS.within(float(context.setting("timeout"))))
    except (NativeError, UserError) as error:
        raise as_user_error(error) from None
    read = snapshot.processes[0]
    world = next((one.group for one in read.communicators if one.name == "MPI_COMM_WORLD"), None)
    found: List[List[RankEntry]] = []
    for communicator in read.communicators:
        if communicator.name != name:
            continue
        if communicator.group is None:
            raise UserError(
                f"{entry.name}: the group of {name!r} is not known", help="type: mpi comms", kind="no_group"
            )
        ranks = [*communicator.group, *(communicator.remote_group or ())]
        found.append(_entries(job, entry, ranks, world))
    return found


def _entries(
    job: Job, entry: RankEntry, ranks: Sequence[Optional[int]], world: Optional[Sequence[Optional[int]]]
) -> List[RankEntry]:
    """The processes of global ranks as one process of the job knows them: by its own world, else by the universe."""
    places: List[Tuple[int, Optional[int]]] = []
    for rank in ranks:
        if rank is None:
            continue
        if world is not None and rank in world:
            places.append((entry.world, list(world).index(rank)))
        else:
            place = next((one for one in job.ranks if job.universe_index(one) == rank), None)
            if place is not None:
                places.append((place.world, place.rank))
    return [one for one in job.ranks if (one.world, one.rank) in places]


def _tell_others(context: Context, job: Job, outside: List[RankEntry], entry: RankEntry, name: str) -> None:
    """Where another communicator has the same name, as after MPI_Comm_split, that is said."""
    for other in outside[:_MAX_LOOKS]:
        try:
            found = _groups(context, job, other, name)
        except UserError:
            continue
        if found:
            context.tell(
                f"{other.name} has another communicator named {clean(name)}, of {named(found[0])}; this is "
                f"{entry.name}'s. To choose the other one, type: mpi attach -comm {name} -ranks {other.rank}"
            )
            return
