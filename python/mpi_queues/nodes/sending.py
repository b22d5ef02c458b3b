"""How the agent is started on a node: from where it is here, where the nodes have that, else sent first.

It is sent through the engine's own standard input, which goes to all nodes, so there is one way for all engines.
Nothing is left on a node, also where all is killed meanwhile: the file is unlinked before it begins.

The scripts have no line breaks, no single quotes and no exclamation marks: with ssh, the user's login shell reads them
first, and that may be a csh.
"""

from __future__ import annotations

import gzip
import re
from functools import lru_cache
from pathlib import Path
from typing import List, Optional, Tuple

#: What a node says that has no agent: the name that Slurm has for it, or ``-``, and its own.
_ABSENT = re.compile(rb"mq1-absent (\S{1,255}) (\S{1,255})")

_FOUND = 'if [ -x "$0" ]; then exec "$0" node; fi; echo "mq1-absent ${SLURMD_NODENAME:--} $(uname -n)"'

#: Directories that may be written to may still be such that nothing in them may be run.
_RECEIVED = (
    'umask 077; d=; trap "rm -rf \\"\\$d\\"" EXIT; trap "exit 1" HUP INT TERM; '
    'for p in "$TMPDIR" /tmp /var/tmp /dev/shm "$HOME"; do '
    'd=$(mktemp -d "${p:-/proc}/mpi-queues.XXXXXXXX" 2>/dev/null) || continue; '
    ': > "$d/agent"; chmod 700 "$d/agent"; "$d/agent" 2>/dev/null && break; rm -rf "$d"; d=; done; '
    'if [ -z "$d" ]; then echo "no directory from which the agent could be run" >&2; exit 1; fi; '
    'head -c "$1" | gzip -dc > "$d/agent" && exec 3< "$d/agent" && rm -rf "$d" && exec /proc/self/fd/3 node'
)


def started(path: str) -> List[str]:
    """Starts the agent of that path; where the node has none, it says so."""
    return ["sh", "-c", _FOUND, path]


def received(packed: bytes) -> List[str]:
    """Starts the agent that is read from standard input first."""
    return ["sh", "-c", _RECEIVED, "mpi-queues-agent", str(len(packed))]


@lru_cache(maxsize=1)
def packed(path: Path) -> bytes:
    """What is sent.

    Raises:
        OSError: where it cannot be read.
    """
    return gzip.compress(path.read_bytes(), 3)


def absent(line: bytes) -> Optional[Tuple[str, ...]]:
    """The names of a node that says to have no agent; None where a line says something else."""
    match = _ABSENT.fullmatch(line.strip())
    return tuple(name.decode("utf-8", "replace") for name in match.groups()) if match else None
