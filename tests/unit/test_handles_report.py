"""Handles as text: what is known, what is not, and nothing wider than a terminal."""

from __future__ import annotations

import json
from typing import Any, Dict, List

import pytest
from mpi_queues import Snapshot, UsageError
from mpi_queues.handle_types import KINDS, kind_of, kinds_of, wanted
from mpi_queues.printers import children
from mpi_queues.report import handles as report
from mpi_queues.report import text

HALO: Dict[str, Any] = {
    "kind": "comm",
    "handle": "0x55d0c8a3b2c0",
    "fortran": 3,
    "name": "halo",
    "predefined": False,
    "freed": None,
    "state": "live",
    "detail": None,
    "summary": '"halo", rank 1 of 4',
    "facts": {
        "rank": 1,
        "size": 4,
        "inter": False,
        "group": [0, 1, 2, 3],
        "topology": {"kind": "cartesian", "dims": [2, 2], "periods": [True, False]},
        "errhandler": {"kind": "errhandler", "handle": "0x7f01", "summary": "MPI_ERRORS_RETURN"},
        "attributes": [{"keyval": 12, "value": 7, "set_by": "C"}],
        "info": [],
        "requests": None,
        "windows": None,
    },
    "unknown": {"requests": "the pml is ucx"},
    "problems": [],
}


def _snapshot(*lists: Dict[str, Any]) -> Snapshot:
    process = {"rank": 1, "world_size": 4, "pid": 4242, "handles": list(lists)}
    return Snapshot.from_json(json.dumps({"schema": "mpi-queues/1", "processes": [process], "problems": []}))


def _list(kind: str, handles: List[Dict[str, Any]], detail: str = "") -> Dict[str, Any]:
    return {"kind": kind, "complete": not detail, "detail": detail or None, "handles": handles}


def _written(snapshot: Snapshot, *, full: bool = False, **options: Any) -> str:
    out: List[str] = []
    report.write_handles(snapshot, out.append, text.Options(**options), full=full)
    return "".join(out)


def test_one_line_each() -> None:
    world = {**HALO, "name": "MPI_COMM_WORLD", "predefined": True, "summary": "MPI_COMM_WORLD, rank 1 of 4"}
    assert _written(_snapshot(_list("comm", [world, HALO]))) == (
        "Rank 1 of 4, pid 4242\n"
        "\n"
        "  2 communicators\n"
        "  created by the program:\n"
        '    0x55d0c8a3b2c0 (3)    "halo", rank 1 of 4\n'
        "  predefined:\n"
        "    0x55d0c8a3b2c0 (3)    MPI_COMM_WORLD, rank 1 of 4\n"
        "\n"
        "1 process, 2 handles\n"
    )


def test_what_was_forgotten_stands_first() -> None:
    own = {**HALO, "summary": "own"}
    freed = {**HALO, "summary": "let go", "freed": True}
    internal = {**HALO, "summary": "theirs", "facts": {"internal": {"kind": "file", "handle": "0x1", "summary": "f"}}}
    lines = _written(_snapshot(_list("comm", [freed, internal, own]))).splitlines()[3:9]
    assert [line.split(")")[-1].strip() for line in lines] == [
        "created by the program:",
        "own",
        "freed, and still in use:",
        "let go",
        "of the library itself:",
        "theirs",
    ]


def test_everything_about_one() -> None:
    assert _written(_snapshot(_list("comm", [HALO])), full=True) == (
        "Rank 1 of 4, pid 4242\n"
        "\n"
        "  1 communicator\n"
        '    MPI_Comm: "halo", rank 1 of 4\n'
        "      handle        0x55d0c8a3b2c0\n"
        "      Fortran       3\n"
        "      name          halo\n"
        "      predefined    no\n"
        "      rank          1\n"
        "      size          4\n"
        "      inter         no\n"
        "      group         0-3\n"
        "      topology\n"
        "        kind      cartesian\n"
        "        dims      2, 2\n"
        "        periods   yes, no\n"
        "      errhandler    MPI_ERRORS_RETURN (0x7f01)\n"
        "      attributes\n"
        "        keyval 12, value 7, set by C\n"
        "      info          none\n"
        "      requests      not known: the pml is ucx\n"
        "      windows       none\n"
        "\n"
        "1 process, 1 handle\n"
    )


