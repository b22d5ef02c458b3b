"""With whose rights a debugger is started, and that an answer from it may be anything."""

from __future__ import annotations

import json
import os
import pathlib
import re
from typing import Any, Callable, Dict, List, Set, Tuple

import pytest
from mpi_queues.debuggers import invocation as launchers
from mpi_queues.debuggers import rights
from mpi_queues.debuggers.asked import Told
from mpi_queues.debuggers.invocation import GdbLauncher, LldbLauncher, Rights
from mpi_queues.debuggers.together import _Pieces
from mpi_queues.errors import UserError
from mpi_queues.launchers import finding
from mpi_queues.launchers.tree import ProcessTree
from mpi_queues.system import advice, attaching, processes

USER = Rights(1000, 100, (7, 8))


def told(users: str, groups: str = "100 100 100 100", others: str = "7 8") -> Dict[str, str]:
    return {"Uid": users.replace(" ", "\t"), "Gid": groups.replace(" ", "\t"), "Groups": others}


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        (told("1000 1000 1000 1000"), USER),
        (told("1000 1000 1000 1000", others=""), Rights(1000, 100, ())),
        (told("0 0 0 0"), Rights(0, 100, (7, 8))),
        # A set-user-id program, one that has put its rights aside, one that reads files as somebody else.
        (told("1000 0 0 0"), None),
        (told("1000 1000 0 1000"), None),
        (told("1000 1000 1000 0"), None),
        ({}, None),
        (told("x x x x"), None),
    ],
)
def test_the_rights_of_a_process(monkeypatch: pytest.MonkeyPatch, fields: Dict[str, str], found: object) -> None:
    monkeypatch.setattr(processes, "status", lambda pid: fields)
    assert rights.of_process(5) == found


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Dict[str, Any]:
    """Processes 1 to 3 of user 1000, 4 of 2000, 5 of root, 6 of two users; what the users may not do is set."""
    users = {1: "1000", 2: "1000", 3: "1000", 4: "2000", 5: "0", 6: "1000 0"}

    def status(pid: int) -> Dict[str, str]:
        words = users[pid].split()
        return told(" ".join([words[0], words[-1], words[-1], words[-1]]))

    state: Dict[str, Any] = {"missing": None, "refused": set(), "asked": []}

    def missing(debugger: object, of: Rights, files: object, pids: List[int]) -> Tuple[Any, Set[int]]:
        state["asked"].append((of.user, list(pids)))
        return state["missing"], state["refused"]

    monkeypatch.setattr(processes, "status", status)
    monkeypatch.setattr(rights, "_missing", missing)
    monkeypatch.setattr("os.geteuid", lambda: state.get("user", 0))
    return state


def groups() -> List[Tuple[object, List[int], Dict[int, str]]]:
    found = rights.for_processes(GdbLauncher("/usr/bin/gdb"), [1, 2, 3, 4, 5, 6])
    return [(group.debugger.rights and group.debugger.rights.user, group.pids, group.notes) for group in found]


def test_root_reads_the_processes_of_each_user_with_their_rights(machine: Dict[str, Any]) -> None:
    several = {6: "its rights are those of several users"}
    assert groups() == [(None, [5, 6], several), (1000, [1, 2, 3], {}), (2000, [4], {})]
    assert machine["asked"] == [(1000, [1, 2, 3]), (2000, [4])]


def test_where_they_do_not_suffice_it_is_told(machine: Dict[str, Any]) -> None:
    machine["refused"] = {2, 4}
    found = groups()
    assert [(user, pids) for user, pids, _ in found] == [(None, [5, 6, 2, 4]), (1000, [1, 3])]
    whose = processes.user_name(1000)
    assert found[0][2][2] == f"those of {whose} do not suffice: attaching is refused"
    machine.update(refused=set(), missing="/root/x may not be read")
    found = groups()
    assert [(user, pids) for user, pids, _ in found] == [(None, [5, 6, 1, 2, 3, 4])]
    assert found[0][2][3] == f"those of {whose} do not suffice: /root/x may not be read"


def test_whoever_is_not_root_reads_with_their_own(machine: Dict[str, Any]) -> None:
    machine["user"] = 1000
    assert groups() == [(None, [1, 2, 3, 4, 5, 6], {})]
    assert machine["asked"] == []


