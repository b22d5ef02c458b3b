"""What a report says, and how often: the script in its title, each line of a source once, what the program posted."""

from __future__ import annotations

import json
import pathlib
import re
from typing import List

import mpi_queues
import pytest
from mpi_queues.page import document, report
from page.made import missing_in_barrier, wrong_tag
from support.cli import mpi_queues as command


def _python(*modules: str) -> mpi_queues.Snapshot:
    """Two ranks of an interpreter, whose frames at the top level are in these files; outermost first."""
    content = json.loads(wrong_tag().to_json())
    for one in content["processes"]:
        one["executable"] = "/usr/bin/python3.11"
        frames = [{"function": "<module>", "file": file, "line": 1, "language": "python"} for file in modules]
        one["stacks"] = [{"thread": 1, "frames": list(reversed(frames))}]
    return mpi_queues.Snapshot.from_json(json.dumps(content))


@pytest.mark.parametrize(
    ("modules", "name"),
    [
        (["/home/user/solver.py"], "solver.py"),
        # What it imports is not what was started.
        (["/home/user/solver.py", "/home/user/halo.py"], "solver.py"),
        (["<frozen runpy>", "/usr/lib/python3/dist-packages/solver/__main__.py"], "solver"),
        (["/usr/lib/python3/dist-packages/mpi4py/__main__.py", "/home/user/solver.py"], "solver.py"),
        (["<string>"], "python3.11"),
        ([], "python3.11"),
    ],
)
def test_the_title_names_the_script(tmp_path: pathlib.Path, modules: List[str], name: str) -> None:
    page = report.html(_python(*modules).diagnose())
    assert f"<title>2 ranks of {name}: mpi-queues</title>" in page and f"<h1>2 ranks of {name}</h1>" in page
    # Also of a comparison.
    before, out = tmp_path / "before.json", tmp_path / "changed.html"
    before.write_text(_python(*modules).diagnose().to_json())
    assert command("report", str(before), str(before), "-o", str(out)).status == 0
    assert out.read_text("utf-8").count(f"2 ranks of {name}") == 2


def test_lines_of_a_source_stand_in_a_report_once(tmp_path: pathlib.Path) -> None:
    """Calls of the cause that are near each other have one excerpt, in which both are marked."""
    source = tmp_path / "halo.c"
    source.write_text("".join(f"int line_{number};\n" for number in range(1, 100)))
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:3]:
        if parent.stat().st_mode & 0o5 != 0o5 and parent.name.startswith(("pytest", "popen")):
            parent.chmod(0o755)
    content = json.loads(missing_in_barrier(4).to_json())

    def quoted(first: int, second: int) -> List[str]:
        for one in content["processes"]:
            one["calls"][0].update(file=str(source), line=first if one["rank"] == 3 else second)
        page = report.html(mpi_queues.Snapshot.from_json(json.dumps(content)).diagnose())
        lines = re.findall(r"int line_\d+;", page)
        assert len(lines) == len(set(lines))
        marked: List[str] = re.findall(r'<mark class="([a-z]+)">int line_(\d+);', page)
        assert marked == sorted([("cause", str(first)), ("held", str(second))], key=lambda mark: int(mark[1]))
        excerpts = page.count('<pre class="source"')
        return [f"excerpts: {excerpts}", *lines]

    assert quoted(40, 44) == ["excerpts: 1", *(f"int line_{number};" for number in range(37, 48))]
    assert quoted(44, 40)[0] == quoted(40, 40 + 6)[0] == "excerpts: 1"
    assert quoted(40, 47)[0] == "excerpts: 2"


def test_a_comparison_counts_what_the_program_posted(tmp_path: pathlib.Path) -> None:
    content = json.loads(wrong_tag().to_json())
    before, after, out = tmp_path / "before.json", tmp_path / "after.json", tmp_path / "changed.html"
    before.write_text(json.dumps(content))
    own = {"desired_tag": 5, "internal": True}
    content["processes"][1]["communicators"][0]["pending_receives"]["operations"] = [own, own]
    after.write_text(json.dumps(content))
    assert command("report", str(before), str(after), "-o", str(out)).status == 0
    assert "The queues are as long as before: 2 operations of the program in all." in out.read_text("utf-8")


def test_a_script_has_no_text_of_several_lines() -> None:
    """Lines that are comments, and what stands before lines, are left out of a page: a text would lose them."""
    for name in document.SCRIPTS:
        for number, line in enumerate((document.DATA / f"{name}.js").read_text("utf-8").splitlines(), 1):
            assert line.lstrip().startswith(("//", "/**", "*")) or line.count("`") % 2 == 0, (name, number)
    (script,) = re.findall(r"<script>(.*?)</script>", report.html(wrong_tag().diagnose()), re.DOTALL)
    assert (
        '"use strict";' in script and re.findall(r"^(?:[ \t].*|//.*|/\*.*|)$", script.rstrip("\n"), re.MULTILINE) == []
    )
