"""Files that we write: whole or not at all, never through somebody else's link."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import List

import pytest
from mpi_queues import UserError
from mpi_queues.cli import command_line as cli
from mpi_queues.system.written import directory_of, new_file
from support.paths import PROJECT

RECORDING = PROJECT / "tests" / "recordings" / "format-1" / "openmpi-4.1-barrier.mpirec"
STRANGER = 4242


def _write(place: Path, content: bytes = b"new") -> None:
    with new_file(place, "the file") as file:
        file.write(content)


def _left(directory: Path) -> List[str]:
    return sorted(os.listdir(directory))


def _give_away(link: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes it a link of another user; without root's rights we become somebody else."""
    if os.geteuid() == 0:
        os.lchown(link, STRANGER, STRANGER)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: STRANGER)


@pytest.mark.parametrize(("mask", "for_all", "mode"), [(0, False, 0o600), (0o027, False, 0o600), (0o027, True, 0o640)])
def test_a_new_file_is_the_users_alone_unless_it_is_for_all(
    tmp_path: Path, mask: int, for_all: bool, mode: int
) -> None:
    before = os.umask(mask)
    try:
        with new_file(tmp_path / "a", "the file", for_all=for_all) as file:
            file.write(b"new")
            (place,) = tmp_path.iterdir()
            assert stat.S_IMODE(place.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode
    assert _left(tmp_path) == ["a"]


def test_a_file_keeps_its_permissions_and_its_owner(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_bytes(b"old")
    place.chmod(0o604)
    if os.geteuid() == 0:
        os.chown(place, STRANGER, STRANGER)
    before = place.stat()
    _write(place)
    after = place.stat()
    assert place.read_bytes() == b"new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError])
def test_nothing_is_left_of_what_failed(tmp_path: Path, error: type) -> None:
    place = tmp_path / "a"
    place.write_bytes(b"old")
    with pytest.raises((error, UserError)), new_file(place, "the file") as file:
        file.write(b"half")
        raise error
    assert place.read_bytes() == b"old"
    assert _left(tmp_path) == ["a"]


def test_ones_own_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "directory").symlink_to("there")
    (tmp_path / "there" / "link").symlink_to("../there/file")
    _write(tmp_path / "directory" / "link")
    assert (tmp_path / "there" / "file").read_bytes() == b"new"
    assert (tmp_path / "there" / "link").is_symlink()
    assert directory_of(tmp_path / "directory" / "link", "it") == str(tmp_path / "there")


@pytest.mark.parametrize("part", ["file", "dangling", "directory"])
def test_links_of_others_are_not(tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to({"file": victim / "file", "dangling": victim / "none", "directory": victim}[part])
    _give_away(link, monkeypatch)
    place = link / "none" if part == "directory" else link
    with pytest.raises(UserError, match="link of another user") as refused:
        _write(place)
    assert str(victim) in str(refused.value)
    assert _left(victim) == ["file"]
    assert (victim / "file").read_bytes() == b"old"
    for command in (["record", "--recording", str(RECORDING), "-o"], ["layouts", "make", str(RECORDING), "-o"]):
        extra = ["--name", "x", "--implementation", "Open MPI", "--mpi-version", "1"] if "make" in command else []
        assert cli.main([*command, str(place), *extra]) == 3
    assert _left(victim) == ["file"]
    assert (victim / "file").read_bytes() == b"old"


def test_init_does_not_write_through_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "victim").write_text("old\n")
    (tmp_path / ".lldbinit").symlink_to("victim")
    _give_away(tmp_path / ".lldbinit", monkeypatch)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cli.main(["init", "lldb", "--write"]) == 3
    assert "link of another user" in capsys.readouterr().err
    assert (tmp_path / "victim").read_text() == "old\n"


@pytest.mark.parametrize("name", ["one", "two"])
def test_links_in_a_loop_are_an_error(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one").symlink_to("one")
    (tmp_path / "two").symlink_to("three")
    (tmp_path / "three").symlink_to("two")
    (tmp_path / ".lldbinit").symlink_to(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    for arguments in (
        ["record", "--recording", str(RECORDING), "-o", str(tmp_path / name)],
        ["record", "--recording", str(RECORDING), "-o", str(tmp_path / name / "below")],
        ["show", "--recording", str(tmp_path / name)],
        ["recording", "info", str(tmp_path / name)],
        ["layouts", "make", str(tmp_path / name), "--name", "x", "--implementation", "x", "--mpi-version", "1"],
        ["init", "lldb", "--write"],
    ):
        assert cli.main(arguments) == 3, arguments
        error = capsys.readouterr().err
        assert "symbolic links" in error or "no such file" in error, (arguments, error)


def test_a_directory_and_a_place_without_one(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none" / "file", tmp_path / "x" / "..", Path("")):
        with pytest.raises(UserError):
            _write(place)
    assert _left(tmp_path) == []


def test_a_pipe_gets_it_when_it_is_whole(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: List[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    _write(pipe, b"x" * 200_000)
    reader.join(30)
    assert got == [b"x" * 200_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert directory_of(pipe, "it") is None


def test_devices() -> None:
    _write(Path("/dev/null"))
    with pytest.raises(UserError, match="No space left"):
        _write(Path("/dev/full"))


def test_what_is_write_protected_is_left(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_bytes(b"old")
    place.chmod(0o400)
    if os.geteuid() == 0:
        _write(place)
        assert stat.S_IMODE(place.stat().st_mode) == 0o400
        return
    with pytest.raises(UserError, match="write-protected"):
        _write(place)
    assert place.read_bytes() == b"old"