@pytest.mark.parametrize("kind", [GdbLauncher, LldbLauncher])
def test_nothing_of_roots_environment_goes_to_a_user(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in {
        "PATH": "/opt/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "HOME": "/root",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "SSH_AUTH_SOCK": "/tmp/agent",
        "LD_PRELOAD": "/root/x.so",
        "PATHS": "secret",
        "MY_LANG": "secret",
        "PYTHONPATH": "/root",
        "XDG_RUNTIME_DIR": "/run/user/0",
        "DEBUGINFOD_URLS": "https://example.org",
    }.items():
        monkeypatch.setenv(name, value)
    ours = kind("/usr/bin/x")
    assert ours.environment()["HOME"] == "/root"
    users = ours.with_rights(Rights(3999999, 1, ()))
    assert ours.rights is None
    assert users.environment() == {
        "PATH": "/opt/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "HOME": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }
    # Not in a directory of root's.
    assert users.rights.of_child() == {"user": 3999999, "group": 1, "extra_groups": [], "cwd": "/"}
    assert users.command == ours.command


def test_what_rights_suffice_for_is_tried(tmp_path: pathlib.Path) -> None:
    mine = Rights(os.geteuid(), os.getegid(), tuple(os.getgroups()))
    debugger = GdbLauncher("/bin/sh")
    ours = os.getpid()
    missing, refused = rights._missing(debugger, mine, [__file__], [ours, 1 << 30])
    if os.geteuid():
        # Nobody but root may give a program others; not even their own again.
        assert missing == "nothing can be started with them"
        return
    assert (missing, refused) == (None, {1 << 30})
    private = tmp_path / "a file\nof root's"
    private.write_text("")
    private.chmod(0o600)
    other = Rights(61234, 61234, ())
    missing, _ = rights._missing(debugger, other, [str(private)], [ours])
    # The tests may lie where nobody else may look.
    assert re.fullmatch(r"/.* may not be read", missing or ""), missing
    assert "\n" not in (missing or "")
    assert rights._missing(GdbLauncher(str(private)), mine, [], [])[0] == f"{private} may not be run"
    readable = rights._missing(debugger, other, ["/bin/sh"], [ours])
    assert readable[0] is not None or readable[1] == {ours}


def test_a_core_file_has_the_rights_of_its_owner(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    core = tmp_path / "core"
    core.write_bytes(b"")
    found = rights.of_file(str(core))
    assert found is not None
    assert found.user == os.getuid()
    assert rights.of_file(str(tmp_path)) is None
    assert rights.of_file(str(tmp_path / "none")) is None
    assert rights.of_file("\0") is None
    debugger = GdbLauncher("/usr/bin/gdb")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(rights, "of_file", lambda path: USER)
    asked: List[object] = []

    def missing(debugger: object, of: object, files: object, pids: object) -> Tuple[Any, Set[int]]:
        asked.append((of, files))
        return None, set()

    monkeypatch.setattr(rights, "_missing", missing)
    assert rights.for_core(debugger, "/c", "/e", ["/p"]).debugger.rights == USER
    assert asked == [(USER, ["/c", "/e", "/p"])]
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert rights.for_core(debugger, "/c", "/e").debugger.rights is None


HOSTILE = [
    b"\n",
    b"\xff\xfe\n",
    b"[" * 100_000 + b"\n",
    b"null\n[]\n1\n",
    *(
        json.dumps(said).encode() + b"\n"
        for said in (
            {"piece": -5},
            {"piece": 1 << 62},
            {"piece": "7"},
            {"piece": True},
            {"piece": None},
            {"begin": "x"},
            {"begin": 999},
            {"begin": [1]},
            {"stopped": 1},
            {"stopped": 1, "at": "soon"},
            {"stopped": 1, "at": 1e300},
            {"stopped": 999, "at": 1.0},
            {"failed": 1},
            {"failed": 1, "error": 5},
            {"failed": {}, "error": "x"},
            {"done": 1, "at": 5.0},
            {"done": 999, "at": 5.0},
            {"done": None, "at": None},
        )
    ),
    b'{"stopped": 1, "at": NaN}\n{"done": 1, "at": Infinity}\n',
    b'{"begin": ' + b"9" * 100_000 + b"}\n",
]


@pytest.mark.parametrize("cut", [1, 7, 1 << 20])
def test_what_is_no_line_of_ours_is_passed_over(cut: int) -> None:
    whole = b"".join(
        [
            *HOSTILE,
            b'{"begin": 1}\n{"stopped": 1, "at": 1.5}\n',
            *HOSTILE,
            b'{"begin": 1}\n{"piece": 5}\nabcde',
            b'{"piece": 3}\nxyz{"done": 1, "at": 2.5}\n',
            # Once done, nothing more is believed of it.
            b'{"done": 1, "at": 9.5}\n{"failed": 1, "error": "x"}\n',
        ]
    )
    counted = Told(1)
    pieces = _Pieces(counted, [1, 2])
    step = cut if cut > 7 else cut * 997
    for at in range(0, len(whole), step):
        pieces.came(whole[at : at + step])
    assert [whole[at : at + length] for at, length in pieces.places[1]] == [b"abcde", b"xyz"]
    assert (pieces.stopped, pieces.done, pieces.failed, counted.done) == ({1: 1.5}, {1: 2.5}, {}, 1)


def _no_job() -> None:
    finding.find(ProcessTree(pathlib.Path("/nonexistent")), None)


def _no_debugger() -> None:
    launchers.launcher("gdb")


def _refused() -> None:
    attaching._check_permission(1 << 30, {"Uid": f"{os.geteuid()} {os.geteuid()}"})


@pytest.mark.parametrize("refusing", [_no_job, _no_debugger, _refused])
@pytest.mark.parametrize("user", [0, 1000])
def test_root_is_not_told_to_use_sudo(refusing: Callable[[], None], user: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object) -> int:
        raise PermissionError(13, "no")

    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setattr(processes.os, "open", opened)
    monkeypatch.setattr(GdbLauncher, "find", classmethod(lambda cls: ""))
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
