"""ssh and LSF's blaunch, which reach one node: one of them for each, all at one time."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from typing import List, Sequence, Tuple

from ...errors import UserError
from .. import fan_out
from .base import Starter, copied


@dataclass(frozen=True)
class OneByOne(Starter):
    """A command that runs a line of a shell on a node, as ``ssh NODE LINE`` does."""

    called: str
    options: Tuple[str, ...] = ()

    def command(self, nodes: Sequence[str], agent: Sequence[str]) -> List[str]:
        """Runs the agent once on each node.

        Raises:
            UserError: where there is no such command here.
        """
        if shutil.which(self.called) is None:
            raise UserError(f"{self.called} is not installed here", help="choose another --engine", kind="no_engine")
        return fan_out.command([self.called, *self.options], nodes, shlex.join(agent))

    def fetching(self, node: str, path: str) -> str:
        """Copies a file from a node."""
        return copied([self.called, node, shlex.join(["cat", path])], path)

    def failed(self, line: str) -> Sequence[str]:
        """The node on which nothing runs any more."""
        return fan_out.ended(line)


#: It asks nothing, hands on neither keys nor windows, and leaves no master process behind, which would hold its output
#: open (OpenSSH, ssh_config(5)).
SSH = OneByOne("ssh", ("-a", "-x", "-oBatchMode=yes", "-oConnectTimeout=10", "-oControlMaster=no"))

#: Only within a job of LSF, and only on the nodes of that job. It reads its input where it has no ``-n``, and takes
#: host and command as rsh does (IBM Spectrum LSF 10.1, command reference, blaunch).
BLAUNCH = OneByOne("blaunch")
