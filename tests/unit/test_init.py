"""``mpi-queues init``."""

from __future__ import annotations

import pathlib

import pytest
from mpi_queues import cli, init


@pytest.fixture
def home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def test_the_line_names_a_file_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["init", "gdb"]) == 0
    line = capsys.readouterr().out.strip()
    assert line == f"source {init.LOADER}"
    assert init.LOADER.is_file()


def test_writing_adds_the_line_once(home: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = home / ".gdbinit"
    place.write_text("set history save on\n")
    place.chmod(0o600)
    assert cli.main(["init", "gdb", "--write"]) == 0
    assert cli.main(["init", "gdb", "--write"]) == 0
    assert place.read_text() == f"set history save on\nsource {init.LOADER}\n"
    assert place.stat().st_mode & 0o777 == 0o600
    assert "already" in capsys.readouterr().out


def test_writing_replaces_another_copy(home: pathlib.Path) -> None:
    place = home / ".gdbinit"
    place.write_text("source /old/mpi_queues/data/gdb-scripts/mpi_queues.py\nset width 0\n")
    assert cli.main(["init", "gdb", "--write"]) == 0
    assert place.read_text() == f"set width 0\nsource {init.LOADER}\n"


def test_the_file_in_the_configuration_directory_is_used_where_it_is(home: pathlib.Path) -> None:
    place = home / ".config" / "gdb" / "gdbinit"
    place.parent.mkdir(parents=True)
    place.touch()
    assert cli.main(["init", "gdb", "--write"]) == 0
    assert str(init.LOADER) in place.read_text()
    assert not (home / ".gdbinit").exists()


def test_a_file_that_cannot_be_written_is_named(home: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".gdbinit").mkdir()
    assert cli.main(["init", "gdb", "--write"]) == 3
    assert ".gdbinit" in capsys.readouterr().err


def test_lldb_is_refused_honestly(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["init", "lldb"]) == 2
    assert "not supported in this version" in capsys.readouterr().err
