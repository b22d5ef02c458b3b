"""Stands for an engine and the agents of many nodes: writes ``DIRECTORY/0``, and for each question the next file."""

from __future__ import annotations

import itertools
import shutil
import sys
from pathlib import Path


def main() -> None:
    answers = (Path(sys.argv[1], str(number)) for number in itertools.count())
    for _ in itertools.chain([""], sys.stdin):
        with next(answers).open("rb") as answer:
            shutil.copyfileobj(answer, sys.stdout.buffer, 1 << 20)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
