"""Outputs on pages are compared without what every run has anew, and with all else."""

from __future__ import annotations

import pytest
from support.output import fits

SHOWN = (
    "Rank 1 of 3, pid 9109 on vm, /tmp/halo/demo\n  in MPI_Wait, called by receive_halo at demo.c:41\n…\n1 process\n"
)


@pytest.mark.parametrize(
    "said",
    [
        "Rank 1 of 3, pid 1 on node7, /a/demo\n  in MPI_Wait, called by receive_halo at demo.c:41\n1 process\n",
        "Rank 1 of 3, pid 2 on vm, …st-7/demo\n  in MPI_Wait,\n called by receive_halo at demo.c:41\n\nmore\n1 process",
    ],
)
def test_what_is_its_own_and_what_is_left_out(said: str) -> None:
    assert fits(SHOWN, said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Rank 2 of 3, pid 1 on vm, /a/demo\n  in MPI_Wait, called by receive_halo at demo.c:41\n1 process\n",
        "Rank 1 of 3, pid 1 on vm, /a/other\n  in MPI_Wait, called by receive_halo at demo.c:41\n1 process\n",
        "Rank 1 of 3, pid 1 on vm, /a/demo\n  in MPI_Wait, called by receive_halo at demo.c:42\n1 process\n",
        "Rank 1 of 3, pid 1 on vm, /a/demo\n  in MPI_Wait, called by receive_halo at demo.c:41\n1 process\nmore\n",
    ],
)
def test_anything_else_is_told(said: str) -> None:
    assert not fits(SHOWN, said)
