"""Reports as text: what is in them, that nothing of a stranger becomes markup, that they are read again."""

from __future__ import annotations

import base64
import json
import pathlib
import re
import xml.etree.ElementTree as ElementTree
import zlib
from html.parser import HTMLParser
from typing import Dict, List, Optional, Tuple

import mpi_queues
import pytest
from mpi_queues.page import document, inside, report, writing
from mpi_queues.page.elements import element, escaped
from mpi_queues.page.graph import graph_of
from mpi_queues.targets.report import _json_in
from page.made import busy, hostile_names, missing_in_barrier, named, ring, wrong_tag
from support.cli import mpi_queues as command

SVG = "{http://www.w3.org/2000/svg}"


class Shape(HTMLParser):
    """The elements of a page with their attributes' names in their order, and its text without scripts and styles."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: List[Tuple[str, Tuple[str, ...]]] = []
        self.open: List[str] = []
        self.text: List[str] = []
        self.scripts: Dict[str, str] = {}
        self.values: List[str] = []
        self._id = ""

    def handle_starttag(self, tag: str, attributes: List[Tuple[str, Optional[str]]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attributes)))
        self.values += [value or "" for _, value in attributes]
        if tag not in ("meta", "br", "input", "wbr"):
            self.open.append(tag)
        self._id = dict(attributes).get("id") or ""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.scripts[self._id] = self.scripts.get(self._id, "") + data
        else:
            self.text.append(data)


def shape(page: str) -> Shape:
    found = Shape()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


def test_text_is_text() -> None:
    made = str(element("p", "<b>&\"'\x1b\u202e", title='a"b<c>', class_="x", data_rank=3, hidden=True, open=None))
    assert made == (
        '<p title="a&quot;b&lt;c&gt;" class="x" data-rank="3" hidden="">&lt;b&gt;&amp;&quot;&#39;\\x1b\\u202e</p>'
    )
    assert escaped("\ud800\ufffe") == "\\ud800\\ufffe"
    with pytest.raises(ValueError, match="no name of an element"):
        element("p onclick")


def test_a_slot_is_not_looked_for_in_what_is_put_in() -> None:
    assert document.filled("<!-- slot: a -->", {"a": "<!-- slot: b -->", "b": "no"}) == "<!-- slot: b -->"
    with pytest.raises(KeyError):
        document.filled("<!-- slot: c -->", {})


def test_the_graph_of_a_ring_has_each_rank() -> None:
    diagnosis = ring(4).diagnose()
    assert diagnosis.state in ("deadlock", "suspect")
    graph = graph_of(diagnosis)
    assert [(node.who, node.what, node.role) for node in graph.nodes] == [
        (f"rank {rank}", "MPI_Recv", "cause") for rank in range(4)
    ]
    assert {(edge.source, edge.target, *edge.what) for edge in graph.edges} == {
        (rank, (rank + 1) % 4, "send tag 5 on MPI_COMM_WORLD") for rank in range(4)
    }
    assert all(edge.cause for edge in graph.edges)


def test_ranks_with_the_same_fate_are_one_node() -> None:
    graph = graph_of(missing_in_barrier(64).diagnose())
    assert [(node.who, node.what, node.place, node.role) for node in graph.nodes] == [
        ("63 ranks: 0-2,4-63", "MPI_Barrier", "step at halo.c:51", "held"),
        ("rank 3", "MPI_Recv", "collect at halo.c:88", "cause"),
    ]
    assert [(edge.source, edge.target, edge.what, edge.waiting, edge.cause) for edge in graph.edges] == [
        (0, 1, ["enter MPI_Barrier on MPI_COMM_WORLD"], 63, False),
        (1, 0, ["send tag 1 on MPI_COMM_WORLD"], 1, False),
    ]


def test_a_large_ring_is_one_node_that_waits_for_itself() -> None:
    graph = graph_of(ring(500).diagnose())
    assert [(node.who, node.within) for node in graph.nodes] == [("500 ranks: 0-499", ["send tag 5 on MPI_COMM_WORLD"])]
    assert graph.edges == []


@pytest.mark.parametrize("made", [ring(4), missing_in_barrier(70), wrong_tag(), busy(3), mpi_queues.Snapshot()])
def test_a_report_holds_what_was_found(made: mpi_queues.Snapshot) -> None:
    diagnosis = made.diagnose()
    page = report.html(diagnosis)
    found = shape(page)
    text = " ".join(" ".join(found.text).split())
    assert " ".join(diagnosis.headline.split()) in text
    for finding in diagnosis.findings:
        assert finding.summary in text
        assert finding.kind in text
    # The data is that of diagnose --format json.
    assert found.scripts["snapshot"] and json.loads(diagnosis.to_json())["processes"] == [
        *json.loads(report_json(page).to_json())["processes"]
    ]


def report_json(page: str) -> mpi_queues.Snapshot:
    found = inside._packed(page.encode(), "snapshot")
    assert found is not None and not found.without
    return mpi_queues.Snapshot.from_json(inside._unpacked(found))


@pytest.mark.parametrize("ending", [".html", ".svg", ".dot"])
def test_files_by_their_ends(tmp_path: pathlib.Path, ending: str) -> None:
    path = tmp_path / f"hang{ending}"
    ring(4).report(path)
    text = path.read_text("utf-8")
    if ending == ".svg":
        root = ElementTree.fromstring(text)
        assert root.tag == f"{SVG}svg"
        assert len(root.findall(f".//{SVG}g[@data-node]")) == 4
    elif ending == ".dot":
        assert text.startswith("digraph waits {\n")
        assert text.count(" -> ") == 4
    else:
        assert text.startswith(inside.MARK)
    with pytest.raises(mpi_queues.errors.UsageError, match="HTML, SVG or DOT"):
        ring(4).report(tmp_path / "hang.pdf")


def test_hostile_names_stay_text() -> None:
    """Whatever strangers name: the elements of the page are those of a page with plain names, and the drawing and the
    DOT are still what they are."""
    plain = report.html(named("plain").diagnose(), source=False)
    # What is in the data, and whether a name is cut, differs; which elements there are does not.
    wanted = shape(plain).tags
    for name in hostile_names(200):
        diagnosis = named(name).diagnose()
        page = report.html(diagnosis, source=False)
        found = shape(page)
        assert [tag for tag, _ in found.tags if tag in ("script", "style", "img", "svg", "a", "meta", "title")] == [
            tag for tag, _ in wanted if tag in ("script", "style", "img", "svg", "a", "meta", "title")
        ], name
        allowed = {attribute for _, attributes in wanted for attribute in attributes}
        assert {attribute for _, attributes in found.tags for attribute in attributes} <= allowed | {"data-absent"}, (
            name
        )
        assert not any(
            value.startswith("javascript:") for value in found.values if "alert" not in name or value == name
        )
        for one in "\x1b\u202e\u2066\x00\x07":
            assert one not in page, name
        root = ElementTree.fromstring(report.svg(diagnosis))
        assert {node.tag for node in root.iter()} <= {
            SVG + tag for tag in ("svg", "style", "title", "defs", "marker", "path", "g", "rect", "text")
        }, name
        for line in report.dot_of(diagnosis).splitlines()[1:-1]:
            assert DOT_LINE.fullmatch(line), (name, line)
        # And the names are there as they are.
        assert report_json(page).processes[0].host == name


#: A statement of DOT; strings hold no quote but behind a backslash.
_STRING = r'"(?:[^"\\]|\\.)*"'
_VALUE = rf"(?:{_STRING}|[a-zA-Z0-9.]+)"
_ATTRIBUTES = rf"\[[a-z]+={_VALUE}(?:, [a-z]+={_VALUE})*\]"
DOT_LINE = re.compile(rf"  (?:rankdir=BT|(?:n\d+|node|edge)(?: -> n\d+)? {_ATTRIBUTES});")


@pytest.mark.parametrize("size", [4, 600])
@pytest.mark.usual("4")
def test_a_report_is_read_again(tmp_path: pathlib.Path, size: int) -> None:
    diagnosis = ring(size).diagnose()
    path = tmp_path / "hang.html"
    diagnosis.report(path)
    read = mpi_queues.load(path)
    assert read.processes[0].calls == diagnosis.snapshot.processes[0].calls
    assert read.diagnosis == diagnosis
    result = command("diagnose", "--recording", str(path), "--format", "json")
    assert result.status == 0, str(result)
    assert json.loads(result.out) == json.loads(diagnosis.to_json())
    again = tmp_path / "again.html"
    assert command("report", "--recording", str(path), "-o", str(again)).status == 0
    assert again.read_text("utf-8") == path.read_text("utf-8")
    assert command("show", "--recording", str(path)).out.count("MPI_Recv") >= size
    assert "main" in command("stacks", "--recording", str(path)).out


def test_what_two_looks_have_told_stands_in_a_report(tmp_path: pathlib.Path) -> None:
    diagnosis = ring(4).diagnose(ring(4), interval_ms=500)
    path = tmp_path / "hang.html"
    diagnosis.report(path)
    told = json.loads(command("diagnose", "--recording", str(path), "--format", "json").out)
    assert told["verdict"] == json.loads(diagnosis.to_json())["verdict"] and told["verdict"]["movement"]


def test_damaged_reports_say_what_is_wrong(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "hang.html"
    ring(600).report(path)
    whole = path.read_bytes()
    start = whole.index(b'id="snapshot"')
    blanks = base64.b64encode(zlib.compress(b" " * 1000)[:-5])
    for what, content in (
        ("it lacks the data", whole[:start]),
        ("it lacks the data", inside.MARK.encode()),
        ("cannot be read", whole[: start + 60] + whole[start + 64 :]),
        ("its end is missing", re.sub(rb'(data-form="zlib">)[^<]*', rb"\1" + blanks, whole)),
        ("no base64", whole.replace(b'data-form="zlib">', b'data-form="zlib">!')),
        (
            "this version does not know the form",
            whole.replace(b'"snapshot" data-form="zlib"', b'"snapshot" data-form="other"'),
        ),
    ):
        path.write_bytes(content)
        with pytest.raises(mpi_queues.errors.UserError, match=what) as caught:
            mpi_queues.load(path)
        assert "hang.html" in str(caught.value)
        assert "mpi-queues report" in str(caught.value)
        result = command("diagnose", "--recording", str(path))
        assert result.status == 3 and "hang.html" in result.err and "Traceback" not in result.err


def test_data_that_unfolds_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "_LARGEST_TEXT", 1 << 20)
    monkeypatch.setattr(inside, "_LARGEST_TABLES", 1 << 20)
    packed = inside.Packed("zlib", base64.b64encode(zlib.compress(b" " * (64 << 20))).decode())
    for read in (inside._unpacked, inside._snapshot):
        with pytest.raises(ValueError, match="longer than 1 MiB"):
            read(packed)


@pytest.mark.slow
def test_a_small_report_of_very_much_names_the_limit(tmp_path: pathlib.Path) -> None:
    """62 KB took 3.8 GB; ``tests/hostile/pages.py`` has more of them."""
    path = tmp_path / "small.html"
    objects = b'{"schema":"mpi-queues/1","captured_at":null,"processes":[' + b"{}," * (20 << 20) + b"{}]}"
    data = base64.b64encode(zlib.compress(objects, 9))
    path.write_bytes(
        inside.MARK.encode() + b'<script type="application/json" id="snapshot" data-form="zlib">' + data + b"</script>"
    )
    assert path.stat().st_size < 100 << 10
    result = command("diagnose", "--recording", str(path))
    assert result.status == 3 and "small.html: its data cannot be read: what it says takes more than " in result.err
    plain = tmp_path / "small.json"
    plain.write_bytes(objects.replace(b"{}," * (19 << 20), b""))
    assert len(_json_in(str(plain)).processes) == (1 << 20) + 1


def test_what_needs_memory_says_that_a_report_has_none(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "hang.html"
    ring(4).report(path)
    for arguments in (("handles", "comm"), ("record", "-o", str(tmp_path / "x.mpirec"))):
        result = command(arguments[0], "--recording", str(path), *arguments[1:])
        assert result.status != 0
        assert "a report has what was read of the processes, but not their memory" in result.err, str(result)


def test_source_lines_are_quoted_and_only_of_sources(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "halo.c"
    source.write_text("".join(f"int line_{number};\n" for number in range(1, 100)))
    secret = tmp_path / "secret"
    secret.write_text("secret\n" * 100)
    content = json.loads(wrong_tag().to_json())

    def page(file: str, *, quote: bool = True) -> str:
        for process in content["processes"]:
            for call in process["calls"]:
                call["file"] = file
        return report.html(mpi_queues.Snapshot.from_json(json.dumps(content)).diagnose(), source=quote)

    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:3]:
        if parent.stat().st_mode & 0o5 != 0o5 and parent.name.startswith(("pytest", "popen")):
            parent.chmod(0o755)
    text = " ".join(shape(page(str(source))).text)
    assert "int line_37;" in text and "int line_43;" in text
    assert "int line_36;" not in text and "int line_44;" not in text
    assert "line_40" not in page(str(source), quote=False)
    for name in (str(secret), "halo.c", "/dev/zero", str(tmp_path), str(tmp_path / "none.c")):
        text = page(name)
        assert "secret\n" not in text and "line_40" not in text
    # Beside the program, where the lines name the function.
    for process in content["processes"]:
        process["executable"] = str(tmp_path / "solver")
    assert "line_40" not in page("halo.c")
    source.write_text(source.read_text().replace("line_39", "MPI_Recv"))
    assert "line_40" in page("halo.c")


def test_a_comparison_tells_what_changed(tmp_path: pathlib.Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.html"
    before.write_text(wrong_tag().diagnose().to_json())
    busy(2).report(after)
    out = tmp_path / "changed.html"
    result = command("report", str(before), str(after), "-o", str(out))
    assert result.status == 0, str(result)
    text = " ".join(" ".join(shape(out.read_text("utf-8")).text).split())
    assert "gone tag mismatch" in text
    assert "MPI_Recv, exchange at halo.c:40" in text and "outside MPI, work at work.c:7" in text
    assert "halo pending receives 1 0" in text
    wrong = command("report", str(before), "--pid", "1", "-o", str(out))
    assert wrong.status == 2 and "name one file to show or two to compare" in wrong.err
    assert command("report", str(before), str(after), "-o", "x.svg").status == 2


def test_notebooks_show_the_same_pieces() -> None:
    diagnosis = named("<script>alert(1)</script>").diagnose()
    shown = diagnosis._repr_html_()
    assert [tag for tag, _ in shape(shown).tags].count("script") == 0
    assert "alert" in shown and "<svg" in shown
    queue = wrong_tag().rank(0).communicator("halo").pending_receives
    cells = [text for text in shape(queue._repr_html_()).text if text.strip()]
    assert cells[-7:-1] == ["MPI_Recv", "1", "17", "4.0 KiB", "512 MPI_DOUBLE", "pending"]
    # What was read of one that is not whole is shown beside why.
    told = json.loads(wrong_tag().to_json())
    told["processes"][0]["communicators"][0]["pending_receives"].update(state="error", detail="<b> ends in a loop")
    told["processes"][0]["communicators"][0]["pending_sends"].update(state="no_information", detail="not counted")
    first = mpi_queues.Snapshot.from_json(json.dumps(told)).rank(0).communicator("halo")
    text = " ".join(shape(first.pending_receives._repr_html_()).text)
    assert "not read: <b> ends in a loop" in text and "MPI_Recv" in text
    assert "<table" not in first.pending_sends._repr_html_()


def test_the_name_of_a_file_is_looked_at_before_anything_is_read() -> None:
    result = command("report", "--pid", "1", "-o", "hang.pdf")
    assert result.status == 2 and "HTML, SVG or DOT" in result.err
    assert writing.ending_of("a.HTM") == ".html" and writing.ending_of("b.gv") == ".dot"


def test_a_report_of_very_many_ranks_keeps_what_it_shows(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside, "MOST_WHOLE", 100)
    diagnosis = missing_in_barrier(300).diagnose()
    path = tmp_path / "hang.html"
    diagnosis.report(path)
    read = mpi_queues.load(path)
    kept = read.diagnosis
    assert kept is not None
    assert (kept.headline, kept.findings, kept.limits) == (diagnosis.headline, diagnosis.findings, diagnosis.limits)
    assert "read from a report of very many ranks" in read.notes[-1]
    assert len(read.processes) == 300
    for process, before in zip(read.processes, diagnosis.snapshot.processes):
        for name in ("rank", "pid", "host", "executable"):
            assert getattr(process, name) == getattr(before, name)
        for name in ("function", "file", "line", "caller"):
            assert process.calls[0][name] == before.calls[0][name]
    (receive,) = read.rank(3).communicator("MPI_COMM_WORLD").pending_receives
    assert (receive.call, receive.desired_local_rank, receive.desired_tag, receive.desired_length) == (
        "MPI_Recv",
        0,
        1,
        4096,
    )
    assert "With more than 100 ranks, this file keeps the whole diagnosis" in path.read_text("utf-8")
    content = path.read_bytes()
    tables = inside._packed(content, "tables")
    assert tables is not None
    for wrong in ("{}", '{"strings":[],"ranks":[]}', "[]"):
        path.write_bytes(
            content.replace(tables.text.encode(), inside.of_json(wrong).text.encode()).replace(
                b'"tables" data-form="zlib"', b'"tables" data-form="json"'
            )
        )
        with pytest.raises(mpi_queues.errors.UserError, match=r"hang\.html: its data cannot be read"):
            mpi_queues.load(path)


def test_of_very_many_ranks_no_queue_is_read_again_as_more_than_the_report_has(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside, "MOST_WHOLE", 2)
    told = json.loads(ring(4).to_json())
    first, second, third, fourth = (process["communicators"][0] for process in told["processes"])
    first["pending_sends"] = {"state": "no_information", "detail": "its cm is not read", "operations": []}
    second["unexpected_messages"]["operations"] = [{"desired_tag": tag} for tag in range(151_000)]
    third["next_sequence"] = 27
    # Two of one name are one column: what they have together is told.
    other = json.loads(json.dumps(fourth))
    told["processes"][3]["communicators"].append({**other, "unique_id": 9})
    path = tmp_path / "hang.html"
    mpi_queues.Snapshot.from_json(json.dumps(told)).report(path)
    read = [process.communicators[0] for process in mpi_queues.load(path).processes]
    assert (read[0].pending_sends.state, read[0].pending_receives.state) == ("no_information", "ok")
    flood = read[1].unexpected_messages
    listed = len(flood)
    assert 20 <= listed < 151_000 and flood.state == "no_information"
    assert flood.detail == f"the report lists {listed:,} of its 151,000 operations"
    assert (len(read[1].pending_receives), read[1].pending_receives.state) == (1, "ok")
    assert (read[2].next_sequence, read[2].size) == (27, 4)
    assert (len(read[3].pending_receives), read[3].pending_receives.state) == (2, "ok")


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    """As WCAG 2.1 has it (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio)."""
    less, more = sorted((_luminance(one), _luminance(other)))
    return (more + 0.05) / (less + 0.05)


def test_drawings_can_be_read_by_those_who_see_little_contrast() -> None:
    """axe-core does not look at the texts of drawings. Letters 4.5 to 1, lines that say something 3 to 1."""
    schemes = re.findall(r"\{([^{}]*--ink: [^{}]*)", (document.DATA / "colours.css").read_text("utf-8"))
    # Light, which is that of paper as well, and dark.
    assert len(schemes) == 2
    for scheme in schemes:
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", scheme))
        read = [(letters, behind) for letters in ("ink", "quiet") for behind in ("paper", "box", "wash", "glow")]
        marks = [(mark, behind) for mark in ("accent", "result") for behind in ("paper", "box", "glow")]
        for letters, behind in (*read, *marks, ("accent", "wash"), ("lit", "paper")):
            assert _contrast(colours[letters], colours[behind]) >= 4.5, (letters, behind, scheme)
        for line in ("edge", "accent", "result", "lit"):
            assert _contrast(colours[line], colours["paper"]) >= 3, (line, scheme)
