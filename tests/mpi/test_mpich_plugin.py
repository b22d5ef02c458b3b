"""MPICH's own plug-in, ``libtvmpich.so`` of a build with debugger support, hosted and compared with the truth."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, Set, Tuple

import pytest
from support import builds
from support.builds import MpiBuild, compile_program
from support.cli import mpi_queues, pid_options, show
from support.compare import Deviation, Difference, compare, unexplained
from support.jobs import Job
from support.known import NOT_AVAILABLE, PARTIAL, Known
from support.paths import PROJECT

StartJob = Callable[..., Job]

BLOCKING = ("MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Ibsend", "MPI_Sendrecv", "MPI_Sendrecv_replace")


def _unlisted_send(difference: Difference) -> bool:
    calls = (*BLOCKING, "MPI_Ssend_init", "MPI_Rsend_init")
    return (difference.kind, difference.what) == ("missing", "pending_sends") and difference.posted["call"] in calls


def _matched(difference: Difference) -> bool:
    is_missing = (difference.kind, difference.what) == ("missing", "pending_receives")
    return is_missing and difference.posted["status"] != "pending"


def _persistent(difference: Difference) -> bool:
    facts = (difference.what, difference.name, difference.found)
    return facts == ("pending_receives", "persistent", False) and bool(difference.posted.get("persistent"))


UNLISTED, MATCHED, PERSISTENT = "unlisted sends", "matched receives", "persistent receives"

#: What this plug-in does not see (src/binding/c/pt2pt_api.txt and src/mpi/debugger/dll_mpich.c, v4.0.2).
DEVIATIONS: Dict[str, Deviation] = {
    UNLISTED: Deviation("MPII_SENDQ_REMEMBER stands in few functions only", _unlisted_send),
    MATCHED: Deviation("a receive leaves the device's list when it is matched", _matched),
    PERSISTENT: Deviation("the list has the transfer of a persistent receive", _persistent),
}

#: A communicator that was named "" looks like one without a name. A send of ch4's active messages keeps nothing for
#: sure but what the list says; one to oneself does while it waits.
KNOWN = {
    "ch3": Known({"communicators.empty_name": NOT_AVAILABLE}),
    "ofi": Known(
        {
            "communicators.empty_name": NOT_AVAILABLE,
            **dict.fromkeys(("sends.length", "sends.datatype", "sends.buffer", "sends.complete"), PARTIAL),
        }
    ),
}

TRUTHS: Tuple[Tuple[str, Tuple[str, ...], int, Set[str]], ...] = (
    ("truth_modes", (), 2, {UNLISTED, MATCHED}),
    ("truth_comms", (), 3, set()),
    ("truth_persistent", (), 2, {UNLISTED, MATCHED, PERSISTENT}),
    ("truth_threads", (), 2, set()),
    ("truth_probe", (), 2, set()),
    ("truth_collective", ("barrier",), 2, set()),
    ("truth_tvtest", ("posted",), 2, set()),
    ("truth_tvtest", ("matched",), 3, set()),
    ("truth_tvtest", ("drained",), 2, {MATCHED}),
    ("truth_tvtest", ("freed",), 2, set()),
    ("truth_tvtest", ("arrived",), 3, set()),
    ("truth_tvtest", ("even",), 4, set()),
    ("truth_random", ("5", "300"), 3, {UNLISTED, MATCHED, PERSISTENT}),
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The build with ch4 takes too long to be made for every change."""
    if "flavour" in metafunc.fixturenames:
        flavours = ["ch3", "ofi"] if metafunc.config.getoption("--all-mpis") else ["ch3"]
        metafunc.parametrize("flavour", flavours, scope="module")


@pytest.fixture(scope="module")
def with_plugin(flavour: str, preflight: None) -> MpiBuild:
    """MPICH built with its plug-in."""
    return builds.mpich_from_source(flavour)


def _plugin(build: MpiBuild) -> Path:
    return build.mpicc.parent.parent / "lib" / "libtvmpich.so"


def _take_out_messages_to_oneself(truth: Dict[str, Any], process: Dict[str, Any]) -> None:
    """ch4 keeps them in a queue that its plug-in does not read: the queues must say that they are not known."""
    for comm in process["communicators"]:
        if comm["size"] != 1 or comm["remote_group"] is not None:
            continue
        for kind, queue in (("receives", "pending_receives"), ("unexpected", "unexpected_messages")):
            found = comm[queue]
            assert (found["state"], found["operations"]) == ("no_information", []), found
            assert "messages to oneself" in found["detail"], found
            truth[kind] = [operation for operation in truth[kind] if operation["comm"] != comm["handle"]]
            found.update(state="ok", detail=None)


