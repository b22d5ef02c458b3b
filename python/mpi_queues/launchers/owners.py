"""Whose the processes of a job are: all of one user, whoever started its launcher.

What makes a process look like a part of a job - its name and its options, which ``ps`` shows to all, its environment, a
line in a table that another process keeps in its memory - anybody can make up. Only the user of a process cannot be:
so whatever leads to a process, it is a rank only where it has that user, and nobody else's rights beside.

That holds for root, too: what root's launcher starts as somebody else is not read as a rank of root's. Nothing is lost
with daemons of root (slurmstepd, sshd): they may stand between a launcher and its ranks, but are neither.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Iterable, List, Optional

from ..system import processes
from .model import Job, RankEntry
from .tree import ProcessTree

#: Processes that are named one by one; a user can start many.
_MAX_NAMED = 20


@dataclass(frozen=True)
class OfOther:
    """A process that would be a rank of a job if it were its user's."""

    pid: int
    #: Why it is left out, for people.
    reason: str


def user_of(tree: ProcessTree, pid: int) -> Optional[int]:
    """Who started a process: a launcher that is a set-user-id program is that of whoever called it."""
    users = tree.users(pid)
    return users[0] if users is not None else None


def is_users(tree: ProcessTree, pid: int, user: Optional[int]) -> bool:
    """Whether a process has the rights of this user and of nobody else, real, effective and saved; False for one that
    is gone."""
    return user is not None and tree.users(pid) == (user, user, user)


def have_same_user(tree: ProcessTree, one: int, other: int) -> bool:
    """Whether two processes were started by the same user; False where one is gone."""
    user = user_of(tree, one)
    return user is not None and user == user_of(tree, other)


def of_other(tree: ProcessTree, pid: int, user: Optional[int]) -> Optional[OfOther]:
    """The process as one that is left out; None where it is the user's, or gone."""
    users = tree.users(pid)
    if users is None or user is None or is_users(tree, pid, user):
        return None
    others = [processes.user_name(one) for one in dict.fromkeys(users) if one != user]
    # With the user's name a set-user-id program does what its owner may do.
    whose = f"of {others[0]}" if users[0] != user else f"with the rights of {others[0]}"
    name = tree.short_name(pid) or "not known"
    return OfOther(pid, f"pid {pid} ({name}) {whose} is left out: the job is {processes.user_name(user)}'s")


def named(left_out: Iterable[OfOther]) -> List[str]:
    """Sentences for a job's problems, each process once."""
    reasons = list({one.pid: one.reason for one in left_out}.values())
    more = len(reasons) - _MAX_NAMED
    said = f"{more} more processes of other users than the job's are left out" if more > 0 else ""
    return [*reasons[:_MAX_NAMED], *([said] if said else [])]


def of_one_user(tree: ProcessTree, job: Job) -> Job:
    """The job without the process ids of other users: the last gate, whatever has named them."""
    user = user_of(tree, job.pid)
    ranks: List[RankEntry] = []
    for entry in job.ranks:
        if not entry.here or entry.pid is None or entry.state == "ended" or is_users(tree, entry.pid, user):
            ranks.append(entry)
            continue
        found = of_other(tree, entry.pid, user)
        if found is not None:
            ranks.append(left_out(entry, found))
        elif user is not None:
            ranks.append(replace(entry, state="ended", wrong="it has ended"))
        else:
            nobody = "the launcher has ended, so the owner of the job is not known"
            ranks.append(left_out(entry, OfOther(entry.pid, f"pid {entry.pid} is left out: {nobody}")))
    return replace(job, ranks=ranks)


def left_out(entry: RankEntry, found: OfOther) -> RankEntry:
    """A rank of which nothing is known but who says to be it: nothing may be done with that process id in its name."""
    return replace(entry, pid=None, executable=None, state="unknown", wrong=found.reason)
