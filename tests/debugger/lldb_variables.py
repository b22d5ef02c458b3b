"""What lldb shows of the variables of a program, for the tests of its formatters."""

from __future__ import annotations

import re
from typing import List

from debuggers import Lldb
from support.variables import Program, Variable

LLDB = Lldb()

#: lldb shows every null pointer so, whatever formatters there are (LLVM 19: ValueObjectPrinter::GetValueSummaryError).
NULL = "NULL"
#: The variables of printers.c that are null pointers.
NULL_POINTERS = ("zero", "unset", "file")


def frame_of(backtrace: str, function: str) -> int:
    """The number of a function's frame."""
    (found,) = re.findall(rf"^[ *]*frame #(\d+): 0x\w+ [^`]*`{function}\b", backtrace, re.MULTILINE)
    return int(found)


def at(job: Program, rank: int, *commands: str, function: str = "main") -> List[str]:
    """What commands print in a function's frame of a rank."""
    attach = LLDB.attach(job.pids[rank])
    backtrace = LLDB.run(*attach, "thread backtrace")[-1]
    outputs = LLDB.run(*attach, f"frame select {frame_of(backtrace, function)}", *commands)[len(attach) + 1 :]
    job.assert_running()
    return outputs


def values(outputs: List[str]) -> List[str]:
    """What stands after the names of variables."""
    return [output.strip().partition(" = ")[2] for output in outputs]


def asked(variables: List[Variable], backtrace: str) -> List[str]:
    """Two commands for each of them."""
    return [
        command
        for variable in variables
        for command in (f"frame select {frame_of(backtrace, variable.frame)}", f"frame variable {variable.expression}")
    ]


def assert_shown(variables: List[Variable], texts: List[str]) -> None:
    wrong = []
    for variable, text in zip(variables, texts):
        null = variable.expression in NULL_POINTERS and text == NULL
        if not (null or variable.is_shown_by(text)):
            wrong.append(f"{variable}\n    {text}")
    assert not wrong, "\n".join(wrong)


def check_variables(job: Program, rank: int) -> None:
    variables = job.variables(rank)
    attach = LLDB.attach(job.pids[rank])
    backtrace = LLDB.run(*attach, "thread backtrace")[-1]
    outputs = LLDB.run(*attach, *asked(variables, backtrace))[len(attach) :]
    job.assert_running()
    assert_shown(variables, values(outputs[1::2]))
