"""PBS Professional and OpenPBS: jobs. Their nodes are reached by ssh.

pbs_tmrsh starts no agents: what it starts has no input, and writes to the job's own files (openpbs/openpbs 23.06,
doc/man8/pbs_tmrsh.8B).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, List, Mapping, Sequence

from ...errors import UserError
from .base import BatchSystem, Nodes, checked, user_called

_PBS = BatchSystem("add PBS's commands to PATH (/opt/pbs/bin)", "qstat -u $USER")

#: The letters for the states of a job that has nodes, and for others (openpbs/openpbs 23.06,
#: doc/man1/pbs_job_attributes.7B).
_RUNS = ("R", "S", "U", "E")
_OTHERS = {"Q": "queued", "H": "held", "W": "waiting", "T": "in transit", "M": "moved", "F": "finished"}

#: A line of what qstat says: an attribute and its value (openpbs/openpbs 23.06, src/cmds/qstat.c, ``prt_attr``).
_ATTRIBUTE = re.compile(r"    ([A-Za-z_]{1,60}) = (.*)")


@dataclass(frozen=True)
class Pbs(Nodes):
    """A job of PBS, or one of an array."""

    job: str

    @property
    def name(self) -> str:
        """How the user names it."""
        return f"pbs:{self.job}"

    def nodes(self) -> List[str]:
        """The nodes that it has: ``n1/0*4+n2/0*4``.

        Raises:
            UserError: where there is no such job, or PBS does not say.
        """
        about = self._about()
        state, places = about.get("job_state", ""), about.get("exec_host", "")
        if state not in _RUNS or not places:
            raise _PBS.no_job(self.name, f"it is {_OTHERS[state]}" if state in _OTHERS else "it is not running")
        return checked([place.partition("/")[0] for place in places.split("+")], self.name)

    def owner(self) -> int:
        """Who has submitted it, or as whom it runs, which only PBS's managers are told.

        Raises:
            UserError: where PBS does not say.
        """
        about = self._about()
        return user_called(about.get("euser") or about.get("Job_Owner", "").partition("@")[0], self.name)

    @property
    def job_variables(self) -> Dict[str, str]:
        """None: see ``one_of``."""
        return {}

    @property
    def one_of(self) -> Mapping[str, Sequence[str]]:
        """Its whole number, as PBS's daemons set it; ranks that a launcher has started over plain ssh have none.

        Raises:
            UserError: where PBS knows no such job.
        """
        return {"PBS_JOBID": [self._about()["Job Id"], ""]}

    def _about(self) -> Dict[str, str]:
        """Its attributes.

        Of two of one name the first counts. What a user has set begins no line: qstat writes a line break as ``^J``.
        """
        told = _PBS.says(self.name, "qstat", "-f", self.job)
        # A long value goes on behind a tab.
        first, *lines = told.replace("\n\t", "").split("\n")
        whole = re.fullmatch(r"Job Id: ([!-~]{1,300})", first)
        if whole is None:
            raise UserError(f"{self.name}: qstat lists no job", kind="no_engine")
        about = {"Job Id": whole[1]}
        for match in filter(None, map(_ATTRIBUTE.fullmatch, lines)):
            about.setdefault(match[1], match[2])
        return about

    same = ()
    other = ()
    knows_all_nodes = True
