"""Who is advised to use sudo."""

from __future__ import annotations

import os
import pathlib
from typing import Callable

import pytest
from mpi_queues.errors import UserError
from mpi_queues.launchers import finding
from mpi_queues.launchers.tree import ProcessTree
from mpi_queues.system import advice, attaching, processes


def _no_job() -> None:
    finding.find(ProcessTree(pathlib.Path("/nonexistent")), None)


def _refused() -> None:
    attaching._check_permission(1 << 30, {"Uid": f"{os.geteuid()} {os.geteuid()}"})


@pytest.mark.parametrize("refusing", [_no_job, _refused])
@pytest.mark.parametrize("user", [0, 1000])
def test_root_is_not_told_to_use_sudo(refusing: Callable[[], None], user: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object) -> int:
        raise PermissionError(13, "no")

    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setattr(processes.os, "open", opened)
    with pytest.raises(UserError) as caught:
        refusing()
    assert ("sudo" in str(caught.value)) == (user != 0), str(caught.value)


def test_the_advice_of_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert advice.as_root("reboot") == "sudo reboot"
    assert advice.install("gdb") == "type: sudo apt install gdb"
    assert advice.joined("a", advice.see_all()) == "a; to see all processes, use sudo"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert advice.as_root("reboot") == "reboot"
    assert advice.install("gdb") == "type: apt install gdb"
    assert advice.joined("a", advice.see_all()) == "a"
    assert "sudo" not in advice.more_rights("to see all processes")
