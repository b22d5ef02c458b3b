"""Open MPI over other transports than ob1: reading many receives."""

from __future__ import annotations

from typing import List

from inside import Row, in_gdb, many
from support import builds


def figure_transports(build: builds.MpiBuild) -> List[Row]:
    """Each build over each of its transports; ``build`` itself is not asked."""
    rows = []
    for name, make in builds.OVER.items():
        with many(make(), 100_000) as job:
            found = in_gdb(job, "reader_and_pages", runs=5)
        assert found["operations"] == 100_000, (name, found)
        reader, readv = found["reader"], found["readv"]
        ms = f"{1000 * reader:.0f} ms ({1000 * found['reader_first']:.0f} ms the first time)"
        rows.append(
            (
                f"100,000 receives on {name}: reader / process_vm_readv of the same pages",
                f"{reader / readv:.1f}  ({ms}; {found['pages']} pages in {1000 * readv:.1f} ms)",
                "at most 5",
                reader <= 5 * readv,
            )
        )
    return rows
