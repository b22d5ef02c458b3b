"""Makes the MPIs of the tests ready, which takes minutes the first time: ``tests/make_mpis.py [--all|--all-mpis]``."""

from __future__ import annotations

import sys
from typing import Sequence

from support import builds


def main(arguments: Sequence[str]) -> int:
    """Names each that is ready, and says what is missing where one cannot be made."""
    failed = 0
    chosen = builds.MORE if "--all" in arguments else builds.USUAL
    for name in builds.BUILDS if "--all-mpis" in arguments else chosen:
        print(f"making ready: {name} (minutes the first time)", flush=True)
        try:
            builds.BUILDS[name]()
            print(f"ready: {name}", flush=True)
        except builds.Missing as missing:
            print(f"{name}: {missing}", file=sys.stderr, flush=True)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
