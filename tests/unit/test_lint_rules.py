"""What ``tools/lint-rules`` finds in a tree that is against every rule, and what it lets pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import List

from support.paths import PROJECT

FILES = {
    "python/mpi_queues/__init__.py": "",
    "python/mpi_queues/errors.py": "import gdb, json, numpy\nfrom .report import text\n",
    "python/mpi_queues/gdb/quiet.py": (
        'import gdb\ngdb.execute("info files")\ngdb.execute(f"file {path}")\nrun = gdb.parse_and_eval\nrun(x)\n'
    ),
    "python/mpi_queues/report/text.py": (
        "from .. import cli\nfrom . import words\n"
        'a = text.startswith(("unexpected", "mpi_", "status: ")) or text == "the type MPI" or "traced by pid" in text\n'
        'b = text.startswith("libmpi_abi.so") or text == "one" or text.find(".got") or text.endswith("\\n")\n'
    ),
    "python/mpi_queues/report/words.py": '"""Says sudo."""\nfrom . import text\nsaid = "type sudo"\n',
    "python/mpi_queues/system/advice.py": 'said = "sudo"\n',
    "python/mpi_queues/cli.py": "",
    "crates/model/src/text.rs": """
fn read(&self) -> Result<Option<u64>, String> {
fn fine(&self) -> Result<String, Reason> {
    summary.starts_with("perhaps ");
    summary.starts_with("MPI_Win_");
    match text {
        Some("not known") if late => 1,
    let bytes = vec![0; size];
    let members = Vec::with_capacity(count as usize);
    buffer.resize(len * stride, 0);
    return Ok((0..size).map(lpid).collect());
    out.reserve(header.count());
    found.try_reserve_exact(more)
    let unknown = vec![None; usize::try_from(remote_size).unwrap_or(0).min(1 << 20)];
    vec![0; CHUNK]; vec![0; 128]; Vec::with_capacity(parts.len()); vec![0; len.min(MAX_TEXT)];
#[cfg(test)]
    vec![0; size]
""",
    "crates/target/src/budget.rs": "vec![0; size]",
    "tests/mpi/test_one.py": "",
    "tests/unit/test_one.py": "",
}

EXPECTED = """
error crates/model/src/text.rs "fn read(&self) -> Result<Option<u64>, String> {"
import mpi_queues.errors "mpi_queues.report.text"
import mpi_queues.report.text "mpi_queues.cli"
import mpi_queues.report.text "mpi_queues.report.words -> mpi_queues.report.text"
import python/mpi_queues/errors.py "gdb"
import python/mpi_queues/errors.py "numpy"
memory crates/model/src/text.rs "buffer.resize(len * stride, 0);"
memory crates/model/src/text.rs "found.try_reserve_exact(more)"
memory crates/model/src/text.rs "let bytes = vec![0; size];"
memory crates/model/src/text.rs "let members = Vec::with_capacity(count as usize);"
memory crates/model/src/text.rs "let unknown = vec![None; usize::try_from(remote_size).unwrap_or(0).min(1 << 20)];"
memory crates/model/src/text.rs "out.reserve(header.count());"
memory crates/model/src/text.rs "return Ok((0..size).map(lpid).collect());"
name tests/unit/test_one.py "another file has this name"
prose crates/model/src/text.rs "not known"
prose crates/model/src/text.rs "perhaps "
prose python/mpi_queues/report/text.py "status: "
prose python/mpi_queues/report/text.py "the type MPI"
prose python/mpi_queues/report/text.py "traced by pid"
prose python/mpi_queues/report/text.py "unexpected"
sudo python/mpi_queues/report/words.py "type sudo"
text python/mpi_queues/gdb/quiet.py "execute: file {path}"
text python/mpi_queues/gdb/quiet.py "parse_and_eval: (itself)"
""".strip().split("\n")


def lint(tree: Path) -> List[str]:
    done = subprocess.run(
        [sys.executable, PROJECT / "tools" / "lint-rules", tree], stderr=subprocess.PIPE, text=True, check=False
    )
    *lines, last = done.stderr.splitlines() or [""]
    assert done.returncode == bool(last) and ("--help" in last or not last), done.stderr
    return sorted(lines)


def test_every_rule_is_looked_at(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert lint(tmp_path) == EXPECTED


def test_an_exception_is_let_pass_while_there_is_what_it_is_for(tmp_path: Path) -> None:
    source = tmp_path / "crates" / "model" / "src" / "a.rs"
    source.parent.mkdir(parents=True)
    source.write_text('vec![0; size];\ntext.contains("comm");\n')
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "lint-exceptions.txt").write_text(
        '# Some.\n\nmemory crates/model/src/a.rs "vec![0; s"  # a few\nprose crates/model/src/a.rs "comm"\n'
    )
    assert lint(tmp_path) == []
    source.write_text("")
    assert lint(tmp_path) == [
        'exception crates/model/src/a.rs "memory: vec![0; s"',
        'exception crates/model/src/a.rs "prose: comm"',
    ]
