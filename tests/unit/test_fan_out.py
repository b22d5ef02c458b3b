"""One command on each of many nodes: what it hands on, in both directions, and how it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import List, Sequence

import pytest
from mpi_queues import UserError
from mpi_queues.nodes import fan_out
from mpi_queues.nodes.engines import one_by_one
from mpi_queues.nodes.engines.one_by_one import SSH, OneByOne
from support import processes

#: Runs a line of a shell on this machine, as ssh would on a node, whose name it has.
HERE = ("sh", "-c", 'NODE=$0 exec sh -c "$1"')


def started(there: str, nodes: Sequence[str], words: Sequence[str] = HERE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(fan_out.command(words, nodes, there), stdin=-1, stdout=-1, stderr=-1)


def said(there: str, nodes: Sequence[str], given: bytes = b"", words: Sequence[str] = HERE) -> List[List[bytes]]:
    """The lines of both streams, sorted, once all has ended."""
    running = started(there, nodes, words)
    return [sorted(text.splitlines()) for text in running.communicate(given, timeout=60)]


def test_input_goes_to_all_and_lines_have_the_names_of_nodes() -> None:
    out, errors = said("cat; echo of $NODE >&2; printf rest", ["n1", "n2"], b"a\nb\n")
    assert out == [b"n1: a", b"n1: b", b"n1: rest", b"n2: a", b"n2: b", b"n2: rest"]
    assert errors == [b"n1: of n1", b"n2: of n2"]


def test_one_that_fails_is_named_and_ends_no_other() -> None:
    running = started('[ $NODE != n2 ] || { echo "no route" >&2; exit 7; }; cat', ["n1", "n2", "n3"])
    out, errors = running.communicate(b"x\n", timeout=60)
    assert sorted(out.splitlines()) == [b"n1: x", b"n3: x"] and running.returncode == 1
    assert errors.splitlines() == [b"n2: no route", b"n2: ended there (status 7)"]
    assert [list(fan_out.ended(line.decode())) for line in errors.splitlines()] == [[], ["n2"]]


def test_what_cannot_be_started_is_named() -> None:
    out, errors = said("true", ["n1", "n2"], words=["/nowhere/ssh"])
    assert out == [] and [list(fan_out.ended(line.decode())) for line in errors] == [["n1"], ["n2"]]


def test_a_node_says_of_no_other_that_it_has_ended() -> None:
    _, errors = said("echo 'n2: ended there (status 1)' >&2", ["n1"])
    assert [list(fan_out.ended(line.decode())) for line in errors] == [[]]


def test_much_goes_to_all_beside_one_that_reads_nothing() -> None:
    much = os.urandom(1 << 16).hex().encode() * 100
    with started("[ $NODE = slow ] && sleep 600; wc -c", ["n1", "slow", "n2"]) as running:
        assert running.stdin is not None and running.stdout is not None
        running.stdin.write(much)
        running.stdin.close()
        lines = sorted(running.stdout.readline() for _ in range(2))
        assert lines == [b"n1: %d\n" % len(much), b"n2: %d\n" % len(much)]
        below = [one.pid for one in processes.descendants(running.pid)]
        running.terminate()
        for pid in below:
            # Those of the other nodes may have ended meanwhile.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_line_without_an_end_does_not_grow() -> None:
    out, _ = said(f"head -c {8 << 20} /dev/zero; echo", ["n1"])
    assert len(out) == 1 and len(out[0]) <= (64 << 10) * 2 + len("n1: ")


def test_what_has_closed_its_output_is_not_waited_for() -> None:
    out, errors = said("echo a; exec >&- 2>&-; exec sleep 600", ["n1"])
    assert (out, errors) == ([b"n1: a"], [b"n1: ended there (status -9)"])


def test_all_end_when_whoever_started_them_is_gone(tmp_path: Path) -> None:
    words = fan_out.command(HERE, ["n1", "n2"], f"touch {tmp_path}/$NODE; cat; rm {tmp_path}/$NODE")
    code = "import subprocess, sys; subprocess.Popen(sys.argv[1:], stdin=-1); sys.stdin.read()"
    front = subprocess.Popen([sys.executable, "-c", code, *words], stdin=-1)
    processes.wait_until(lambda: len(list(tmp_path.iterdir())) == 2, "both to begin")
    front.kill()
    front.communicate()
    processes.wait_until(lambda: not list(tmp_path.iterdir()), "both to end")


def test_a_file_is_fetched_by_a_command_that_can_be_pasted() -> None:
    assert SSH.fetching("n1", "/a b/n1.mpirec") == "ssh n1 'cat '\"'\"'/a b/n1.mpirec'\"'\"'' > n1.mpirec"


def test_a_command_that_is_not_here_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_by_one.shutil, "which", lambda name: None)
    with pytest.raises(UserError, match="blaunch is not installed here"):
        OneByOne("blaunch").command(["n1"], ["agent"])
