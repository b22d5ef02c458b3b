"""usage: python with_atheris.py TARGET OPTIONS-AND-DIRECTORIES-OF-LIBFUZZER...

Needs the package atheris, which ``make fuzz`` installs apart; ``python`` and ``tests`` are on its path.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["mpi_queues"]):
    from fuzz.targets import TARGETS

if __name__ == "__main__":
    atheris.Setup([sys.argv[0], *sys.argv[2:]], TARGETS[sys.argv[1]].run)
    atheris.Fuzz()
