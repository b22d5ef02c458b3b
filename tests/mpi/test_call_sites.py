"""Arguments of calls without their source: what compilers write down of calls, against what the programs say."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from mpi_queues import jobs
from support import cli
from support.builds import MpiBuild
from support.paths import PROJECT
from test_arguments import StartCalls, calls_of, rank_output, said, start_calls

__all__ = ["start_calls"]

#: What is told of the ranks of calls_sites.c. That of rank 1 would have to come through a jump.
TOLD: List[Tuple[str, ...]] = [
    ("buf", "count", "source", "tag"),
    (),
    ("buf", "count", "source", "tag"),
    ("sendbuf", "sendcount", "dest", "sendtag"),
    ("sendbuf", "recvbuf", "count"),
]

FUNCTIONS = PROJECT / "crates" / "functions" / "src" / "functions.txt"

#: The tag, and a peer that sends nothing.
GIVEN = ("40", "4")


def hide(job: jobs.Job, source: str) -> None:
    pathlib.Path(job.program).with_name(source).unlink()


def started(start: StartCalls, build: MpiBuild, *flags: str) -> jobs.Job:
    job = start(build, "calls_sites.c", *flags, ranks=len(TOLD), arguments=GIVEN)
    hide(job, "calls_sites.c")
    return job


def values(call: Dict[str, Any]) -> Dict[str, List[int]]:
    """The arguments that are known, each from the call."""
    found = {}
    for argument in call.get("arguments", []):
        assert argument["expression"] is None
        if argument["value"] is None:
            assert argument["unknown"], argument
        else:
            assert argument["origin"] == "call site"
            found[argument["name"]] = argument.get("values", [argument["value"]])
    return found


def check(job: jobs.Job, calls: List[Dict[str, Any]]) -> None:
    """All that is told is what the ranks say, and what must be told is."""
    for rank, (call, told) in enumerate(zip(calls, TOLD)):
        check_call(call, rank_output(job, rank), told)


def check_call(call: Dict[str, Any], output: str, told: Tuple[str, ...]) -> None:
    truth, found = said(output), values(call)
    assert call["function"] == truth.function
    assert set(found) >= set(told)
    for name, value in found.items():
        # Nothing is said of the status, which is a constant, nor of datatypes.
        assert name not in truth.given or truth.given[name] == value, (name, call)
    if not found:
        assert "is not on this machine" in call["arguments_unknown"]


@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-gdwarf-4", "-gz")])
@pytest.mark.slow
def test_calls_without_their_source(debian_mpi: MpiBuild, start_calls: StartCalls, flags: Tuple[str, ...]) -> None:
    job = started(start_calls, debian_mpi, *flags)
    check(job, calls_of(job))


@pytest.mark.slow
def test_calls_without_their_source_in_mpich(mpich_build: MpiBuild, start_calls: StartCalls) -> None:
    job = started(start_calls, mpich_build, "-O2")
    check(job, calls_of(job))


def test_calls_in_functions_that_were_inlined(debian_mpi: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(debian_mpi, "calls.c", "-O2")
    with_source = calls_of(job)
    hide(job, "calls.c")
    calls = calls_of(job)
    told = [("tag", "comm"), ("count", "array_of_requests"), ("request",), ("count",)]
    for rank, (call, names) in enumerate(zip(calls, told)):
        check_call(call, rank_output(job, rank), names)
    # Expressions whose variables are gone have the call's values.
    for call in with_source:
        for argument in call["arguments"]:
            assert argument["expression"] is not None
            known = argument.get("unknown") is None
            assert known or argument["name"] not in values(calls[with_source.index(call)]), argument


@pytest.mark.slow
def test_fortran_gives_addresses(debian_mpi: MpiBuild, start_calls: StartCalls) -> None:
    job = start_calls(debian_mpi, "calls.f90", "-O2", ranks=3)
    hide(job, "calls.f90")
    known = set()
    for rank, call in enumerate(calls_of(job)):
        truth, found = said(rank_output(job, rank)), values(call)
        for name, value in found.items():
            assert name not in truth.given or truth.given[name] == value, (name, call)
        known |= {name for name in found if name in truth.given}
    assert known >= {"tag", "count", "array_of_requests", "comm"}


@pytest.mark.slow
def test_a_core_file_tells_its_calls(debian_mpich: MpiBuild, start_calls: StartCalls, tmp_path: pathlib.Path) -> None:
    job = started(start_calls, debian_mpich, "-O2")
    calls_of(job)
    core = f"{tmp_path}/core.{job.pids[0]}"
    subprocess.run(["gcore", "-o", f"{tmp_path}/core", str(job.pids[0])], check=True, capture_output=True)
    shown = cli.mpi_queues("show", "--core", core, "--exe", str(job.program), "--format", "json")
    ((call,),) = [process["calls"] for process in json.loads(shown.out)["processes"]]
    check_call(call, rank_output(job, 0), TOLD[0])


def prototypes(header: str) -> Iterator[Tuple[str, List[str]]]:
    """Each function of MPI that a header declares, and its parameters."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    for name, inside in re.findall(
        r"\bint\s+(MPI_\w+)\s*\(([^;{}]*?)\)\s*(?:MPICH_\w+[^;]*)?(?:__attribute__[^;]*)?;", text
    ):
        plain = re.sub(r"__attribute__\(\(.*?\)\)", " ", inside)
        # MPI_Pcontrol takes what the tool at hand wants behind its level.
        yield name, [part.strip() for part in plain.split(",") if part.strip() not in ("", "void", "...")]


def table() -> Dict[str, List[str]]:
    """The types of the parameters of each function, and of that with large counts; ``*`` where C gets an address."""
    kinds: Dict[str, List[str]] = {}
    found: Dict[str, List[str]] = {}
    for name, *words in map(str.split, FUNCTIONS.read_text().splitlines()):
        if name == "kind":
            kinds[words[0]] = words[1:]
        elif name.startswith("MPI_"):
            for which, end in ((0, ""), (-1, "_c")):
                given = (word.split(":", 2) for word in words[1:] if which or "+" not in word)
                found[name + end] = ["*" if "*" in marks else kinds[kind][which] for _, kind, marks in given]
    return found


def test_parameters_are_those_of_the_headers(debian_mpi: MpiBuild, debian_mpich: MpiBuild) -> None:
    known, seen = table(), 0
    for build in (debian_mpi, debian_mpich):
        command = [build.mpicc, "-E", "-P", "-x", "c", "-"]
        header = subprocess.run(command, input="#include <mpi.h>\n", capture_output=True, text=True, check=True).stdout
        for function, declared in prototypes(header):
            types = ["*" if re.search(r"[*[]", text) else text.replace("const ", "").split()[0] for text in declared]
            assert known.get(function, types) == types, (build.id, function)
            seen += len(known.get(function, ()))
    assert seen > 1000
