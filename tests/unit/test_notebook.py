"""The extension of IPython, with a shell that stands in for it; tests/docs/test_jupyter.py has a real one."""

from __future__ import annotations

import html
import re
import sys
from typing import Any, Dict

import mpi_queues
import pytest
from mpi_queues.cli import demo


class Shell:
    """Of IPython what the extension asks for."""

    def __init__(self) -> None:
        self.magics: Dict[str, Any] = {}

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        assert kind == "line"
        self.magics[name] = function


@pytest.fixture
def magic() -> Any:
    shell = Shell()
    mpi_queues.load_ipython_extension(shell)
    assert "IPython" not in sys.modules
    return shell.magics["mpi_diagnose"]


def test_the_text_and_the_report_in_a_frame(magic: Any) -> None:
    answer = magic(f"'{demo.RECORDING}'")
    diagnosis = mpi_queues.load(demo.RECORDING).diagnose()
    assert repr(answer) == str(diagnosis) and answer.diagnosis.headline == diagnosis.headline
    shown = re.fullmatch(r'<pre>([^<]*)</pre>\n<iframe ([^>]*) srcdoc="([^"]*)"></iframe>', answer._repr_html_())
    assert shown is not None
    assert html.unescape(shown[1]) == str(diagnosis)
    # A script of its own origin, which is none: the notebook is out of reach.
    assert 'sandbox="allow-scripts"' in shown[2]
    page = html.unescape(shown[3])
    assert page.startswith("<!DOCTYPE html>") and "Content-Security-Policy" in page
    # No source lines.
    assert "MPI_Issend(" not in page


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("one two", "takes one job at most"),
        ("'", "No closing quotation"),
        ("no-such-launcher", "no launcher of that name is running here"),
        (__file__, "not a recording"),
    ],
)
def test_what_cannot_be_diagnosed_is_said(magic: Any, line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert magic(line) is None
    error = capsys.readouterr().err
    assert error.startswith("mpi-queues: ") and said in error and "Traceback" not in error
