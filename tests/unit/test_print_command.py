"""The options and the expression of ``mpi print``, and what it writes, without a debugger."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

import pytest
from mpi_queues.commands.context import Context, Dialect, HandleValue
from mpi_queues.commands.print import PrintCommand
from mpi_queues.errors import UsageError
from mpi_queues.request import Request

COMMAND = PrintCommand()


@pytest.mark.parametrize(
    ("typed", "values", "expression"),
    [
        ("q[3]", {}, "q[3]"),
        ("  *(MPI_Comm *) &p->comm [ 1 ]  ", {}, "*(MPI_Comm *) &p->comm [ 1 ]"),
        ("-k comm fc", {"kind": "comm"}, "fc"),
        ("-kind=comm  fc", {"kind": "comm"}, "fc"),
        ("--format json -k comm fc + 1", {"format": "json", "kind": "comm"}, "fc + 1"),
        ("-k comm -- -x", {"kind": "comm"}, "-x"),
        ("-- -k", {}, "-k"),
        # What begins with a minus and is no option, and options behind the expression.
        ("-1", {}, "-1"),
        ("-(x)", {}, "-(x)"),
        ("a -k comm", {}, "a -k comm"),
        ('$_mpi_comm("it\'s")', {}, '$_mpi_comm("it\'s")'),
        ("", {}, None),
        ("-k comm", {"kind": "comm"}, None),
    ],
)
def test_options_and_expression(typed: str, values: Dict[str, str], expression: Optional[str]) -> None:
    found = COMMAND.parse(typed)
    assert found.values == values
    assert found.words == ([] if expression is None else [expression])


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("-nix q", "mpi print: there is no option -nix"),
        ("-k nix q", "mpi print: -kind nix: not one of comm, datatype"),
        ("-k", "mpi print: -kind needs a value: -kind KIND"),
        ("-k 'comm q", "mpi print: no closing quotation"),
    ],
)
def test_errors(typed: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        COMMAND.parse(typed)
    assert str(raised.value).startswith(message)
    assert raised.value.help == "type: help mpi print"


def handle(summary: str) -> Dict[str, Any]:
    return {
        "kind": "comm",
        "handle": "0x10",
        "fortran": None,
        "name": None,
        "predefined": False,
        "freed": None,
        "state": "live",
        "detail": None,
        "summary": summary,
        "facts": {"size": 4},
        "unknown": {},
        "problems": [],
    }


class Described:
    """A process that has communicators at all addresses."""

    def describe(self, kind: str, value: int, *, fortran: bool, full: bool, request: Request) -> Dict[str, Any]:
        assert full and kind == "comm" and not fortran
        assert request.timeout == 7.0 and request.plugin is None
        return handle(f"communicator {value}{', told by a plug-in' if request.source == 'plugin' else ''}")


class Asked(Context):
    """A debugger that answers every expression with ``count`` handles."""

    dialect = Dialect(process="process", set="set mpi", start="", settings="")
    loaded_plugin = None

    def __init__(self, count: int, limit: Optional[int], source: str) -> None:
        self.count, self.limit, self.source = count, limit, source
        self.asked: List[Any] = []
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def processes(self) -> Any:
        raise AssertionError

    def evaluate(self, expression: str, kind: Optional[str]) -> List[HandleValue]:
        self.asked.append((expression, kind))
        process: Any = Described()
        if self.count == 1:
            return [HandleValue(expression, "comm", 7, False, process)]
        return [HandleValue(f"{expression}[{i}]", "comm", i, False, process) for i in range(self.count)]

    def setting(self, name: str) -> Any:
        return {"limit": self.limit, "source": self.source, "timeout": 7, "wrappers": ""}[name]


def run(typed: str, count: int = 1, limit: Optional[int] = None, source: str = "auto") -> Asked:
    context = Asked(count, limit, source)
    COMMAND.run(context, COMMAND.parse(typed))
    return context


def test_one_handle() -> None:
    context = run("-k comm a + b")
    assert context.asked == [("a + b", "comm")]
    assert context.text.splitlines()[0] == "a + b: communicator 7"
    assert "  size " in context.text
    assert json.loads(run("-format json x").text) == handle("communicator 7")


def test_a_plugin_tells_where_it_is_the_source() -> None:
    told = "x: communicator 7, told by a plug-in"
    assert " ".join(run("-source plugin x").text.split()).startswith(told)
    assert " ".join(run("x", source="plugin").text.split()).startswith(told)
    assert run("-source builtin x", source="plugin").text.startswith("x: communicator 7\n")


def test_the_elements_of_an_array() -> None:
    lines = run("x", count=3, limit=2).text.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "x[0]: communicator 0",
        "x[1]: communicator 1",
        "… and 1 more (to see them: set mpi limit unlimited)",
    ]
    assert json.loads(run("-format json x", count=3, limit=2).text) == [handle(f"communicator {i}") for i in range(3)]
    assert run("x", count=0).text == "no elements\n"
    assert json.loads(run("-format json x", count=0).text) == []


def test_without_an_expression_there_is_help() -> None:
    assert " ".join(run("-k comm").text.split()).startswith(COMMAND.summary)


def test_a_format_is_refused_with_what_takes_it() -> None:
    with pytest.raises(UsageError) as raised:
        run("/x halo")
    assert raised.value.help == "type: print/x halo"
