"""What a wheel says of the crates in its programs (``tools/make-notices``), and what is put into it with that
(``tools/finish-wheel``)."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
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
    module, agent, recorder, library = (
        names[f"mpi_queues/{name}"]
        for name in (
            "_native.abi3.so",
            "bin/mpi-queues-agent",
            "lib/libmpi_queues_recorder.so",
            "lib/libmpi_queues_mqs.so",
        )
    )
    assert recorder == {EVERYWHERE} and EVERYWHERE in module & agent & library
    assert not library & {AGENT, *MODULE, *NOWHERE}
    assert module >= set(MODULE) and not agent & {*MODULE, *NOWHERE} and not module & {*NOWHERE}
    assert AGENT in agent and AGENT not in module
    blocks = [block.split(f"{'-' * 100}\n", 1) for block in texts.split(f"{'=' * 100}\n")]
    with_text = {crate for block in blocks for crate in re.split(r",\s", block[0].strip())}
    assert with_text == {*re.findall(r"[\w-]+ \d\S*[^,\s]", "".join(programs.values())), "something else"}
    assert blocks[-1][1] == "the licence of something else\n"
    # Sources of others that a crate carries.
    assert any("Microsoft" in block[1] for block in blocks if "libmimalloc-sys" in block[0])


def test_a_package_without_the_agent_names_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "rust-standard-library.txt").write_text("its licences\n")
    done = make("--without-agent", "x86_64", tmp_path / "notices.txt")
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "notices.txt").read_text()
    assert "libmpi_queues_recorder.so:" in said and "mpi-queues-agent" not in said and AGENT not in said
    assert "Rust's standard library: rust-standard-library.txt\n" in said


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    assert make("x86_64", tmp_path / "notices.txt", "nothing").returncode == 1
    assert make("x86_64").returncode == 1
    assert not (tmp_path / "notices.txt").exists()


def test_a_wheel_gets_pages_of_the_manual_and_licences_and_names_no_place(tmp_path: Path) -> None:
    """Of a made-up one, whose agent may be run."""
    tree, inside = tmp_path / "tree", tmp_path / "tree" / "mpi_queues-1.0"
    information = inside / "mpi_queues-1.0.dist-info"
    (information / "sboms").mkdir(parents=True)
    (inside / "mpi_queues").mkdir()
    agent = inside / "mpi_queues" / "agent"
    agent.write_text("#!/bin/sh\n")
    agent.chmod(0o755)
    (information / "METADATA").write_text("Name: mpi-queues\nLicense-File: LICENSE-APACHE\nSummary: why\n")
    (information / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp39-abi3-linux_x86_64\n")
    (information / "sboms" / "mpi-queues.cyclonedx.json").write_text(f'{{"ref": "path+file://{tree}/crates/model"}}')
    wheel(tmp_path, "pack", inside, "--dest-dir", tmp_path)
    given = tmp_path / "mpi_queues-1.0-cp39-abi3-linux_x86_64.whl"
    command = [PROJECT / "tools" / "finish-wheel", platform.machine(), tree, given, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    wheel(tmp_path, "unpack", tmp_path / "out" / given.name)
    package = tmp_path / "mpi_queues-1.0"
    information = package / "mpi_queues-1.0.dist-info"
    names = sorted(path.name for path in (information / "licenses" / "third-party").iterdir())
    assert names[0] == "notices.txt" and names[1].startswith("rust-standard-library.") and len(names) == 2
    told = [f"License-File: third-party/{name}" for name in names]
    lines = (information / "METADATA").read_text().splitlines()
    assert lines[:2] + lines[-1:] == ["Name: mpi-queues", "License-File: LICENSE-APACHE", "Summary: why"]
    assert sorted(lines[2:-1]) == told
    notices = (information / "licenses" / "third-party" / "notices.txt").read_text()
    assert names[1] in notices and re.search(r"^(musl|glibc) \(mpi-queues-agent\)$", notices, re.MULTILINE)
    assert (package / "mpi_queues-1.0.data" / "data" / "share" / "man" / "man1" / "mpi-queues.1").is_file()
    sbom = (information / "sboms" / "mpi-queues.cyclonedx.json").read_text()
    assert sbom == '{"ref": "path+file:///mpi-queues/crates/model"}'
    assert (package / "mpi_queues" / "agent").stat().st_mode & 0o111


def wheel(directory: Path, *arguments: object) -> None:
    """Refuses a wheel whose list of files and sums is not true."""
    command = [sys.executable, "-m", "wheel", *(str(word) for word in arguments)]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