@pytest.mark.parametrize("program", TRUTHS, ids=lambda program: "-".join((program[0], *program[1])))
@pytest.mark.slow
def test_the_plugin_equals_the_truth_but_for_what_it_does_not_see(
    with_plugin: MpiBuild,
    flavour: str,
    start_job: StartJob,
    program: Tuple[str, Tuple[str, ...], int, Set[str]],
) -> None:
    name, arguments, ranks, expected = program
    job = start_job(with_plugin, name, *arguments, ranks=ranks)
    shown = show(job.pids, "--source", f"plugin={_plugin(with_plugin)}")
    seen: Set[str] = set()
    for rank, truth in job.truth.items():
        process = shown[job.pids[rank]]
        assert process["source"]["kind"] == "plugin"
        assert process["problems"] == []
        assert any("blocked in MPI_Send" in note for note in process["notes"])
        for operation in truth["receives"]:
            # The program has the persistent request, the list that of the transfer.
            operation["request"] = None if operation["persistent"] else operation["request"]
        if flavour == "ofi":
            _take_out_messages_to_oneself(truth, process)
        differences = compare(truth, process, known=KNOWN[flavour])
        rest, counts = unexplained(differences, [DEVIATIONS[key] for key in DEVIATIONS if key in expected])
        assert not rest, "\n".join(map(str, rest))
        seen |= {key for key in expected if counts[DEVIATIONS[key].name]}
    assert seen == expected, f"not seen any more: {sorted(expected - seen)}"
    job.assert_running()


@pytest.mark.slow
def test_compare_names_what_only_the_reader_sees(with_plugin: MpiBuild, flavour: str, start_job: StartJob) -> None:
    job = start_job(with_plugin, "truth_modes", ranks=2)
    result = mpi_queues("show", *pid_options(job.pids), "--source", f"plugin={_plugin(with_plugin)}", "--compare")
    assert result.status == 0, str(result)
    text = re.sub(r"\s+", " ", result.out)
    differences = re.findall(r'- ("[^-]*)', text)
    blocked = [op for truth in job.truth.values() for op in truth["sends"] if op["call"] == "MPI_Ssend"]
    assert blocked, "the program blocks a rank in MPI_Ssend"
    for op in blocked:
        # Over shared memory the sender keeps neither.
        peer, tag = (op["peer"], op["tag"]) if flavour == "ch3" else ("unknown", "unknown")
        unlisted = f"pending sends: only the reader lists peer {peer}, tag {tag},"
        assert any(unlisted in told for told in differences), text
    assert "only the plug-in lists" not in text
    job.assert_running()


@pytest.mark.slow
def test_it_is_not_loaded_unasked(with_plugin: MpiBuild, start_job: StartJob) -> None:
    """The library names it in MPIR_dll_name; its directory is no trusted one."""
    job = start_job(with_plugin, "truth_probe", ranks=2)
    result = mpi_queues("show", "--pid", str(job.pids[0]), "--source", "plugin")
    assert result.status == 3 and result.out == "", str(result)
    assert f"--source plugin={_plugin(with_plugin)}" in result.err, str(result)
    job.assert_running()


@pytest.mark.slow
def test_a_plugin_of_another_mpi_is_refused_by_the_types_that_it_lacks(
    with_plugin: MpiBuild, debian_mpi: MpiBuild, start_job: StartJob
) -> None:
    job = start_job(debian_mpi, "truth_probe", ranks=2)
    result = mpi_queues("show", "--pid", str(job.pids[0]), "--source", f"plugin={_plugin(with_plugin)}")
    assert result.status == 3, str(result)
    assert "MPIR_Comm_list" in result.err and "Traceback" not in result.err, str(result)
    job.assert_running()


@pytest.mark.slow
def test_a_communicator_that_is_freed_between_two_stops(with_plugin: MpiBuild, flavour: str) -> None:
    """The plug-in crashes where it is asked again with what it remembers; each stop has a process object of its own."""
    commands = [
        f"source {PROJECT / 'gdb-scripts' / 'mpi_queues.py'}",
        "break stop_here",
        "run",
        f"mpi plugin load {_plugin(with_plugin)}",
        "set mpi source plugin",
        "mpi queues",
        "echo \\n==\\n",
        "continue",
        "mpi queues",
        "kill",
    ]
    words = [part for command in commands for part in ("-ex", command)]
    program = str(compile_program(with_plugin, "freed"))
    result = subprocess.run(
        ["gdb", "-nx", "-q", "-batch", *words, program], capture_output=True, text=True, timeout=300
    )
    first, second = (re.sub(r"\s+", " ", text) for text in result.stdout.split("\n==\n"))
    for text in (first, second):
        assert "read by the plug-in" in text and "kept: rank 0 of 1" in text, result.stdout + result.stderr
        assert re.search(r"\b0 (\(world 0\) )?42 4 B 1 MPI_INT .*pending", text), result.stdout + result.stderr
        received = re.search(r"\b0 (\(world 0\) )?41 4 B 1 MPI_INT .*pending", text)
        assert received or (flavour == "ofi" and "messages to oneself" in text), result.stdout + result.stderr
    assert "soon gone" in first and "soon gone" not in second, result.stdout
    assert "crashed" not in result.stdout + result.stderr
