"""What gdb shows of the variables of a program, for the tests of its printers."""

from __future__ import annotations

import re
from typing import List

from debuggers import Gdb
from support.variables import Program, Variable

GDB = Gdb()


def commands_of(variables: List[Variable], command: str) -> List[str]:
    """The command for each of them, in their frames."""
    lines = []
    for variable in variables:
        lines += [f"frame function {variable.frame}", f"{command} {variable.expression}"]
    return lines


def shown(job: Program, rank: int, *commands: str) -> List[str]:
    """What each command prints at a rank, without the number of gdb's history."""
    attach = GDB.attach(job.pids[rank])
    outputs = GDB.run(*attach, *commands)[len(attach) :]
    job.assert_running()
    return [re.sub(r"^\$\d+ = ", "", output.strip()) for output in outputs]


def assert_all(variables: List[Variable], texts: List[str]) -> None:
    assert len(variables) == len(texts)
    wrong = [(variable, text) for variable, text in zip(variables, texts) if not variable.is_shown_by(text)]
    assert not wrong, "\n".join(f"{variable}\n    {text}" for variable, text in wrong)


def check_variables(job: Program, rank: int) -> None:
    variables = job.variables(rank)
    assert_all(variables, shown(job, rank, *commands_of(variables, "print"))[1::2])