def test_members_that_are_not_known_say_why() -> None:
    partly = {**HALO, "facts": {"topology": {"kind": "graph", "reorder": None}, "attached_to": [], "size": 4}}
    partly["unknown"] = {"topology.reorder": "it is not kept", "attached_to.files": "no list of files"}
    assert _written(_snapshot(_list("comm", [partly])), full=True).splitlines()[8:-2] == [
        "      topology",
        "        kind      graph",
        "        reorder   not known: it is not kept",
        "      attached to   none",
        "        files: not known: no list of files",
        "      size          4",
    ]
    assert children.rows(_snapshot(_list("comm", [partly])).processes[0].handles[0]["handles"][0])[-5:] == [
        ("topology.kind", "graph"),
        ("topology.reorder", "not known: it is not kept"),
        ("attached_to", "none"),
        ("attached_to.files", "not known: no list of files"),
        ("size", "4"),
    ]


def test_a_list_that_could_not_be_read_is_not_empty() -> None:
    assert "error handlers: not known: no table" in _written(_snapshot(_list("errhandler", [], "no table")))
    shown = _written(_snapshot(_list("datatype", [HALO], "only those of Fortran")))
    assert "1 datatype (not all)\n  not all: only those of Fortran" in shown
    assert "0 windows\n" in _written(_snapshot(_list("win", [])))


def test_long_lists_are_cut_and_say_so() -> None:
    shown = _written(_snapshot(_list("comm", [HALO] * 30)), limit=10, show_more="--limit all")
    assert shown.count("halo") == 10
    assert "… and 20 more (to see them: --limit all)" in shown


def test_hostile_text_and_width() -> None:
    bad = {**HALO, "name": "\x1b[31m" + "x" * 300, "summary": "\x1b[31m" + "y" * 300}
    bad["facts"] = {"sketch": ["struct {", "    int a[" + "9" * 200 + "];", "}"], "deep": [[[1, None], {"a": {}}]]}
    for full in (False, True):
        shown = _written(_snapshot(_list("comm", [bad])), full=full)
        assert "\x1b" not in shown
        assert max(map(len, shown.splitlines())) <= 100


def test_problems_of_handles_are_problems() -> None:
    broken = {**HALO, "problems": ["a list is broken"]}
    lost = {**HALO, "state": "unknown", "detail": "not in the core file"}
    assert report.problems_of(_snapshot(_list("comm", [HALO, broken, lost])).processes[0].handles[0]) == [
        "MPI_Comm 0x55d0c8a3b2c0: a list is broken",
        "MPI_Comm 0x55d0c8a3b2c0: not in the core file",
    ]


def test_how_kinds_and_values_are_named() -> None:
    assert kind_of("MPI_Comm") == kind_of("comm") == "comm"
    assert kinds_of(["win", "MPI_Win", "op"]) == ("win", "op")
    assert set(kinds_of(["all"])) == set(KINDS) - {"status"}
    assert wanted("all", []) == ()
    assert wanted("comm", []) == (("comm", None),)
    assert wanted("comm", ["halo", "3"]) == (("comm", "halo"), ("comm", "3"))
    for kind, values, said in (
        ("all", ["halo"], "which kind"),
        ("status", [], "address"),
        ("status", ["3"], "address"),
    ):
        with pytest.raises(UsageError, match=said):
            wanted(kind, values)
    with pytest.raises(UsageError, match="nosuch: not a kind"):
        kind_of("nosuch")
    with pytest.raises(UsageError, match="no list of statuses"):
        kinds_of(["status"])
