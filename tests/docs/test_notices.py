"""``tools/make-notices``: what a wheel says of the crates in its programs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from support.paths import PROJECT

#: Used in all programs; in the module; in the agent; what only builds or tests.
EVERYWHERE, MODULE, AGENT, NOWHERE = "libc", ("pyo3", "mimalloc", "rust-sugiyama"), "base64", ("cc", "syn", "proptest")


def make(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [PROJECT / "tools" / "make-notices", *arguments]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def test_each_program_names_its_crates_and_each_crate_has_its_licence(tmp_path: Path) -> None:
    licence = tmp_path / "licence"
    licence.write_text("the licence of something else  \n")
    done = make("x86_64", tmp_path / "made" / "notices.txt", f"something else={licence}")
    assert done.returncode == 0, done.stderr
    listed, _, texts = (tmp_path / "made" / "notices.txt").read_text().partition(f"{'=' * 100}\n")
    programs = {found[0]: found[1] for found in re.findall(r"^(\S+):\n((?:.+\n)+)", listed, re.MULTILINE)}
    names = {program: set(re.findall(r"([\w-]+) \d", crates)) for program, crates in programs.items()}
    module, agent, recorder = (
        names[f"mpi_queues/{name}"]
        for name in ("_native.abi3.so", "bin/mpi-queues-agent", "lib/libmpi_queues_recorder.so")
    )
    assert recorder == {EVERYWHERE} and EVERYWHERE in module & agent
    assert module >= set(MODULE) and not agent & {*MODULE, *NOWHERE} and not module & {*NOWHERE}
    assert AGENT in agent and AGENT not in module
    blocks = [block.split(f"{'-' * 100}\n", 1) for block in texts.split(f"{'=' * 100}\n")]
    with_text = {crate for block in blocks for crate in re.split(r",\s", block[0].strip())}
    assert with_text == {*re.findall(r"[\w-]+ \d\S*[^,\s]", "".join(programs.values())), "something else"}
    assert blocks[-1][1] == "the licence of something else\n"
    # Sources of others that a crate carries.
    assert any("Microsoft" in block[1] for block in blocks if "libmimalloc-sys" in block[0])


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    assert make("x86_64", tmp_path / "notices.txt", "nothing").returncode == 1
    assert make("x86_64").returncode == 1
    assert not (tmp_path / "notices.txt").exists()
