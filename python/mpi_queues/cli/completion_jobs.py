"""The jobs of a user for shells that complete: asked at each press of a key, so nothing else is loaded.

What processes are called is strangers' text: of it nothing but plain characters leaves here, and no shell evaluates it.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from typing import List

from ..errors import UserError
from ..launchers import finding
from ..launchers.tree import ProcessTree
from ..system.deadline import within

#: Seconds that a person waits for a completion.
_PATIENCE = 2.0

#: Lines, and characters of a command line in one.
_MOST, _WIDTH = 50, 60

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._+-]{0,40}")
_OTHER = re.compile(r"[^A-Za-z0-9 ._/+=@,-]")


def write() -> int:
    """Writes a line for each launcher of the user on this machine: its process id, a tab, and its command line. Then
    one for each name that only one of them has, and one for each job that a batch system runs."""
    for listed in (_launchers, _of_batch_systems):
        try:
            lines = within(_PATIENCE, "finding the jobs", listed)
        except UserError:
            continue
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _of_batch_systems() -> List[str]:
    from ..nodes.engines import running

    return [f"{name}\ta job that runs" for name in running(_MOST)]


def _launchers() -> List[str]:
    tree = ProcessTree()
    me = os.geteuid()
    found = [pid for pid in finding.launchers(tree) if tree.uid(pid) == me][:_MOST]
    names = Counter(tree.short_name(pid) for pid in found)
    lines = [f"{pid}\t{_OTHER.sub('?', ' '.join(tree.command(pid)))[:_WIDTH]}" for pid in found]
    once = [name for name, count in names.items() if count == 1 and _NAME.fullmatch(name)]
    return [*lines, *(f"{name}\tthe job of this name" for name in once)]
