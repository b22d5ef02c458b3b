"""The programs that write down what they post, with their arguments and how many ranks they have."""

from __future__ import annotations

from typing import List, Tuple

Program = Tuple[str, Tuple[str, ...], int]

#: For MPIs that have no list of their own in the tests.
PROGRAMS: List[Program] = [
    ("truth_modes", (), 2),
    ("truth_comms", (), 2),
    ("truth_comms", (), 4),
    ("truth_persistent", (), 3),
    ("truth_collective", ("barrier",), 3),
    ("truth_collective", ("allreduce",), 2),
    ("truth_collective", ("ibarrier",), 4),
    ("truth_threads", (), 2),
    ("truth_probe", (), 2),
    ("truth_tvtest", ("posted",), 2),
    ("truth_tvtest", ("matched",), 3),
    ("truth_tvtest", ("drained",), 2),
    ("truth_tvtest", ("arrived",), 3),
    ("truth_tvtest", ("even",), 4),
    ("truth_random", ("1", "200"), 3),
    ("truth_random", ("20261121", "300"), 2),
]


def name_of(program: Program) -> str:
    """As tests are called."""
    name, arguments, ranks = program
    return "-".join((name.replace("truth_", ""), *arguments, f"{ranks}ranks"))
