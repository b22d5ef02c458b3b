"""Merged stacks of real jobs, and the odd rank where queues are not known. Truth is the markers in odd_rank.c."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import jsonschema
import mpi_queues as package
import pytest
from support import cores, processes
from support.builds import MpiBuild
from support.cli import mpi_queues, pid_options
from support.jobs import Job
from support.paths import PROGRAMS
from support.unheard import give_unheard_pml

SOURCE = (PROGRAMS / "odd_rank.c").read_text(encoding="utf-8").splitlines()
SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "schema.json").read_text(encoding="utf-8"))
RANKS, ODD = 5, 2
OTHERS = "0-1,3-4"


def line(marker: str) -> int:
    return next(at for at, text in enumerate(SOURCE, 1) if f"/* @{marker} */" in text)


def frame(function: str, marker: str) -> Tuple[str, int]:
    return function, line(marker)


#: The application's frames of both, outermost first; what is inside MPI, or within the work, is not looked at.
CROWD = [frame("main", "STEP"), frame("step", "BARRIER"), ("MPI_Barrier", None)]
ELSEWHERE = [
    frame("main", "STEP"),
    frame("step", "OUTPUT"),
    frame("write_output", "RECV"),
    ("MPI_Recv", None),
]


def paths(content: Any) -> Dict[str, List[Tuple[str, Optional[int]]]]:
    """By the ranks of each place where stacks end: its frames, outermost first."""
    nodes = content["stacks"]["nodes"]
    found = {}
    for node in nodes:
        if "ends" in node:
            path, at = [], node
            while True:
                path.append((at["function"], at["line"]))
                if at["parent"] is None:
                    break
                at = nodes[at["parent"]]
            found[node["ends"]["ranks"]] = path[::-1]
    return found


def stacks(*target: str, status: int = 0) -> Any:
    result = mpi_queues("stacks", *target, "--format", "json")
    assert result.status == status, str(result)
    content = json.loads(result.out)
    jsonschema.Draft202012Validator(SCHEMA).validate(content)
    return content


def settled(*target: str) -> Any:
    """The tree once all ranks have come to their places."""
    found: List[Any] = []

    def there() -> bool:
        found[:] = [stacks(*target)]
        return paths(found[0]) == {OTHERS: CROWD, str(ODD): ELSEWHERE}

    processes.wait_until(there, "all ranks at their places")
    return found[0]


@pytest.fixture(scope="module")
def elsewhere(debian_mpi: MpiBuild) -> Any:
    with Job(debian_mpi, "odd_rank", "elsewhere", str(ODD), ranks=RANKS) as job:
        settled(*pid_options(job.pids))
        yield job


def test_who_is_not_where_the_others_are(elsewhere: Job) -> None:
    result = mpi_queues("stacks", "--job", str(elsewhere.launcher_pid))
    assert (result.status, result.err) == (0, ""), str(result)
    assert result.out.splitlines() == [
        "Where the main threads of ranks 0-4 stand, outermost first:",
        f"  main at odd_rank.c:{line('STEP')}",
        f"  |- ranks 0, 1, 3 and 4 (4 of 5, all but {ODD})",
        f"  |    step at odd_rank.c:{line('BARRIER')}",
        "  |    MPI_Barrier",
        f"  `- rank {ODD} (1 of 5)",
        f"       step at odd_rank.c:{line('OUTPUT')}",
        f"       write_output at odd_rank.c:{line('RECV')}",
        "       MPI_Recv",
    ]
    elsewhere.assert_running()


@pytest.mark.slow
def test_one_rank_and_all_frames(elsewhere: Job) -> None:
    pids = pid_options(elsewhere.pids)
    content = json.loads(mpi_queues("stacks", *pids, "--rank", str(ODD), "--internal", "--format", "json").out)
    names = [node["function"] for node in content["stacks"]["nodes"]]
    # A debugger may end a stack in main.
    begin = names.index("main")
    assert names[begin : begin + 4] == ["main", "step", "write_output", "PMPI_Recv"], names
    assert content["stacks"]["ranks"] == str(ODD)
    wrong = mpi_queues("stacks", *pids, "--rank", "17")
    assert (wrong.status, wrong.out) == (2, "") and "no process of rank 17" in wrong.err, str(wrong)


def test_threads_of_the_mpi_library_are_none_of_the_ranks(elsewhere: Job) -> None:
    content = json.loads(mpi_queues("stacks", *pid_options(elsewhere.pids), "--threads", "--format", "json").out)
    assert paths(content) == {OTHERS: CROWD, str(ODD): ELSEWHERE}
    every = mpi_queues("stacks", *pid_options(elsewhere.pids), "--threads", "--internal", "--format", "json")
    assert len(json.loads(every.out)["stacks"]["nodes"]) > len(content["stacks"]["nodes"])


def test_ranks_that_are_not_read_are_told(elsewhere: Job) -> None:
    content = stacks(*pid_options(elsewhere.pids[:2]))
    assert (content["stacks"]["ranks"], content["stacks"]["not_read"]["ranks"]) == ("0-1", "2-4")
    assert "Not read: ranks 2-4.\n" in mpi_queues("stacks", *pid_options(elsewhere.pids[:2])).out


@pytest.mark.slow
def test_a_recording_and_a_core_file_tell_the_same(elsewhere: Job, tmp_path: Path) -> None:
    recording = tmp_path / "odd.mpirec"
    result = mpi_queues("record", *pid_options(elsewhere.pids), "-o", str(recording))
    assert result.status == 0, str(result)
    assert paths(stacks("--recording", str(recording))) == {OTHERS: CROWD, str(ODD): ELSEWHERE}
    tree = package.load(recording).stacks()
    assert (tree.ranks, tree.rank_list(), tree.nodes[0].absent) == ("0-4", [0, 1, 2, 3, 4], "")
    (root,) = [node for node in tree if node.parent is None]
    assert [child.ranks for child in root.children] == [OTHERS, str(ODD)]
    assert root.children[1].children[0].function == "write_output"
    assert str(tree).startswith("Where the main threads of ranks 0-4 stand")
    core = cores.gcore(elsewhere.pids[ODD], tmp_path / "core")
    content = stacks("--core", str(core))
    assert paths(content) == {str(ODD): ELSEWHERE}


def test_a_process_that_is_no_mpi_process_has_stacks() -> None:
    with processes.asleep() as process:
        content = stacks("--pid", str(process.pid))
        assert content["stacks"]["pids"] == str(process.pid)
        assert any("nanosleep" in (node["function"] or "") for node in content["stacks"]["nodes"])
        assert "is not an MPI process" in content["processes"][0]["notes"][0]
    gone = mpi_queues("stacks", "--pid", str(process.pid))
    assert (gone.status, gone.out) == (3, ""), str(gone)


def test_before_mpi_init(debian_mpi: MpiBuild) -> None:
    with Job(debian_mpi, "odd_rank", "before", ranks=1) as job:
        processes.wait_until(lambda: processes.state(job.pids[0]) == "S", "the rank to wait")
        content = stacks(*pid_options(job.pids))
    names = [(node["function"], node["line"]) for node in content["stacks"]["nodes"]]
    assert names[0] == ("main", line("BEFORE")) and "pause" in str(names[1][0])
    assert content["processes"][0]["stage"] == "not_initialized"


@pytest.mark.slow
@pytest.mark.parametrize(("does", "words"), [("elsewhere", "in MPI_Recv"), ("computes", "outside MPI")])
def test_the_odd_rank_where_queues_are_not_known(debian_mpi: MpiBuild, does: str, words: str) -> None:
    """Its pml is one that nobody has heard of."""
    with Job(debian_mpi, "odd_rank", does, str(ODD), ranks=RANKS) as job:
        give_unheard_pml(job.pids)
        first: List[Any] = []

        def named() -> bool:
            result = mpi_queues("diagnose", *pid_options(job.pids), "--format", "json")
            assert result.status in (0, 1), str(result)
            content = json.loads(result.out)
            first[:] = [content["diagnosis"][:1], content["verdict"]]
            return bool(first[0]) and first[0][0]["ranks"] == [ODD] and words in first[0][0]["summary"]

        processes.wait_until(named, f"the odd rank to be named: {first}")
        (finding,), verdict = first
        marker = "RECV" if does == "elsewhere" else "WORK"
        place = {(call["file"].rsplit("/", 1)[-1], call["line"]) for call in finding["calls"] if call["rank"] == ODD}
        assert place & {("odd_rank.c", line(marker)), ("odd_rank.c", line(marker) - 1)}, finding
        assert f"rank {ODD} " in verdict["headline"].lower(), verdict
        job.assert_running()


def test_nobody_is_odd_where_all_do_the_same(debian_mpi: MpiBuild, tmp_path: Path) -> None:
    with Job(debian_mpi, "odd_rank", "none", str(ODD), ranks=RANKS) as job:
        give_unheard_pml(job.pids)
        recording = tmp_path / "fair.mpirec"
        # They may have gone through the first barrier, and have left the job.
        result = mpi_queues("record", *pid_options(job.pids), "-o", str(recording))
        if result.status == 0:
            said = json.loads(mpi_queues("diagnose", "--recording", str(recording), "--format", "json").out)
            assert [one for one in said["diagnosis"] if one["kind"] == "odd rank"] == []
