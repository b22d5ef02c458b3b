"""Jobs of the programs whose variables are looked at: printers.c, printers.cc and printers.f90."""

from __future__ import annotations

import os
import re
from typing import List, NamedTuple

from . import priority, processes
from .builds import MpiBuild, compile_alone


class Variable(NamedTuple):
    """What a program says of one of its variables."""

    #: The function whose variable it is.
    frame: str
    expression: str
    #: Whether ``text`` is all that is shown, rather than a part.
    whole: bool
    text: str

    def is_shown_by(self, text: str) -> bool:
        """Whether a debugger that shows this says what the program says."""
        return text == self.text if self.whole else self.text in text


class Program(priority.Job):
    """A job whose ranks have said what their variables are."""

    def __init__(self, build: MpiBuild, source: str, *arguments: str) -> None:
        ours = [name for name in os.environ if name.startswith(("OMPI_", "PMIX_", "PRTE_"))]
        super().__init__(
            compile_alone(build, source),
            args=arguments,
            env=dict.fromkeys(ours),
            timeout=180,
            launcher=build.mpirun,
        )

    def variables(self, rank: int) -> List[Variable]:
        """What the rank has said."""
        found, frame = [], ""
        for line in self.output.split("ready\n")[rank].splitlines():
            if line.startswith("frame "):
                frame = line.split()[1]
                continue
            said = re.match(r"(.*?) ([=~]) (.*)", line)
            assert said is not None, line
            found.append(Variable(frame, said[1], said[2] == "=", said[3]))
        assert found
        return found

    def assert_running(self) -> None:
        """All ranks run as before, and nobody traces them."""
        for pid in self.pids:
            processes.assert_running(pid)
