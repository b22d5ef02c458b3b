"""Open MPI over other transports than ob1: reading many receives."""

from __future__ import annotations

from typing import List

from inside import Row, in_gdb, many
from support import builds

#: How many receives are posted. Only over UCX: libfabric needs both processes to go on before the last message is
#: there, and these stand in pause().
RECEIVES = 100_000


def figure_transports(build: builds.MpiBuild) -> List[Row]:
    """Builds of Open MPI over UCX; ``build`` itself is not asked."""
    names = [name for name in builds.OVER if name.endswith("+ucx")]
    return [row for name in names for row in (_receives(name), _communicators(name))]


def _receives(name: str) -> Row:
    with many(builds.OVER[name](), RECEIVES) as job:
        found = in_gdb(job, "reader_and_pages", runs=9)
    assert found["operations"] == RECEIVES, (name, found)
    reader, readv = found["reader"], found["readv"]
    ms = f"{1000 * reader:.0f} ms ({1000 * found['reader_first']:.0f} ms the first time)"
    return (
        f"{RECEIVES:,} receives on {name}: reader / process_vm_readv of the same pages",
        f"{reader / readv:.1f}  ({ms}; {found['pages']} pages in {1000 * readv:.1f} ms)",
        "at most 5",
        reader <= 5 * readv,
    )


def _communicators(name: str) -> Row:
    """The same receives with few communicators and with many, in turn."""
    with many(builds.OVER[name](), 10_000) as few, many(builds.OVER[name](), 10_000, 40) as more:
        times = {3: in_gdb(few, "reader", runs=9)["reader"], 43: in_gdb(more, "reader", runs=9)["reader"]}
    ratio = times[43] / times[3]
    return (
        f"10,000 receives on {name}: 43 communicators / 3",
        f"{ratio:.2f}  ({1000 * times[43]:.1f} ms, {1000 * times[3]:.1f} ms)",
        "at most 1.5",
        ratio <= 1.5,
    )
