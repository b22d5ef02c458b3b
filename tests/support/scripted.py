"""Jobs that run scripts (``tests/programs/scripted.c``), and their diagnoses."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from . import priority
from .builds import LANGUAGES, MpiBuild, compile_with
from .cli import mpi_queues
from .diagnosis import C_FLAGS
from .jobs import READY_TIMEOUT
from .mpi_rules import Machine, outcome
from .paths import PROGRAMS
from .python_jobs import PYTHON, PYTHON_PROGRAMS
from .script_claims import Check
from .script_ends import Truth
from .scripts import ROOTED, STARTS, Script

#: Ranks come to the end of what they can do within this; only keeps a script of which we are wrong from taking long.
REST_TIMEOUT = 20.0
#: A last step is entered within this; a diagnosis that misses something is then asked for again, until REST_TIMEOUT.
ENTERED = 0.2


class ScriptedJob(priority.Job):
    """A job that runs scripts, in C or in Python (that of the distribution, which has its mpi4py)."""

    def __init__(
        self,
        build: MpiBuild,
        scripts: Sequence[Script],
        notes: Path,
        python: bool = False,
        env: Optional[Mapping[str, str]] = None,
    ) -> None:
        self.notes = notes
        if python:
            program, arguments = PYTHON, [str(PYTHON_PROGRAMS / "scripted.py")]
        else:
            flags = [*LANGUAGES[".c"][1], *C_FLAGS]
            program = compile_with([str(build.mpicc)], build.id, [PROGRAMS / "scripted.c"], [], language=flags)
            arguments = []
        arguments += [str(notes), *(" ".join(map(str, script)) for script in scripts)]
        super().__init__(
            program,
            ranks=len(scripts),
            args=arguments,
            launcher=build.mpirun,
            timeout=READY_TIMEOUT,
            options=build.options,
            env={**build.environment, **(env or {})},
        )

    def last(self, rank: int) -> Tuple[int, str, int]:
        """The place in its script, the function and the line at which a rank says that it is."""
        path = self.notes / str(rank)
        lines = path.read_text().splitlines() if path.exists() else []
        place, function, line = lines[-1].split() if lines else ("-1", "", "0")
        return int(place), function, int(line)

    def starts(self, rank: int, script: Script) -> Dict[int, Tuple[str, int]]:
        """By place in the table: the function and the line that made or started the request there last."""
        path = self.notes / str(rank)
        found = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            place, function, number = line.split()
            here = script[int(place)] if int(place) < len(script) else None
            if here is not None and here.name in STARTS:
                found[here.numbers[STARTS[here.name]]] = function, int(number)
        return found

    def diagnose_all(self, *options: str) -> Dict[str, Any]:
        """What ``mpi-queues diagnose`` says."""
        result = mpi_queues("diagnose", "--job", str(self.launcher_pid), "--format", "json", *options)
        assert result.status in (0, 1), str(result)
        said: Dict[str, Any] = json.loads(result.out)
        return said


def rest(job: ScriptedJob, scripts: Sequence[Script], seed: int) -> Optional[Machine]:
    """Waits until all ranks are where the rules of MPI say; ``None`` where they do not come there.

    In collectives with a root ranks may stay, as the library has it, though MPI lets them leave.
    """
    deadline = time.monotonic() + REST_TIMEOUT
    expected = outcome(scripts, seed)
    while time.monotonic() < deadline:
        places = [job.last(rank)[0] for rank in range(len(scripts))]
        if expected is not None and places == expected.at:
            return expected
        in_rooted = frozenset(
            (rank, place)
            for rank, place in enumerate(places)
            if 0 <= place < len(scripts[rank]) and scripts[rank][place].name in ROOTED
        )
        other = outcome(scripts, seed, observed=in_rooted) if in_rooted else None
        if other is not None and places == other.at:
            time.sleep(2 * ENTERED)
            if places == [job.last(rank)[0] for rank in range(len(scripts))]:
                return other
        time.sleep(ENTERED)
    return None


def disagreements(job: ScriptedJob, end: Machine, *options: str) -> Tuple[List[str], Dict[str, Any]]:
    """What a diagnosis with these options claims and is not so, and what it misses though it is asked again; and the
    last diagnosis."""
    deadline = time.monotonic() + REST_TIMEOUT / 2
    while True:
        time.sleep(ENTERED)
        said = job.diagnose_all(*options)
        lines = [job.last(rank)[1:] for rank in range(end.size)]
        starts = [job.starts(rank, script) for rank, script in enumerate(end.scripts)]
        check = Check(Truth(end), said, lines, starts)
        untrue, missing = check.untrue(), check.missing()
        if untrue or not missing or time.monotonic() > deadline:
            return untrue + missing, said


def not_so_later(job: ScriptedJob, said: Dict[str, Any], end: Machine) -> List[str]:
    """What was claimed for certain while ranks were perhaps on their way, and is not so at the end."""
    lasting = [one for one in said["diagnosis"] if one["certain"] and one["kind"] != "slow rank"]
    lines = [job.last(rank)[1:] for rank in range(end.size)]
    return Check(Truth(end), {**said, "diagnosis": lasting, "processes": []}, lines, []).untrue()
