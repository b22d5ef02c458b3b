"""Stock MPICH against Open MPI: finding the pools of objects, and reading many receives."""

from __future__ import annotations

from typing import List

from inside import Row, in_gdb, many
from support import builds


def figure_mpich(build: builds.MpiBuild) -> List[Row]:
    """The same program on the distribution's MPICH and on the newest wheel."""
    with many(build, 10_000) as job:
        plain = in_gdb(job, "reader", runs=9)
    rows = []
    for name in (builds.DEBIAN_MPICH, builds.MPICH_WHEEL):
        with many(builds.BUILDS[name](), 10_000) as job:
            found = in_gdb(job, "reader", "pool_scan", runs=9)
        assert found["operations"] == plain["operations"] == 10_000, (name, found, plain)
        for when, key in (("at later stops", "reader"), ("the first time", "reader_first")):
            rows.append(
                (
                    f"10,000 receives: reader on {name} / on Open MPI {build.version}, {when}",
                    f"{found[key] / plain[key]:.1f}  ({1000 * found[key]:.0f} ms and {1000 * plain[key]:.0f} ms)",
                    "at most 3",
                    found[key] <= 3 * plain[key],
                )
            )
        per_4_mib = found["pool_scan"] * (4 << 20) / found["scanned"]
        rows.append(
            (
                f"{name}: what MPI it is, with its pools found in {found['scanned'] / (1 << 20):.1f} MiB of variables",
                f"{1000 * found['pool_scan']:.1f} ms, {1000 * per_4_mib:.1f} ms for 4 MiB",
                "under 20 ms for 4 MiB",
                per_4_mib < 0.02 or found["pool_scan"] < 0.02,
            )
        )
    return rows
