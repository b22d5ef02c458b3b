"""Programs with known bugs, and correct ones: what must be found in them stands in the comment at their head.

    ranks: 3                          how many processes
    mpis: openmpi (reason)            the only implementation on which it is run
    flags: -fopenmp                   what else the compiler is given
    verdict: deadlock                 what is said of the whole (one of several: ``waiting | running``)
    expect: KIND [ranks=0,1] [lines=0:RECV,1:SEND] [certain] [words="17","halo"] | KIND ...
    expect-not: KIND, KIND            findings that there must not be
    cause: KIND [| KIND] [lines=0:RECV,1:SEND]     what must be told first, and the lines that this must name
    may: KIND                         for a correct program: a finding that may be certain

The cause is the finding that the headline tells, else the first one; it names a line where it has a call there: one in
which a rank stands, one that started something or may have sent a message. Each ``expect`` needs a finding of that kind
whose ranks and calls contain those that are named; ``|`` separates what is equally true. A line is named by the marker
in a comment on it (``/* @RECV */``, ``! @RECV``). ``expect``, ``verdict`` and the others may begin with ``openmpi`` or
``mpich`` where the MPIs differ, with the reason beside it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from mpi_queues import jobs

from . import priority
from .builds import LANGUAGES, MpiBuild, compile_with
from .jobs import READY_TIMEOUT
from .paths import PROGRAMS

#: gcc takes the value of MPICH's MPI_STATUSES_IGNORE, 1, for the address of an array.
C_FLAGS = ("-Wno-stringop-overflow", "-Wno-stringop-overread")

#: Keywords of the head of a program.
_LINE = re.compile(
    r"^[\s/*!]*(?:(openmpi|mpich) )?(ranks|mpis|flags|verdict|expect|expect-not|cause|may): (.*?)(?:\s*\*/)?$"
)
_CAUSE = re.compile(r"^(?P<kinds>[a-zA-Z -]+(?: \| [a-zA-Z -]+?)*?)(?: lines=(?P<lines>[\w:,]+))?$")
_ALTERNATIVE = re.compile(
    r"^(?P<kind>[a-zA-Z -]+?)"
    r"(?: ranks=(?P<ranks>[\d,]+))?(?: lines=(?P<lines>[\w:,]+))?(?: (?P<certain>certain))?(?: words=(?P<words>.+))?$"
)


class WrongHead(Exception):
    """The head of a program is not as the module says."""


@dataclass(frozen=True)
class Wanted:
    """One thing that must be found."""

    kind: str
    ranks: Tuple[int, ...]
    #: Rank and line of calls.
    calls: Tuple[Tuple[int, int], ...]
    certain: bool
    words: Tuple[str, ...]

    def is_met_by(self, finding: Dict[str, Any]) -> bool:
        at = {(call["rank"], line) for call in finding["calls"] for line in _lines(call)}
        about = {*finding["ranks"], *(rank for rank, _ in at)}
        return (
            finding["kind"] == self.kind
            and about.issuperset(self.ranks)
            and at.issuperset(self.calls)
            and (finding["certain"] or not self.certain)
            and all(word in finding["summary"] for word in self.words)
        )


def _lines(call: Dict[str, Any]) -> List[int]:
    """The line of a call, and those of the calls that may have started what it waits for."""
    started = [one["line"] for request in call.get("requests", ()) for one in request.get("started_by", ())]
    return [call["line"], *started]


@dataclass(frozen=True)
class Cause:
    """What must be told first."""

    kinds: Tuple[str, ...]
    #: Rank and line of calls.
    calls: Tuple[Tuple[int, int], ...]

    def missing(self, diagnosis: Dict[str, Any]) -> List[str]:
        """What is not told first as it must be, in sentences."""
        findings, place = diagnosis["diagnosis"], diagnosis["verdict"].get("finding")
        if not findings:
            return ["nothing is told first"]
        first = findings[place or 0]
        out = [] if first["kind"] in self.kinds else [f"told first is {first['kind']}, not {' or '.join(self.kinds)}"]
        named = lines_named(first)
        return out + [f"the cause does not name line {line} of rank {rank}" for rank, line in {*self.calls} - named]


def lines_named(finding: Dict[str, Any]) -> Set[Tuple[int, int]]:
    """Rank and line of all calls that a finding names."""
    calls = finding["calls"]
    started = [
        (call["rank"], one["line"])
        for call in calls
        for request in call.get("requests", [])
        for one in request.get("started_by", [])
    ]
    blamed = [(rank, one["line"]) for one in finding.get("blamed", []) for rank in one["ranks"]]
    standing = [(one["rank"], one["line"]) for one in (*calls, *finding.get("started_by", []))]
    return {*started, *blamed, *standing}


@dataclass(frozen=True)
class Program:
    """A program of ``tests/programs/bugs`` or ``fine``, and what must be found in it."""

    path: Path
    ranks: int
    expected: List[List[Wanted]] = field(default_factory=list)
    verdicts: Tuple[str, ...] = ()
    unexpected: Tuple[str, ...] = ()
    may: Tuple[str, ...] = ()
    flags: Tuple[str, ...] = ()
    cause: Optional[Cause] = None

    def compiled(self, build: MpiBuild, *flags_of_compiler: str) -> Path:
        """Compiles it, without optimisation unless flags say other."""
        compiler, language = LANGUAGES[self.path.suffix]
        command = build.mpicc.with_name(build.mpicc.name.replace("mpicc", compiler))
        # mpif.h of MPICH has extensions of its own, and its module mpi knows no buffers of any type.
        flags = [*language, *C_FLAGS] if self.path.suffix == ".c" else ["-g", "-fallow-argument-mismatch"]
        flags += ["-O0", *self.flags, *flags_of_compiler]
        return compile_with([str(command)], build.id, [self.path], ["-lpthread"], language=flags)

    def start(
        self, build: MpiBuild, *flags_of_compiler: str, environment: Optional[Mapping[str, str]] = None
    ) -> jobs.Job:
        """Compiles and starts it, with this ``environment`` added, until all ranks have come to the place."""
        return priority.Job(
            self.compiled(build, *flags_of_compiler),
            ranks=self.ranks,
            launcher=build.mpirun,
            timeout=READY_TIMEOUT,
            options=build.options,
            env={**build.environment, **(environment or {})},
        )

    def at_one_look(self) -> Program:
        """What must be found at one look: where the library does not count messages one may be on its way."""
        expected = [[replace(wanted, certain=False) for wanted in wanted_ones] for wanted_ones in self.expected]
        return replace(self, expected=expected, verdicts=(*self.verdicts, "suspect") if self.verdicts else ())

    def without_lines(self) -> Program:
        """What must be found where no debug information tells lines."""
        expected = [[replace(wanted, calls=()) for wanted in wanted_ones] for wanted_ones in self.expected]
        cause = self.cause and replace(self.cause, calls=())
        return replace(self, expected=expected, cause=cause)

    def missing(self, diagnosis: Dict[str, Any]) -> List[str]:
        """What is not found as it must be, in sentences; empty where all is as expected."""
        findings, verdict = diagnosis["diagnosis"], diagnosis["verdict"]
        out = []
        for alternatives in self.expected:
            if not any(wanted.is_met_by(finding) for wanted in alternatives for finding in findings):
                out.append(f"not found: {' or '.join(map(str, alternatives))}")
        if self.verdicts and verdict["state"] not in self.verdicts:
            out.append(f"the verdict is {verdict['state']}, not {' or '.join(self.verdicts)}")
        out += [f"there is a finding {one['kind']!r}" for one in findings if one["kind"] in self.unexpected]
        out += self.cause.missing(diagnosis) if self.cause is not None else []
        return out

    def untrue(self, diagnosis: Dict[str, Any], one_look: bool = False) -> List[str]:
        """What is claimed of a correct program and cannot be true, in sentences. At one look a message that is on its
        way may be taken for none, where the library does not count them: a deadlock is possible then, not certain."""
        findings, state = diagnosis["diagnosis"], diagnosis["verdict"]["state"]
        out = [f"the verdict is {state}"] if state == "deadlock" else []
        for finding in findings:
            certain = finding["certain"] and finding["kind"] not in ("slow rank", *self.may)
            if (finding["kind"] == "deadlock" and not one_look) or certain:
                out.append(f"{finding['kind']}: {finding['summary']}")
        return out


def load(path: Path, build_is_mpich: bool, as_mpich: bool = False) -> Optional[Program]:
    """Reads the head of a program; ``None`` where it is not for this MPI.

    ``as_mpich``: what else the head says is what it says of MPICH.

    Raises:
        WrongHead: where it is not as the module says.
    """
    lines = path.read_text().splitlines()
    markers = {match[1]: number for number, line in enumerate(lines, 1) if (match := re.search(r"@(\w+)", line))}
    family = "mpich" if build_is_mpich else "openmpi"
    own = "mpich" if as_mpich else family
    head: Dict[str, List[str]] = {}
    for line in lines:
        match = _LINE.match(line)
        if match and match[1] in (None, own):
            head.setdefault(match[2], []).append(match[3])
    if "ranks" not in head:
        raise WrongHead(f"{path}: no ranks")
    if "mpis" in head and not head["mpis"][0].startswith(family):
        return None
    return Program(
        path,
        int(head["ranks"][0]),
        [[_wanted(path, part.strip(), markers) for part in text.split(" | ")] for text in head.get("expect", [])],
        _words(head.get("verdict", []), "|"),
        _words(head.get("expect-not", []), ","),
        _words(head.get("may", []), ","),
        tuple(flag for text in head.get("flags", []) for flag in text.split()),
        _cause(path, head["cause"][-1], markers) if "cause" in head else None,
    )


def without_head(path: Path) -> str:
    """The text of a program with empty lines where its head says what must be found."""
    return "\n".join("" if _LINE.match(line) else line for line in path.read_text().splitlines())


def _words(texts: List[str], separator: str) -> Tuple[str, ...]:
    return tuple(word.split("(")[0].strip() for text in texts for word in text.split(separator))


def _cause(path: Path, text: str, markers: Dict[str, int]) -> Cause:
    match = _CAUSE.match(text)
    if match is None:
        raise WrongHead(f"{path}: cause: {text}")
    kinds = tuple(kind.strip() for kind in match["kinds"].split(" | "))
    return Cause(kinds, _calls(path, match["lines"], markers))


def _calls(path: Path, text: Optional[str], markers: Dict[str, int]) -> Tuple[Tuple[int, int], ...]:
    calls = []
    for call in (text or "").split(","):
        if call:
            rank, marker = call.split(":")
            if marker not in markers:
                raise WrongHead(f"{path}: no line has the marker @{marker}")
            calls.append((int(rank), markers[marker]))
    return tuple(calls)


def _wanted(path: Path, text: str, markers: Dict[str, int]) -> Wanted:
    match = _ALTERNATIVE.match(text)
    if match is None:
        raise WrongHead(f"{path}: expect: {text}")
    ranks = tuple(int(rank) for rank in (match["ranks"] or "").split(",") if rank)
    words = tuple(re.findall(r'"([^"]*)"', match["words"] or ""))
    return Wanted(
        match["kind"].strip(), ranks, _calls(path, match["lines"], markers), match["certain"] is not None, words
    )


def programs(folder: str) -> List[Path]:
    """The programs of a folder of ``tests/programs``."""
    return sorted(path for path in (PROGRAMS / folder).iterdir() if path.suffix in LANGUAGES)
