"""The project's figures, as ratios measured in one run: ``tests/benches/run.py [FIGURE...]`` (default: all).

Everything that is compared is measured one after the other in the same gdb on the same stopped process, so that a busy
machine slows both. These are measurements to read; no test depends on them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Dict, List, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from inside import Row, in_gdb, in_lldb, many
from of_diagnosis import figure_diagnosis
from of_files import figure_files
from of_jobs import figure_jobs
from of_mpich import figure_mpich
from of_mqs_library import figure_mqs_library
from of_native import figure_native
from of_nodes import figure_nodes
from of_page import figure_page
from of_recorder import figure_recorder
from of_recordings import figure_recordings
from of_slurm import figure_slurm
from of_start import figure_start
from of_transports import figure_transports
from of_watching import figure_watch
from support import builds
from support.cli import mpi_queues, pid_options
from support.jobs import Job
from support.variables import Program


def figure_reader(build: builds.MpiBuild) -> List[Row]:
    with many(build, 100_000) as job:
        found = in_gdb(job, "reader_and_pages", "plain_hosts", "plugin", runs=9)
    assert found["operations"] == found["scripted_operations"] == found["c_host_operations"] == 100_000, found
    reader, readv, scripted = found["reader"], found["readv"], found["scripted"]
    against_c, ours = found["c_host"], found["plugin"]
    ms = f"{1000 * reader:.0f} ms ({1000 * found['reader_first']:.0f} ms the first time)"
    return [
        (
            "100,000 receives: reader / process_vm_readv of the same pages",
            f"{reader / readv:.1f}  ({ms}; {found['pages']} pages in {1000 * readv:.1f} ms)",
            "at most 5",
            reader <= 5 * readv,
        ),
        (
            "100,000 receives: plug-in in a scripted host in gdb / reader",
            f"{scripted / reader:.0f}  ({scripted:.2f} s, {found['fetches']} fetches)",
            "at least 15",
            scripted >= 15 * reader,
        ),
        (
            "100,000 receives: plug-in in a plain host in C / reader",
            f"{against_c / reader:.0f}  ({against_c:.2f} s)",
            "(not asked for)",
            True,
        ),
        (
            "100,000 receives: scripted host / plug-in in our helper process",
            f"{scripted / ours:.1f}  ({1000 * ours:.0f} ms)",
            "at least 3",
            scripted >= 3 * ours,
        ),
        (
            "100,000 receives: plain host in C / plug-in in our helper process",
            f"{against_c / ours:.1f}",
            "at least 3",
            against_c >= 3 * ours,
        ),
    ]


def figure_communicators(build: builds.MpiBuild) -> List[Row]:
    times, hosted = {}, {}
    jobs = {count: many(build, 10_000, count - 3) for count in (3, 43, 403)}
    try:
        for count, job in jobs.items():
            found = in_gdb(job, "reader", "plugin", runs=9)
            times[count], hosted[count] = found["reader"], found["plugin"]
    finally:
        for job in jobs.values():
            job.end()
    ratio = max(times.values()) / min(times.values())

    def listed(of: Dict[int, float]) -> str:
        return ", ".join(f"{1000 * taken:.1f} ms" for taken in of.values())

    growth = max(hosted.values()) / min(hosted.values())
    return [
        (
            "10,000 receives, 3, 43 and 403 communicators: slowest / fastest",
            f"{ratio:.2f}  ({listed(times)})",
            "at most 1.5",
            ratio <= 1.5,
        ),
        ("the same with the plug-in in our host", f"{growth:.1f}  ({listed(hosted)})", "(not asked for)", True),
    ]


def figure_latency(build: builds.MpiBuild) -> List[Row]:
    with Job(build, "truth_probe", ranks=2) as job:
        found = [in_gdb(job, "command") for _ in range(3)]
    first = statistics.median(one["command_first"] for one in found)
    later = statistics.median(one["command"] for one in found)
    times = []
    with Job(build, "truth_comms", ranks=4) as job:
        for _ in range(3):
            started = time.perf_counter()
            result = mpi_queues("show", *pid_options(job.pids))
            times.append(time.perf_counter() - started)
            assert result.status == 0, str(result)
    show = statistics.median(times)
    return [
        (
            "`mpi queues` on a small process",
            f"{1000 * first:.0f} ms at the first stop, {1000 * later:.0f} ms at later ones",
            "under 50 ms",
            max(first, later) < 0.05,
        ),
        ("`mpi-queues show` of 4 ranks", f"{show:.2f} s", "under 3 s", show < 3),
    ]


def figure_lldb(build: builds.MpiBuild) -> List[Row]:
    with many(build, 100_000) as job:
        gdb, lldb = in_gdb(job, "reader", runs=9), in_lldb(job, "reader", runs=9)
    assert gdb["operations"] == lldb["operations"] == 100_000, (gdb, lldb)
    return [
        (
            f"100,000 receives: reader in lldb / in gdb, {when}",
            f"{lldb[key] / gdb[key]:.2f}  ({1000 * lldb[key]:.0f} ms and {1000 * gdb[key]:.0f} ms)",
            "at most 2",
            lldb[key] <= 2 * gdb[key],
        )
        for when, key in (("at later stops", "reader"), ("the first time", "reader_first"))
    ]


def figure_printers(build: builds.MpiBuild) -> List[Row]:
    with Program(build, "printers.c", "many") as job:
        found = [in_gdb(job, "printers") for _ in range(3)]
    assert all(one["locals_shown"] == 200 for one in found), found
    best = {key: statistics.median(one[key] for one in found) for key in found[0]}
    first, typical, slowest = (1000 * best[key] for key in ("printer_first", "printer", "printer_slowest"))
    locals_ = best["locals"]
    return [
        (
            "gdb's `print` of one handle after the first, slowest of 200",
            f"{slowest:.2f} ms ({typical:.2f} ms in the middle, {first:.1f} ms the first time)",
            "under 1 ms",
            slowest < 1,
        ),
        (
            "gdb's `info locals` with 200 handles, at a new stop",
            f"{1000 * locals_:.1f} ms",
            "under 200 ms for 100",
            locals_ < 0.2,
        ),
    ]


def figure_formatters(build: builds.MpiBuild) -> List[Row]:
    with Program(build, "printers.c", "many") as job:
        found = [in_lldb(job, "formatters") for _ in range(3)]
    assert all(one["shown"] == 200 for one in found), found
    first, typical, slowest, all_ = (
        1000 * statistics.median(one[key] for one in found)
        for key in ("formatter_first", "formatter", "formatter_slowest", "frame_variable")
    )
    return [
        (
            "lldb's summary of one handle after the first, slowest of 200",
            f"{slowest:.2f} ms ({typical:.2f} ms in the middle, {first:.1f} ms the first time)",
            "under 1 ms",
            slowest < 1,
        ),
        (
            "lldb's `frame variable` with 200 handles, after a change",
            f"{all_:.1f} ms",
            "under 200 ms for 100",
            all_ < 200,
        ),
    ]


def figure_memory(build: builds.MpiBuild) -> List[Row]:
    with many(build, 100_000) as job:
        found = in_gdb(job, "memory")
    text, both = found["memory_text"] / 1024, found["memory_json"] / 1024
    return [
        (
            "100,000 receives: peak extra memory of gdb",
            f"{text:.0f} MB for text, {both:.0f} MB with the whole JSON",
            "under 200 MB",
            both < 200,
        )
    ]


FIGURES = {
    "reader": figure_reader,
    "communicators": figure_communicators,
    "latency": figure_latency,
    "lldb": figure_lldb,
    "printers": figure_printers,
    "formatters": figure_formatters,
    "memory": figure_memory,
    "recordings": figure_recordings,
    "start": figure_start,
    "jobs": figure_jobs,
    "native": figure_native,
    "files": figure_files,
    "watch": figure_watch,
    "nodes": figure_nodes,
    "page": figure_page,
    "slurm": figure_slurm,
    "mpich": figure_mpich,
    "mqs-library": figure_mqs_library,
    "transports": figure_transports,
    "diagnosis": figure_diagnosis,
    "recorder": figure_recorder,
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"of {', '.join(FIGURES)} (default: all)")
    chosen = parser.parse_args(arguments).figures or list(FIGURES)
    unknown = set(chosen) - set(FIGURES)
    if unknown:
        parser.error(f"no such figure: {', '.join(sorted(unknown))}")
    try:
        build = builds.debian()
    except builds.Missing as missing:
        print(missing, file=sys.stderr)
        return 3
    print(f"Open MPI {build.version}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    for name in chosen:
        for what, measured, wanted, holds in FIGURES[name](build):
            print(f"{'ok  ' if holds else 'MISS'}  {what}\n        {measured}\n        wanted: {wanted}")
        print(f"        command: .venv/bin/python tests/benches/run.py {name}\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
