"""Nobody sets memory aside by a number that a target, a file or a plug-in says, but the one place that bounds it.

``crates/target/src/budget.rs`` has it (``zeroed``, ``fit``, ``collect``; ``Target::read_bytes`` goes through it).
Elsewhere a length is a constant, or that of something that is there already, or stands in the list below with a reason.
"""

from __future__ import annotations

import pathlib
import re
from typing import Dict, Iterator, List, Tuple

PROJECT = pathlib.Path(__file__).resolve().parents[2]

CENTRAL = "target/budget.rs"

#: How memory is set aside: a name before the length, and what the length is in a call of it.
RESERVING = re.compile(
    r"with_capacity(?:_and_hasher)?\((?P<capacity>.*)"
    r"|\.(?:try_)?reserve(?:_exact)?\((?P<reserve>.*)"
    r"|\.resize(?:_with)?\((?P<resize>.*)"
    r"|vec!\[[^\"\[\];]*(?:\[[^\]]*\])?; (?P<vec>.*)"
    r"|repeat_n\([^,]*, (?P<repeat>.*)"
    r"|\(0\.\.=?(?P<range>[^)=].*)"
)

#: A constant, or the length of something that exists, perhaps times a constant.
HARMLESS = re.compile(
    r"^(?:\d[\d_]*(?: \* )?)?(?:1 << \d+|[A-Z][A-Z_0-9]*(?: \+ [A-Z][A-Z_0-9]*)?|\d[\d_]*"
    r"|&?[\w.()\[\]*+ ]*?\.len\(\)(?: [*+] \d+)?|.*\.min\([A-Z][A-Z_]*\))[\]),;. ]"
)

#: The file and a piece of the line, and what bounds the length.
BOUNDED: Dict[Tuple[str, str], str] = {
    ("plugins/mqs/driver.rs", "vec![abi::INVALID_PROCESS; size]"): "max_group_ranks; in the plug-in's own process",
    ("plugins/host/shared.rs", "vec![0; used]"): "min(BUFFER) in the line before",
    ("recording/writer.rs", "self.bytes.resize(start + range.bytes()"): "BYTES_AT_ONCE: the function's contract",
    ("target/cores/file.rs", "found.resize(done"): "a PIECE more than what could be read",
    ("analysis/job/communicators.rs", "vec![None; size]"): "MAX_UNKNOWN_MEMBERS: `room`",
    ("analysis/job/communicators.rs", "self.before.resize(seen"): "as many as the process has communicators",
    ("analysis/job/communicators.rs", "Vec::with_capacity(members.min(4))"): "four",
    ("analysis/job/communicators.rs", "vec![false; groups.get(at)"): "as many as the group has places",
    ("analysis/waits/mod.rs", "Vec::with_capacity(count)"): "as many operations as the parts have",
    ("analysis/matching/gather.rs", "Vec::with_capacity(queues.sum())"): "as many as there are operations",
    ("analysis/parallel.rs", "Vec::with_capacity(count)"): "as many as the caller has processes",
    ("analysis/parallel.rs", "(0..half)"): "as above",
    (
        "analysis/findings/odd_rank/groups.rs",
        "(0..count).collect()",
    ): "as many as there are places where processes stand",
    ("analysis/findings/odd_rank/mod.rs", "(0..count).map(ProcIndex)"): "as many as there are processes",
    ("readers/openmpi/libnbc/intercommunicators.rs", "(0..remote(case))"): "two more than the schedule has steps",
    ("analysis/graph/mod.rs", "vec![0; nodes + 1]"): "as many as the graph has nodes",
    ("analysis/graph/mod.rs", "vec![NodeId(0); starts[nodes]]"): "as many as the graph has edges",
    ("analysis/graph/knots.rs", "; nodes]"): "as many as the graph has nodes",
    ("analysis/graph/knots.rs", "(0..nodes).map(NodeId)"): "as many as the graph has nodes",
    ("model/digest/groups.rs", "Vec::with_capacity(count)"): "MAX_MEMBERS, in the line before",
    ("readers/mpich/groups.rs", "repeat_n(None, usize::try_from(size)"): "taken one by one by budget::collect",
    ("readers/openmpi/groups.rs", "ranks.extend((0..len)"): "`len` is at most what is left of the parent's members",
    ("readers/openmpi/groups.rs", "(0..len * 8).filter"): "the bytes that were read: `bytes`",
    ("readers/datatypes/expand.rs", "(0..dimensions)"): "as many as the sizes that were read",
    ("target/files/asking.rs", "vec![0; wire::HEAD"): "MOST_DATA, in the line before, and a constant",
    ("target/files/rights.rs", "vec![0; usize::try_from(count)"): "the groups of this program",
    ("target/files/serving.rs", "vec![0; wire::ROOM]"): "a constant",
    ("python/files.rs", "vec![0; length.min(1 << 20)]"): "a mebibyte",
    ("unwind/signal.rs", "(0..=machine.program_counter()).collect()"): "the registers of a machine",
    ("analysis/recorded/groups.rs", "vec![None; size]"): "the room that all groups have together",
    ("session/recorded/mod.rs", "(0..size).map(Some).collect()"): "one group, of MOST_MEMBERS at most",
    ("python/many.rs", "(0..size).filter("): "as many as the caller names at most",
    ("acquisition/mpi2dd/strings.rs", "(0..len).map_while"): "a text, read byte by byte to the first that fails",
}


