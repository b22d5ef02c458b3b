"""``mpi-queues init``."""

from __future__ import annotations

import pathlib

import pytest
from mpi_queues.cli import command_line as cli
from mpi_queues.cli import init
from mpi_queues.system import agent, mqs_library


@pytest.fixture
def home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


FILES = {"gdb": ".gdbinit", "lldb": ".lldbinit"}
COMMANDS = {"gdb": "source", "lldb": "command script import"}


@pytest.fixture(params=list(FILES))
def debugger(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_line_names_a_file_that_is_there(debugger: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["init", debugger]) == 0
    line = capsys.readouterr().out.strip()
    assert line == f"{COMMANDS[debugger]} {init.LOADERS[debugger]}"
    assert init.LOADERS[debugger].is_file()


def test_writing_adds_the_line_once(home: pathlib.Path, debugger: str, capsys: pytest.CaptureFixture[str]) -> None:
    place = home / FILES[debugger]
    place.write_text("other line\n")
    place.chmod(0o600)
    assert cli.main(["init", debugger, "--write"]) == 0
    assert cli.main(["init", debugger, "--write"]) == 0
    assert place.read_text() == f"other line\n{COMMANDS[debugger]} {init.LOADERS[debugger]}\n"
    assert place.stat().st_mode & 0o777 == 0o600
    assert "already" in capsys.readouterr().out


def test_writing_replaces_another_copy(home: pathlib.Path, debugger: str) -> None:
    place = home / FILES[debugger]
    old = f"/old/mpi_queues/data/{debugger}-scripts/mpi_queues.py"
    place.write_text(f'{COMMANDS[debugger]} {old}\n{COMMANDS[debugger]}   "{old}"\nother line\n')
    assert cli.main(["init", debugger, "--write"]) == 0
    assert place.read_text() == f"other line\n{COMMANDS[debugger]} {init.LOADERS[debugger]}\n"


def test_a_place_with_a_space_is_one_word_to_lldb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(init.LOADERS, "lldb", pathlib.Path("/my tools/lldb-scripts/mpi_queues.py"))
    assert init.line_for("lldb") == 'command script import "/my tools/lldb-scripts/mpi_queues.py"'


def test_the_file_in_the_configuration_directory_is_used_where_it_is(home: pathlib.Path) -> None:
    place = home / ".config" / "gdb" / "gdbinit"
    place.parent.mkdir(parents=True)
    place.touch()
    assert cli.main(["init", "gdb", "--write"]) == 0
    assert str(init.LOADERS["gdb"]) in place.read_text()
    assert not (home / ".gdbinit").exists()


def test_a_file_that_cannot_be_written_is_named(
    home: pathlib.Path, debugger: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / FILES[debugger]).mkdir()
    assert cli.main(["init", debugger, "--write"]) == 3
    assert FILES[debugger] in capsys.readouterr().err


def test_the_program_for_nodes_without_python_is_told(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "mpi-queues-agent"
    monkeypatch.setattr(agent, "_PLACE", place)
    assert cli.main(["init", "agent"]) == 3
    assert f"there is no {place}\nin the source tree, type: make agent" in capsys.readouterr().err
    place.touch(mode=0o755)
    assert cli.main(["init", "agent"]) == 0
    assert capsys.readouterr().out == f"{place}\n"
    assert cli.main(["init", "agent", "--write"]) == 2
    assert "type: mpi-queues init agent" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("debugger", "variable"), [("ddt", "ALLINEA_QUEUE_DLL"), ("padb", "PADB_MPI_DLL"), ("totalview", "LD_PRELOAD")]
)
def test_other_debuggers_are_told_of_the_library(
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    debugger: str,
    variable: str,
) -> None:
    place = tmp_path / "a place" / "libmpi_queues_mqs.so"
    monkeypatch.setattr(mqs_library, "_PLACE", place)
    assert cli.main(["init", debugger]) == 3
    assert "in the source tree, type: make mqs-library" in capsys.readouterr().err
    place.parent.mkdir()
    place.touch()
    assert cli.main(["init", debugger]) == 0
    assert capsys.readouterr().out == f"export {variable}='{place}'\n"
    assert cli.main(["init", debugger, "--write"]) == 2
    assert f"type: mpi-queues init {debugger}" in capsys.readouterr().err
