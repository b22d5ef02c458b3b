"""The text of merged stacks: it fits, and says who is where and who is not."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

import pytest
from mpi_queues import Snapshot
from mpi_queues.report.stacks import MOST_FRAMES


def frame(
    function: Optional[str], file: Optional[str] = None, line: Optional[int] = None, **facts: Any
) -> Dict[str, Any]:
    return {"function": function, "file": file, "line": line, "application": file is not None, **facts}


def snapshot(*stacks: Optional[List[Dict[str, Any]]], complete: bool = True) -> Snapshot:
    """A process for each, whose main thread has these frames, outermost first; None: no stack."""
    processes = [
        {
            "rank": rank,
            "stacks": []
            if frames is None
            else [{"thread": 1, "main": True, "complete": complete, "frames": frames[::-1]}],
        }
        for rank, frames in enumerate(stacks)
    ]
    return Snapshot.from_json(json.dumps({"schema": "mpi-queues/1", "captured_at": None, "processes": processes}))


MAIN = frame("main", "/src/solver.c", 210)
BARRIER = [MAIN, frame("step", "/src/solver.c", 120), frame("PMPI_Barrier")]
OUTPUT = [MAIN, frame("write_output", "/src/io.c", 88), frame("fwrite", image="/lib/libc.so.6")]


def test_two_ranks() -> None:
    assert str(snapshot(BARRIER, OUTPUT).stacks()).splitlines() == [
        "Where the main threads of ranks 0 and 1 stand, outermost first:",
        "  main at solver.c:210",
        "  |- rank 0 (1 of 2, all but 1)",
        "  |    step at solver.c:120",
        "  |    MPI_Barrier",
        "  `- rank 1 (1 of 2, all but 0)",
        "       write_output at io.c:88",
        "       fwrite",
    ]


def test_sixty_four_ranks() -> None:
    text = str(snapshot(*[OUTPUT if rank == 17 else BARRIER for rank in range(64)]).stacks())
    assert "  |- ranks 0-16 and 18-63 (63 of 64, all but 17)\n" in text
    assert "  `- rank 17 (1 of 64)\n" in text
    assert len(text.splitlines()) == 8


def test_what_is_not_known() -> None:
    tree = snapshot(BARRIER, None, None, [frame(None, image="/opt/lib/libx.so")])
    assert str(tree.stacks()).splitlines()[-3:] == [
        "  `- rank 3 (1 of 2, all but 0)",
        "       ?? in libx.so",
        "Not read: ranks 1 and 2.",
    ]
    assert str(snapshot(None).stacks()) == "No stack could be read.\nNot read: rank 0."
    half = str(snapshot([frame("step", "a.c", 4)], complete=False).stacks()).splitlines()
    assert half[1:] == ["  … step at a.c:4", "Not read to their outermost frame: rank 0."]


def test_some_stand_further_out() -> None:
    text = str(snapshot(BARRIER, BARRIER[:2], BARRIER).stacks())
    assert text.splitlines()[3:] == [
        "  |- ranks 0 and 2 (2 of 3, all but 1)",
        "  |    MPI_Barrier",
        "  `- rank 1 (1 of 3): here",
    ]


def test_a_function_that_calls_itself() -> None:
    walk = frame("walk", "t.c", 5)
    assert "  walk at t.c:5 (4 times)" in str(snapshot([MAIN, *[walk] * 4]).stacks())
    assert "  walk at t.c:5 (2 to 4 times)" in str(snapshot([MAIN, *[walk] * 4], [MAIN, *[walk] * 2]).stacks())


def test_files_of_one_name_are_told_apart() -> None:
    text = str(snapshot([MAIN, frame("f", "/a/x.c", 1)], [MAIN, frame("f", "/b/x.c", 1)]).stacks())
    assert "f at /a/x.c:1" in text and "f at /b/x.c:1" in text


@pytest.mark.parametrize("ranks", [2, 64, 1000])
def test_lines_fit_and_no_name_of_a_file_is_cut(ranks: int) -> None:
    file = "a_rather_long_name_of_a_source_file_that_somebody_has_generated_for_a_kernel.cc"
    name = "grid::Box<double, std::vector<int, std::allocator<int> > >::exchange<Halo>"
    deep = [frame(name, f"/home/me/{file}", line) for line in range(8)]
    stacks = [[MAIN, *deep[: 1 + rank % 7], frame("PMPI_Recv")] for rank in range(ranks)]
    text = str(snapshot(*stacks).stacks())
    assert max(len(line) for line in text.splitlines()) <= 100
    assert f"{file}:3" in text or ranks == 2


def test_a_large_tree_ends() -> None:
    stacks = [[frame(f"f{rank}_{line}", "a.c", line) for line in range(60)] for rank in range(60)]
    text = str(snapshot(*stacks).stacks())
    assert len(text.splitlines()) < 2 * MOST_FRAMES
    assert "of 3,600 frames 2,000 are shown" in text


def test_what_a_stranger_wrote_moves_no_cursor() -> None:
    text = str(snapshot([frame("a\x1b[2Jb", "c\nd.c", 3), frame(None, image="/x/\x07y")]).stacks())
    assert "\x1b" not in text and "\x07" not in text and len(text.splitlines()) == 3


def test_sets_of_ranks_that_are_none_are_refused() -> None:
    content = json.loads(snapshot(BARRIER).stacks().to_json())
    assert Snapshot.from_json(json.dumps(content)).stacks().ranks == "0"
    for wrong in ("-1", "3-1", "a", "1,", 5, None):
        with pytest.raises(ValueError, match="not a snapshot"):
            Snapshot.from_json(json.dumps({**content, "stacks": {**content["stacks"], "ranks": wrong}}))


def test_threads_of_different_ranks() -> None:
    content = json.loads(snapshot(BARRIER, BARRIER).to_json())
    worker = {"thread": 3, "main": False, "complete": True, "frames": [frame("sum", "a.c", 9), frame("start_thread")]}
    content["processes"][1]["stacks"].append(worker)
    tree = Snapshot.from_json(json.dumps(content)).stacks(threads=True)
    assert "  `- rank 1 (thread 3, 1 of 2, all but 0)\n       sum at a.c:9" in str(tree)
    assert [(one["thread"], one["ranks"]) for one in tree[-1].threads] == [(3, "1")]
