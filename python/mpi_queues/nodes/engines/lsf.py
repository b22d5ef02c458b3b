"""IBM Spectrum LSF: jobs. Their nodes are reached by blaunch within the job, and else by ssh."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Dict, List, Mapping, Sequence, Tuple

from ...errors import UserError
from .base import BatchSystem, Nodes, checked, user_called

_LSF = BatchSystem("source LSF's profile.lsf first", "bjobs")

#: The states of a job that has nodes (IBM Spectrum LSF 10.1, command reference, bjobs).
_RUNS = ("RUN", "USUSP", "SSUSP", "UNKWN")


@dataclass(frozen=True)
class Lsf(Nodes):
    """A job of LSF, or one of an array."""

    job: str
    #: Which one of an array.
    index: str = ""

    @property
    def number(self) -> str:
        """As LSF writes it."""
        return self.job + (f"[{self.index}]" if self.index else "")

    @property
    def name(self) -> str:
        """How the user names it."""
        return f"lsf:{self.number}"

    def nodes(self) -> List[str]:
        """The nodes that it has: ``4*n1:4*n2``.

        Raises:
            UserError: where there is no such job, or LSF does not say.
        """
        state, _, places = self._about()
        if state not in _RUNS:
            raise _LSF.no_job(self.name, f"it is {state}")
        return checked([place.rpartition("*")[2] for place in places.split(":")], self.name)

    def owner(self) -> int:
        """Who has submitted it.

        Raises:
            UserError: where LSF does not say.
        """
        return user_called(self._about()[1], self.name)

    @property
    def job_variables(self) -> Dict[str, str]:
        """None: see ``one_of``."""
        return {}

    @property
    def one_of(self) -> Mapping[str, Sequence[str]]:
        """Its number, as LSF sets it; ranks that a launcher has started over plain ssh have none."""
        array = {"LSB_JOBINDEX": [self.index, ""]} if self.index else {}
        return {"LSB_JOBID": [self.job, ""], **array}

    def is_in(self, environment: Mapping[str, str]) -> bool:
        """Whether a process with that environment is in this job."""
        same = self.job == environment.get("LSB_JOBID")
        # Of a job that is no array it is 0.
        return same and (self.index or "0") == environment.get("LSB_JOBINDEX", "0")

    def _about(self) -> Tuple[str, str, str]:
        """Its state, its owner and its hosts, which without ``-X`` may be names of groups."""
        form = "stat user exec_host delimiter='|'"
        told = _LSF.says(self.name, "bjobs", "-u", "all", "-X", "-noheader", "-o", form, self.number)
        lines = told.splitlines()
        if len(lines) > 1:
            raise UserError(
                f"{self.name}: an array of {len(lines)} jobs",
                help=f"to read one of them, type: --job 'lsf:{self.job}[INDEX]'",
                kind="several_jobs",
            )
        words = lines[0].split("|") if lines else []
        if len(words) != 3:
            raise _LSF.no_job(self.name, "LSF knows no job of that number")
        return words[0], words[1], words[2]

    same = ()
    other = ()
    knows_all_nodes = True


def of_environment(environment: Mapping[str, str]) -> bool:
    """Whether this process is in the job of LSF in which one with that environment is: blaunch reaches its nodes."""
    mine = os.environ
    names = ("LSB_JOBID", "LSB_JOBINDEX")
    return "LSB_JOBID" in environment and all(mine.get(name) == environment.get(name) for name in names)
