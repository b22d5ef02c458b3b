"""Repeats hostile input with seeds: ``tests/hostile/run.py memory --seeds 0-1000 --mpi mpich``; no name: all."""

from __future__ import annotations

import argparse
import collections
import importlib
import pkgutil
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Dict, List, Optional

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from hostile.guarded import Run  # noqa: E402


def commands() -> Dict[str, ModuleType]:
    """The files of this folder that have ``runs``."""
    found = {}
    for module in pkgutil.iter_modules([str(HERE)]):
        if module.name == "run" or module.name.startswith("test_"):
            continue
        loaded = importlib.import_module(f"hostile.{module.name}")
        if hasattr(loaded, "runs"):
            found[module.name] = loaded
    return found


def seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def report(name: str, mpi: Optional[str], module: ModuleType, chosen: range) -> int:
    """Does them, prints what did not hold and the figures; the number of those that did not."""
    outcomes: Dict[str, int] = collections.Counter()
    failed, slowest, started = 0, Run(""), time.monotonic()
    for run in module.runs(chosen, mpi):
        outcomes[run.outcome] += 1
        slowest = max(slowest, run, key=lambda one: one.seconds)
        if run.problems:
            failed += 1
            print(f"{name} {mpi or ''} {run.what}", *run.problems, sep="\n    ", flush=True)
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(
        f"{name} {mpi or ''}: {sum(outcomes.values())} runs in {time.monotonic() - started:.0f} s: {told}; "
        f"{failed} did not hold; the slowest took {slowest.seconds:.1f} s ({slowest.what})",
        flush=True,
    )
    return failed


def main(arguments: Optional[List[str]] = None) -> int:
    known = commands()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", nargs="?", choices=sorted(known), help="default: all")
    parser.add_argument("--seeds", type=seeds, help="such as 0-1000 or 17; default: those of make test-all")
    parser.add_argument("--mpi", help="default: all that the command knows")
    chosen = parser.parse_args(arguments)
    failed = 0
    for name in [chosen.command] if chosen.command else sorted(known):
        module = known[name]
        mpis = [mpi for mpi in module.MPIS if chosen.mpi in (None, mpi)] if module.MPIS else [None]
        if not mpis:
            parser.error(f"{name} knows no MPI {chosen.mpi!r}, but {', '.join(module.MPIS)}")
        for mpi in mpis:
            failed += report(name, mpi, module, chosen.seeds or module.LONG)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
