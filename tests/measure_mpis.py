"""Measures what can be known of MPIs; writes the table and its page: ``tests/measure_mpis.py [BUILD...]`` (or all).

What is written is to be looked at before it is committed: a fact that was exact and is so no more is a defect.
"""

from __future__ import annotations

import sys
from typing import Sequence

from support import builds, known, mpis_page
from support.measuring import measure


def main(arguments: Sequence[str]) -> int:
    table = known.read_table()
    for name in arguments or builds.BUILDS:
        build = builds.BUILDS[name]()
        # What is known of a rank that is read alone is written by hand.
        kept = {member: value for member, value in table.get(build.id, {}).items() if member == "alone"}
        table[build.id] = {**measure(build), **kept}
        print(f"measured: {name}", flush=True)
    # Open MPI before MPICH, and of either Debian's before the others.
    ordered = dict(sorted(table.items(), key=lambda row: (row[0].startswith("mpich-"), "debian" not in row[0])))
    known.write_table(ordered)
    mpis_page.PAGE.write_text(mpis_page.page(ordered))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
