"""Options of the debugger commands: parsing, errors, completion."""

from __future__ import annotations

from typing import List

import pytest
from mpi_queues.commands import options as opt
from mpi_queues.errors import UsageError

FORMAT = opt.Option("format", "", "text|json", ("text", "json"))
COMM = opt.Option("comm", "", "NAME")
COMPARE = opt.Option("compare", "")
SOURCE = opt.Option("source", "", "SOURCE", ("auto", "plugin"), also="plugin=")
ALL = (FORMAT, COMM, COMPARE, SOURCE)


def parse(text: str, words: int = 0) -> opt.Arguments:
    return opt.parse(text, ALL, words=words, command="mpi queues")


@pytest.mark.parametrize("text", ["-format json", "--format json", "-format=json", "--format=json", "-f json"])
def test_spellings_of_an_option(text: str) -> None:
    assert parse(text).get("format") == "json"


def test_quoted_names() -> None:
    assert parse('-comm "my comm"').get("comm") == "my comm"
    assert parse("-comm 'a \"b\"'").get("comm") == 'a "b"'
    assert parse("-comm -1").get("comm") == "-1"


def test_switches_and_words() -> None:
    arguments = parse("load -compare -- -x", words=2)
    assert arguments.has("compare")
    assert arguments.words == ["load", "-x"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("-nix", "-nix"),
        ("-com x", "-comm, -compare"),
        ("-format", "-format text|json"),
        ("-format xml", "xml"),
        ("-compare=1", "-compare"),
        ("word", "'word'"),
        ('-comm "open', "closing quotation"),
        ("-source plugin-x", "plugin-x"),
    ],
)
def test_errors_name_the_thing_and_the_help(text: str, named: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(text)
    assert named in str(error.value)
    assert "help mpi queues" in str(error.value)


def test_a_plugin_by_path() -> None:
    assert parse("-source plugin=/x/y.so").get("source") == "plugin=/x/y.so"


def complete(text: str, words: List[str] = []) -> List[str]:  # noqa: B006 - never changed
    names = ["MPI_COMM_WORLD", "my comm", "-odd"]
    return opt.complete(text, ALL, lambda option: names if option.name == "comm" else option.choices, words)[1]


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("", ["-format", "-comm", "-compare", "-source"]),
        ("-co", ["-comm", "-compare"]),
        ("--co", ["--comm", "--compare"]),
        ("-format ", ["text", "json"]),
        ("-format j", ["json"]),
        ("-format=j", ["-format=json"]),
        ("-comm M", ["MPI_COMM_WORLD"]),
        ('-comm "m', ['"my comm"']),
        ("-compare -f", ["-format"]),
        ("-comm nothing", []),
    ],
)
def test_completion(text: str, candidates: List[str]) -> None:
    assert complete(text) == candidates


def test_completion_of_words() -> None:
    assert complete("l", ["load", "info"]) == ["load"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ([], "")),
        ("a b", (["a"], "b")),
        ("a b ", (["a", "b"], "")),
        ('-c "x y', (["-c"], '"x y')),
        ('"x y" z', (['"x y"'], "z")),
        ("x\\ y", ([], "x\\ y")),
    ],
)
def test_the_unfinished_word(text: str, expected: object) -> None:
    assert opt.split_unfinished(text) == expected
