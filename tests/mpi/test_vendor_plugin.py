"""Debian's own plug-in on Debian's own stripped Open MPI, hosted from the command line, against the truth.

What the plug-in says wrongly of a request that it names is corrected by the host and must equal the truth.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import time
from pathlib import Path
from typing import Any, Callable, List, Set, Tuple

import pytest
from support import processes
from support.builds import MpiBuild, compile_with, debian_plugin, version_of_debian
from support.cli import Result, mpi_queues, pid_options, show
from support.compare import compare, unexplained
from support.jobs import PML_CM, Job
from support.paths import PROGRAMS
from support.vendor_plugin import DEVIATIONS

StartJob = Callable[..., Job]

UNEXPECTED = "lines 1284, 1307: unexpected messages are never reported"
ORDER = "operations come in the order of the free list"
BUFFERED = "a buffered send counts as complete while its message has not been taken"
INACTIVE = "inactive persistent requests are listed"
PROBES = "probes and the messages they hold are not told from receives"

#: Which deviations each program must show, all ranks together; any other fails.
TRUTHS: List[Tuple[str, Tuple[str, ...], int, Set[str]]] = [
    ("truth_modes", (), 2, {UNEXPECTED, ORDER, BUFFERED}),
    ("truth_comms", (), 3, {UNEXPECTED, ORDER}),
    (
        "truth_persistent",
        (),
        2,
        {UNEXPECTED, ORDER, BUFFERED, INACTIVE},
    ),
    ("truth_threads", (), 2, {UNEXPECTED, ORDER}),
    ("truth_probe", (), 2, {UNEXPECTED, ORDER, PROBES}),
    ("truth_random", ("5", "300"), 3, {UNEXPECTED, ORDER}),
]


def test_every_deviation_is_asked_for_by_some_program() -> None:
    assert set().union(*(expected for _, _, _, expected in TRUTHS)) == set(DEVIATIONS)


@pytest.mark.parametrize("program", TRUTHS, ids=lambda program: program[0])
@pytest.mark.usual("truth_comms")
def test_the_plugin_equals_the_truth_but_for_its_known_defects(
    debian_mpi: MpiBuild, start_job: StartJob, program: Tuple[str, Tuple[str, ...], int, Set[str]]
) -> None:
    name, arguments, ranks, expected = program
    job = start_job(debian_mpi, name, *arguments, ranks=ranks)
    shown = show(job.pids, "--source", "plugin")
    seen: Set[str] = set()
    for rank, truth in job.truth.items():
        process = shown[job.pids[rank]]
        assert process["source"]["kind"] == "plugin"
        assert Path(process["source"]["plugin"]).name == "libompi_dbg_msgq.so"
        assert process["problems"] == []
        rest, counts = unexplained(compare(truth, process), [DEVIATIONS[key] for key in sorted(expected)])
        assert not rest, "\n".join(map(str, rest))
        seen |= {key for key, count in counts.items() if count}
    assert seen == expected, f"not seen any more: {sorted(expected - seen)}"
    job.assert_running()


def test_inactive_requests_are_the_only_ones_that_were_never_posted(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    job = start_job(debian_mpi, "truth_persistent", ranks=2)
    shown = show(job.pids, "--source", "plugin")
    for rank, truth in job.truth.items():
        extra = [op for op in compare(truth, shown[job.pids[rank]]) if op.kind == "extra"]
        assert len(extra) == len(truth["inactive"])


def test_compare_tells_where_reader_and_plugin_differ(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    job = start_job(debian_mpi, "truth_modes", ranks=2)
    result = mpi_queues("show", *pid_options(job.pids), "--compare")
    assert result.status == 0, str(result)
    text = re.sub(r"\s+", " ", result.out)
    for pid in job.pids:
        assert f"pid {pid}: " in text
    once = r"unexpected messages: the plug-in has no information in \d+ communicators, where the reader lists [1-9]"
    assert len(re.findall(once, text)) == len(job.pids)
    assert "the plug-in lists the operations in another order than that of matching" in text
    # An incomplete buffered send is pending for the reader, complete for the plug-in.
    assert "pending for the reader, complete for the plug-in" in text
    job.assert_running()


def test_pml_cm_gives_no_information_and_not_the_plugins_garbage(debian_mpi: MpiBuild, start_job: StartJob) -> None:
    """The plug-in takes cm's requests for ob1's and shows lengths like 757077644187648."""
    job = start_job(debian_mpi, "truth_collective", "barrier", ranks=2, mca=PML_CM)
    result = mpi_queues("show", *pid_options(job.pids), "--source", "plugin", "--format", "json")
    assert "ob1" in result.out + result.err, str(result)
    if result.status < 3:
        for process in show(job.pids, "--source", "plugin").values():
            for comm in process["communicators"]:
                for queue in ("pending_sends", "pending_receives", "unexpected_messages"):
                    assert comm[queue]["state"] == "no_information"
                    assert comm[queue]["operations"] == []
    job.assert_running()


def _refused(job: Job, option: str, *words: str, options: Tuple[str, ...] = ()) -> Result:
    result = mpi_queues("show", "--pid", str(job.pids[0]), "--source", option, *options)
    assert result.status == 3, str(result)
    assert result.out == "", str(result)
    assert "Traceback" not in result.err, str(result)
    for word in words:
        assert word in result.err, f"{word!r} is not in the message\n{result}"
    job.assert_running()
    return result


@pytest.fixture(scope="module")
def small_job(debian_mpi: MpiBuild) -> Any:
    with Job(debian_mpi, "truth_probe", ranks=2) as job:
        yield job


def test_an_mpi_without_a_plugin(wheel_mpi: MpiBuild, start_job: StartJob) -> None:
    """The wheels name one at a path that does not exist."""
    job = start_job(wheel_mpi, "truth_probe", ranks=2)
    _refused(job, "plugin", "plug-in")


def test_a_plugin_that_does_not_exist(small_job: Job, tmp_path: Path) -> None:
    _refused(small_job, f"plugin={tmp_path}/none.so", f"{tmp_path}/none.so")


def test_a_file_that_is_no_library(small_job: Job, tmp_path: Path) -> None:
    path = tmp_path / "text.so"
    path.write_text("not a library\n")
    _refused(small_job, f"plugin={path}", str(path), "ELF")


def test_a_library_that_is_no_plugin(small_job: Job, tmp_path: Path) -> None:
    path = next(Path("/lib").glob("*/libm.so.6"))
    _refused(small_job, f"plugin={path}", str(path), "mqs_")


def test_a_32_bit_plugin(small_job: Job, tmp_path: Path) -> None:
    """The header of a 32-bit shared library for i386, without anything in it."""
    path = tmp_path / "narrow.so"
    ident = b"\x7fELF" + bytes([1, 1, 1]) + bytes(9)
    path.write_bytes(ident + struct.pack("<HHIIIIIHHHHHH", 3, 3, 1, 0, 0, 0, 0, 52, 32, 0, 40, 0, 0) + bytes(512))
    _refused(small_job, f"plugin={path}", str(path), "32")


def test_a_damaged_plugin(small_job: Job, tmp_path: Path) -> None:
    path = tmp_path / "cut.so"
    path.write_bytes(debian_plugin().read_bytes()[:6000])
    _refused(small_job, f"plugin={path}", str(path))


def test_a_plugin_of_another_mpi_version(wheel_mpi: MpiBuild, mpir_mpi: MpiBuild, start_job: StartJob) -> None:
    """It would show one communicator with a binary name where there are many."""
    other = wheel_mpi if version_of_debian().startswith("4.") else mpir_mpi
    job = start_job(other, "truth_probe", ranks=2)
    _refused(job, f"plugin={debian_plugin()}", version_of_debian(), other.version, str(debian_plugin()))


def test_a_plugin_that_others_may_write_is_not_loaded_unasked(small_job: Job, tmp_path: Path) -> None:
    """By name it is loaded: naming it is asking for it."""
    path = tmp_path / "libompi_dbg_msgq.so"
    shutil.copy(debian_plugin(), path)
    os.chmod(path, 0o777)
    shown = show([small_job.pids[0]], "--source", f"plugin={path}")
    assert shown[small_job.pids[0]]["source"]["plugin"] == str(path)


@pytest.mark.parametrize("function", ["mqs_setup_image", "mqs_image_has_queues"])
@pytest.mark.parametrize("fate", ["crash", "loop", "abort", "exit", "_exit", "kill", "close", "sleep"])
@pytest.mark.usual("crash-mqs_image_has_queues")
def test_a_hostile_plugin_on_a_real_rank(small_job: Job, fate: str, function: str) -> None:
    """The helper process dies or is ended in time; the rank goes on, and no process is left."""
    flags = ["-shared", "-fPIC", "-Wno-error", f'-DVARIANT="{fate}:{function}"']
    path = compile_with(["cc"], "plugins", [PROGRAMS / "plugins" / "plugin.c"], flags)
    before = {process.pid for process in processes.descendants(1)}
    started = time.monotonic()
    _refused(small_job, f"plugin={path}", str(path), options=("--timeout", "10"))
    assert time.monotonic() - started < 60
    mine = {pid for pid in {process.pid for process in processes.descendants(1)} - before if _maps(pid, path)}
    assert not mine, f"processes that still have the plug-in loaded: {mine}"


def _maps(pid: int, path: Path) -> bool:
    try:
        return str(path) in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False
