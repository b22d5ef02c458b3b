"""PALS, which starts applications on HPE Cray systems under PBS: ``palstat`` of cray-pals names their nodes.

These are reached by ssh. PALS has a command that starts tools, ``palscmd``, but no public page says that it hands on
what they read and write.

How palstat is asked and what it says: common-tools-interface/cti (26.03), src/frontend/frontend_impl/PALS/Frontend.cpp.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Dict, List

from ...errors import UserError
from ...system.paths import shown
from .base import BatchSystem, Nodes, checked
from .pbs import Pbs

_PALS = BatchSystem("type first: module load cray-pals", "palstat")

#: How PALS numbers applications.
APPLICATION = re.compile(r"[0-9A-Za-z]{8}(?:-[0-9A-Za-z]{4}){3}-[0-9A-Za-z]{12}")

#: So many applications of a job are named.
_MAX_NAMED = 5


@dataclass(frozen=True)
class Pals(Nodes):
    """An application: of the job in which this is typed, or of one of PBS that is named."""

    #: The number of the application; none where it is the only one of its job.
    application: str
    #: Its job of PBS; none within that job.
    job: str = ""

    @property
    def name(self) -> str:
        """How the user names it."""
        return "pals:" + ":".join(filter(None, (self.job, self.application)))

    def nodes(self) -> List[str]:
        """The nodes on which its processes are.

        Raises:
            UserError: where there is no such application, or PALS does not say.
        """
        # A heading, then host, program and process id of each rank.
        _, *lines = self._palstat("-p", self._number).split("\n")
        hosts = [line.split(None, 1)[0] for line in lines if line.strip()]
        if not hosts:
            raise _PALS.no_job(self.name, "PALS knows no process of this job")
        return checked(hosts, self.name)

    def owner(self) -> int:
        """Whose job it is; who asks, within the job.

        Raises:
            UserError: where PBS does not say.
        """
        return Pbs(self.job).owner() if self.job else os.geteuid()

    @property
    def job_variables(self) -> Dict[str, str]:
        """By which its processes are known."""
        return {"PALS_APID": self._number}

    @cached_property
    def _where(self) -> List[str]:
        """Which PALS is asked: outside the job that of the job's first node."""
        return ["-n", Pbs(self.job).nodes()[0]] if self.job else []

    @cached_property
    def _number(self) -> str:
        """Its own number, or that of the only application of the job."""
        if self.application:
            return self.application
        found = [one["APID"] for one in _applications(self._palstat()) if _is_of(one.get("JobID", ""), self.job)]
        found = list(filter(APPLICATION.fullmatch, found))
        if not found:
            raise _PALS.no_job(self.name, "PALS runs no application in this job")
        if len(found) > 1:
            named = " or ".join(f"--job {shown(f'{self.name}:{one}')}" for one in found[:_MAX_NAMED])
            raise UserError(f"{self.name}: {len(found)} applications", help=f"type: {named}", kind="several_jobs")
        return found[0]

    def _palstat(self, *words: str) -> str:
        return _PALS.says(self.name, "palstat", *self._where, *words)

    same = ()
    other = ()
    knows_all_nodes = True


def _applications(told: str) -> List[Dict[str, str]]:
    """The applications that palstat lists: each begins with its number."""
    found: List[Dict[str, str]] = []
    for line in told.split("\n"):
        name, _, value = line.strip().partition(": ")
        if name == "APID":
            found.append({})
        if found:
            found[-1].setdefault(name, value.strip())
    return found


def _is_of(whole: str, job: str) -> bool:
    """Whether a whole number of a job of PBS, such as ``12.server``, is that which the user has named."""
    return whole == job or whole.startswith(f"{job}.")