def _lines() -> Iterator[Tuple[str, int, str]]:
    """The code outside tests: crate and file, number, line."""
    tests = ("made-up", "fuzz")
    sources = [
        (crate.parent.name, crate) for crate in sorted(PROJECT.glob("crates/*/src")) if crate.parent.name not in tests
    ]
    for name, path in (
        (f"{crate}/{path.relative_to(source)}", path)
        for crate, source in [*sources, ("python", PROJECT / "src")]
        for path in sorted(source.rglob("*.rs"))
    ):
        if name in (CENTRAL, "target/mock.rs") or path.stem == "tests":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.strip() == "#[cfg(test)]":
                break
            yield name, number, line.split(" // ")[0]


def _is_harmless(line: str) -> bool:
    for match in RESERVING.finditer(line):
        if match["range"] is not None and not re.search(r"\.(?:collect|extend)", line):
            continue
        length = next(group for group in match.groups() if group is not None)
        if not HARMLESS.match(f"{length} "):
            return False
    return True


def _doubtful() -> List[Tuple[str, int, str]]:
    return [
        (name, number, line)
        for name, number, line in _lines()
        if not line.strip().startswith("//") and not _is_harmless(line)
    ]


def test_memory_is_set_aside_in_one_place() -> None:
    wrong = [
        f"{name}:{number}: {line.strip()}"
        for name, number, line in _doubtful()
        if not any(name == file and piece in line for file, piece in BOUNDED)
    ]
    assert not wrong, "use zeroed, fit or collect of the crate target:\n" + "\n".join(wrong)


def test_the_list_of_exceptions_has_no_dead_entries() -> None:
    doubtful = _doubtful()
    dead = [entry for entry in BOUNDED if not any(name == entry[0] and entry[1] in line for name, _, line in doubtful)]
    assert not dead


def test_what_the_test_looks_for_is_found() -> None:
    for line in (
        "let bytes = vec![0; size];",
        "let members = Vec::with_capacity(count as usize);",
        "buffer.resize(len * stride, 0);",
        "return Ok((0..size).map(lpid).collect());",
        "out.reserve(header.count());",
        "found.try_reserve_exact(more)",
        "let unknown = vec![None; usize::try_from(remote_size).unwrap_or(0).min(1 << 20)];",
    ):
        assert not _is_harmless(line), line
    for line in ("vec![0; CHUNK];", "vec![0; 128]", "Vec::with_capacity(parts.len());", "vec![0; len.min(MAX_TEXT)];"):
        assert _is_harmless(line), line
