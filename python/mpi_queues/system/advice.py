"""What to type where something takes root's rights: with ``sudo`` for everybody but root, who has them already."""

from __future__ import annotations

import os

#: What root lacks where the kernel refuses it.
_IN_CONTAINER = "in a container, start it with: --cap-add=SYS_PTRACE"


def is_root() -> bool:
    """Whether whoever reads the advice is root."""
    return os.geteuid() == 0


def as_root(command: str) -> str:
    """A command as it is typed to be run by root."""
    return command if is_root() else f"sudo {command}"


def as_user(login: str, command: str) -> str:
    """A command as it is typed to be run by another user (``#1000`` where that has no name)."""
    return f"sudo -u {login} {command}"


def install(packages: str) -> str:
    """What to type to have packages of Debian."""
    return f"type: {as_root(f'apt install {packages}')}"


def more_rights(purpose: str = "") -> str:
    """What to do to be allowed to look at processes that the kernel refuses; ``purpose``: ``to see all processes``."""
    if is_root():
        return _IN_CONTAINER
    return f"{purpose}, use sudo" if purpose else "run mpi-queues with sudo"


def see_all() -> str:
    """What to do to see the processes of all users; empty for root, who sees them."""
    return "" if is_root() else more_rights("to see all processes")


def joined(*advice: str) -> str:
    """Several pieces of advice in one sentence, without the empty ones."""
    return "; ".join(one for one in advice if one)
