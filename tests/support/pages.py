"""Examples on the pages of the documentation: blocks of code, and how they are run.

A block of ``console`` is typed into a shell, ``gdb`` and ``lldb`` into these on a rank of the demo's job, ``python`` is
run, and what is in ``output`` is what the block before has printed. A comment before a block says where it is run:
``<!-- run: slurm -->``, ``<!-- run: pytest -->``, or why it is not: ``<!-- not run: needs a cluster -->``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, List, Tuple

from .paths import PROJECT

#: A comment that says how the next block is run, and a block.
_PART = re.compile(
    r"^<!-- (?P<run>(?:not )?run: .*?) -->$|^ *```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)

#: What a prompt begins with.
PROMPTS = {"console": "$ ", "gdb": "(gdb) ", "lldb": "(lldb) "}


@dataclass(frozen=True)
class Block:
    """A block of code on a page."""

    page: str
    #: Of its fence.
    line: int
    language: str
    text: str
    #: Where it is run, in a word; empty as usual.
    run: str = ""
    #: Why it is not run.
    not_run: str = ""

    def commands(self) -> List[Tuple[str, str]]:
        """What is typed, and what is said to it."""
        found: List[Tuple[str, List[str]]] = []
        for line in self.text.splitlines():
            if line.startswith(PROMPTS[self.language]):
                found.append((line[len(PROMPTS[self.language]) :], []))
            else:
                assert found, f"{self.page}:{self.line}: begins with no command"
                found[-1][1].append(line)
        return [(typed, "\n".join(said)) for typed, said in found]


def pages() -> List[Path]:
    """All of the documentation but findings, which have a test of their own."""
    own = [PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "layouts/README.md")]
    return [*own, *sorted(path for path in (PROJECT / "docs").glob("*.md") if path.name != "findings.md")]


def blocks(path: Path) -> Iterator[Block]:
    """The blocks of a page, in their order."""
    text = path.read_text(encoding="utf-8")
    comment = ""
    for part in _PART.finditer(text):
        if part["run"] is not None:
            comment = part["run"]
            continue
        how, _, what = comment.partition(": ")
        line = text.count("\n", 0, part.start()) + 1
        name = str(path.relative_to(PROJECT))
        run, not_run = (what, "") if how == "run" else ("", what)
        yield Block(name, line, part["language"], part["text"], run, not_run)
        comment = ""


def inline(path: Path) -> Iterator[str]:
    """Code within the text of a page."""
    prose = _PART.sub("", path.read_text(encoding="utf-8"))
    for match in re.finditer(r"`([^`]+)`", prose):
        yield " ".join(match[1].split())
