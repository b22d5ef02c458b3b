"""docs/findings.md: each kind of finding with a program that has it, and what is said of that."""

from __future__ import annotations

import re
import textwrap
import time
from dataclasses import dataclass
from typing import Callable, Dict, Iterator, List, Mapping, Tuple

from . import builds, diagnosis, recorder
from .cli import mpi_queues
from .paths import PROGRAMS, PROJECT
from .unheard import give_unheard_pml

PAGE = PROJECT / "docs" / "findings.md"

#: The page that says what each kind is.
KINDS = PROJECT / "docs" / "diagnosis.md"

#: For how long ranks may still be on their way to the place (seconds); only keeps a failing test from taking long.
PATIENCE = 60.0


@dataclass(frozen=True)
class Example:
    """A program, and the finding that the page shows of it."""

    kind: str
    program: str
    #: Whether it is told first; others stand in a paragraph that begins with their kind.
    first: bool = True
    #: Whether it is only told with -v, as what follows from another is.
    verbose: bool = False
    #: Whether the MPI is one whose queues are known.
    queues: bool = True
    #: Whether the program runs under the flight recorder.
    recorder: bool = False

    @property
    def command(self) -> str:
        """As the page shows it."""
        return f"mpi-queues diagnose --job mpirun{' -v' if self.verbose else ''}"


EXAMPLES: Tuple[Example, ...] = (
    Example("deadlock", "bugs/head_to_head_recv.c"),
    Example("finished rank", "bugs/master_left.c"),
    Example("stuck outside MPI", "bugs/stuck_in_semaphore.c"),
    Example("slow rank", "fine/one_computes.c"),
    Example("polling", "bugs/polls_for_nothing.c", first=False),
    Example("tag mismatch", "bugs/wrong_tag.c"),
    Example("communicator mismatch", "bugs/wrong_communicator.c"),
    Example("rank mismatch", "bugs/wrong_source.c"),
    Example("truncation", "bugs/truncation_ahead.c"),
    Example("count mismatch", "bugs/part_of_an_element.c"),
    Example("datatype mismatch", "bugs/datatypes.c"),
    Example("collective mismatch", "bugs/bcast_against_reduce.c"),
    Example("root mismatch", "bugs/different_roots.c"),
    Example("operator mismatch", "bugs/scan_ops.c", first=False, recorder=True),
    Example("missing in collective", "bugs/missing_in_barrier.c"),
    Example("unmatched send", "bugs/sent_to_finished.c", first=False, verbose=True),
    Example("unmatched receive", "bugs/any_source_of_finished.c", first=False, verbose=True),
    Example("never started", "bugs/never_started.c"),
    Example("never completed", "bugs/finished_with_request.c", first=False),
    Example("unexpected flood", "bugs/flood.c", first=False),
    Example("one-sided epochs", "bugs/win_wait_without_complete.c"),
    # Where queues are known, they tell more.
    Example("odd rank", "bugs/one_elsewhere.c", queues=False),
)

_HEAD = """# Findings, each with an example

What `mpi-queues diagnose` says of programs with a known bug, on Open MPI over shared memory. Tests run these programs
and compare what is said with this page. `diagnosed_ready()` tells the tests that a rank has come so far. Left out of
the outputs is what comes after the findings. What kinds there are, what *certain* and *possible* mean, what limits a
diagnosis: [Why is it stuck](diagnosis.md).

`.venv/bin/python tests/make_findings.py [KIND...]` writes this page anew.
"""

#: What comes after the findings begins a line with it.
_AFTER = re.compile(r"^(?:Between the two looks|Possible: it fits|The queues of|Not all is known)", re.MULTILINE)


def meanings() -> Dict[str, str]:
    """What each kind is, as the page of the diagnosis says it."""
    rows = re.findall(r"^\| `([a-z][a-z -]+[a-zMPI]+)` \| (.*) \|$", KINDS.read_text(), re.MULTILINE)
    return {kind: meaning for kind, meaning in rows if any(kind == one.kind for one in EXAMPLES)}


def told(example: Example) -> Iterator[str]:
    """What is said of a run of the program, again and again: its ranks may still be on their way to the place."""
    build = builds.BUILDS[builds.OPENMPI_4]()
    program = diagnosis.load(PROGRAMS / example.program, False)
    assert program is not None
    environment = {"LD_PRELOAD": str(recorder.library())} if example.recorder else {}
    with program.start(build, environment=environment) as job:
        if not example.queues:
            give_unheard_pml(job.pids)
        yield from _looks(job.launcher_pid, example)


def _looks(launcher: int, example: Example) -> Iterator[str]:
    command = example.command.replace("mpirun", str(launcher)).split()[1:]
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        # With -v paths are whole.
        yield mpi_queues(*command).out.replace(f"{PROGRAMS}/bugs/", "/home/me/")


def part(example: Example, said: str) -> str:
    """The finding in an output; nothing where it is not there."""
    findings = re.split(r"^(?:Between the two looks|Possible: it fits|The queues of|Limits)", said, flags=re.MULTILINE)[
        0
    ]
    paragraphs = re.split(r"\n\n+(?=\S)", findings.strip())
    if example.first:
        # The headline, and where the ranks stand below it.
        return paragraphs[0].rstrip()
    own = [one for one in paragraphs if re.match(rf"(?:in consequence, )?{example.kind}(?: \(possible\))?:", one)]
    return own[0].rstrip() if own else ""


def written() -> Dict[str, str]:
    """The output of each kind on the page."""
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    found = {}
    for section in sections:
        block = re.search(r"^```console\n\$ [^\n]*\n(?:…\n)?(.*?)\n(?:…\n)?```$", section, re.MULTILINE | re.DOTALL)
        assert block is not None, section
        found[section.partition("\n")[0]] = block[1]
    return found


def page(outputs: Mapping[str, str], *, source: Callable[[Example], str]) -> str:
    """The page of outputs by kind."""
    lines: List[str] = [_HEAD]
    said = meanings()
    for example in EXAMPLES:
        lines += [f"## {example.kind}", "", f"{said[example.kind][0].upper()}{said[example.kind][1:]}.", ""]
        lines += [source(example), ""]
        if not example.queues:
            lines += ["On an MPI whose queues cannot be read:", ""]
        if example.recorder:
            lines += ["Under the [flight recorder](recorder.md):", ""]
        before = [] if example.first else ["…"]
        lines += ["```console", f"$ {example.command}", *before, outputs[example.kind], "…", "```", ""]
    return "\n".join(lines)


def source(example: Example) -> str:
    """What a program is about, and its text with the numbers of its lines."""
    text = (PROGRAMS / example.program).read_text()
    head, _, body = text.partition("*/\n")
    about = " ".join(line.strip(" /*") for line in head.partition("\n *\n")[0].splitlines())
    code = re.sub(r" */[*] @\w+ [*]/", "", body)
    first = head.count("\n") + 2
    code = code.rstrip()
    skipped = len(code) - len(code.lstrip("\n"))
    return "\n".join([textwrap.fill(about, 120), "", f'```c linenums="{first + skipped}"', code.lstrip("\n"), "```"])
