"""Text of strangers reaches no terminal as it is: which characters are hidden, and commands on hostile recordings."""

from __future__ import annotations

import io
import json
import sys
import unicodedata
from pathlib import Path
from typing import Any, List, Tuple

import pytest
from hostile.recordings import KEPT, NASTY, hostile, hostile_recording, unclean
from mpi_queues import Snapshot, load
from mpi_queues._native import printable, printable_json
from mpi_queues.cli import command_line as cli
from mpi_queues.cli.answers import terminal_style
from mpi_queues.report import words
from mpi_queues.system import output

#: Every command that reads a recording.
COMMANDS: Tuple[Tuple[str, ...], ...] = (
    ("show",),
    ("show", "--internal", "--limit", "all"),
    ("show", "--by", "communicator"),
    ("show", "--by", "difference"),
    ("show", "--comm", "none\x1b"),
    ("show", "--compare"),
    ("diagnose",),
    ("diagnose", "-v"),
    ("comms",),
    ("comms", "-v"),
    ("handles", "all", "-v"),
    ("handles", "comm", "0x44"),
    ("layouts", "check"),
)
JSON: Tuple[Tuple[str, ...], ...] = (("show",), ("diagnose",), ("comms",), ("comms", "-v"), ("handles", "all"))


def test_the_core_and_unicode_agree() -> None:
    wrong = []
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        category = unicodedata.category(char)
        never = category in ("Cc", "Cf", "Zl", "Zp", "Cs") or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
        hidden = printable(char) != char
        # Python's tables may be older than the core's: what is not assigned in them may be hidden.
        if hidden != never and not (hidden and category == "Cn"):
            wrong.append(f"U+{code:04X} {category}")
    assert not wrong


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[m", "a\\x1b[m"),
        ("\x9b\x7f", "\\x9b\\x7f"),
        ("\u202e\u061c", "\\u202e\\u061c"),
        ("\U000e0041", "\\U000e0041"),
        ("caf\udce9", "caf\\xe9"),
        ("\ud800", "\\xed\\xa0\\x80"),
        ("é 漢 \U0001f600", "é 漢 \U0001f600"),
        ("a\nb\tc", "a\\x0ab\\x09c"),
    ],
)
def test_how_they_are_shown(text: str, shown: str) -> None:
    assert printable(text) == shown == words.clean(text)


def test_lines_stay_lines() -> None:
    assert printable("a\nb\tc\r\x1b\udce9\n", lines=True) == "a\nb\tc\\x0d\\x1b\\xe9\n"


def test_json_is_the_same_json() -> None:
    value = {"a\x7f": ["\x1b\x9b\u202e\ufeff\U000e0041é", "\\", '"'], "b": "\U0010ffff\n"}
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2)):
        harmless = printable_json(text)
        assert json.loads(harmless) == value
        assert not unclean(harmless)
    assert json.loads(output.json_text(value)) == value


def test_emphasis_is_ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with output.clean_streams():
        sys.stdout.write(terminal_style()("process", "a\x1b[31mb") + "\x1b[1m\n")
    assert screen.getvalue() == "\x1b[1ma\\x1b[31mb\x1b[0m\\x1b[1m\n"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "hostile.mpirec"
    path.write_bytes(hostile_recording(next(path for path in KEPT if "4.1-comms" in path.name)))
    return path


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Tuple[int, str, str]:
    status = cli.main(list(arguments))
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return status, captured.out, captured.err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_is_clean(command: Tuple[str, ...], recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, error = _run(capsys, *command, "--recording", str(recording))
    assert unclean(out) == ""
    assert unclean(error) == ""
    assert status in (0, 1, 2, 3)
    assert out or error


@pytest.mark.parametrize("command", JSON, ids=" ".join)
def test_every_json_is_clean_and_whole(
    command: Tuple[str, ...], recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, error = _run(capsys, *command, "--format", "json", "--recording", str(recording))
    assert unclean(out) == unclean(error) == ""
    names = [process["executable"] for process in json.loads(out)["processes"]]
    assert names
    assert all(name.endswith(NASTY) for name in names)


def test_what_a_recording_says_of_itself_is_clean(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words_ in ((), ("--format", "json")):
        _, out, error = _run(capsys, "recording", "info", str(recording), *words_)
        assert unclean(out) == unclean(error) == ""
        assert "owned" in out


def test_a_file_of_a_strange_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a\x1b[31m\u202e\r\udce9.mpirec"
    path.write_bytes(b"mpi-queues recording 1\nx")
    _, out, error = _run(capsys, "show", "--recording", str(path))
    assert unclean(out) == unclean(error) == ""
    assert error


def _places(value: Any, path: Tuple[Any, ...] = ()) -> List[Tuple[Any, ...]]:
    """The way to every string of a JSON."""
    if isinstance(value, str):
        return [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, one in items for place in _places(one, (*path, key))]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_every_string_of_a_snapshot_can_be_hostile(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All at once where that is still a snapshot; other words of a fixed list are refused in a clean sentence."""
    content = json.loads(load(path).diagnose().to_json())
    free, told = json.loads(json.dumps(content)), set()
    for place in _places(content):
        name = ".".join(str(part) for part in place if isinstance(part, str))
        holder = content
        for part in place[:-1]:
            holder = holder[part]
        if name not in told:
            told.add(name)
            before = holder[place[-1]]
            holder[place[-1]] = before + NASTY
            try:
                Snapshot.from_json(json.dumps(content))
            except ValueError as error:
                with output.clean_streams():
                    print(f"mpi-queues: {error}", file=sys.stderr)
                assert unclean(capsys.readouterr().err) == ""
                told.add(f"{name} is fixed")
            holder[place[-1]] = before
        if f"{name} is fixed" not in told:
            target = free
            for part in place[:-1]:
                target = target[part]
            target[place[-1]] = hostile(target[place[-1]])
    snapshot = Snapshot.from_json(json.dumps(free))
    from mpi_queues.report import diagnosis, grouped, handles, text

    written: List[str] = []
    text.write_queues(snapshot, written.append)
    text.write_communicators(snapshot, written.append)
    grouped.write_by_communicator(snapshot, written.append, text.Options())
    grouped.write_by_difference(snapshot, written.append, text.Options())
    handles.write_handles(snapshot, written.append, full=True)
    found = snapshot.diagnosis
    assert found is not None
    diagnosis.write_diagnosis(found, written.append, diagnosis.Options(verbose=True))
    assert unclean(output.in_lines("".join(written))) == ""
    assert unclean(snapshot.to_json(indent=2)) == unclean(snapshot.to_json()) == ""
    assert json.loads(snapshot.to_json()) == json.loads(Snapshot.from_json(snapshot.to_json()).to_json())
