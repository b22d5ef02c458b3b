"""The scripts that make ready what ``make`` needs: what they choose and say, and how they tell how far they are."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
from typing import Dict, List, Optional

import pytest
from support.paths import PROJECT

#: What the scripts themselves need.
PLAIN = (
    *("sh", "sed", "dirname", "id", "wc", "sort", "grep", "mktemp", "date", "tail", "tr", "cut", "sleep", "rm", "cat"),
    *("echo", "kill", "gcc", "touch", "python3"),
)


class Machine:
    """A machine whose apt and dpkg are scripts that say what they are told to, and note what they are asked."""

    def __init__(self, place: pathlib.Path, candidates: Dict[str, str], installed: List[str]) -> None:
        self.bin = place / "bin"
        self.bin.mkdir()
        self.asked = place / "asked"
        self.asked.touch()
        for name in PLAIN:
            found = shutil.which(name)
            assert found is not None, name
            (self.bin / name).symlink_to(found)
        known = "".join(f'{name}) echo "  Candidate: {version}" ;;\n' for name, version in candidates.items())
        versioned = "".join(f"echo '{name} - Rust';" for name in candidates if name.startswith("cargo-1."))
        self.script(
            "apt-cache", f"case $1 in search) {versioned or ':'} ;; policy) case $2 in\n{known}*) : ;; esac ;; esac"
        )
        self.script(
            "dpkg-query", f'for last; do :; done; case " {" ".join(installed)} " in *" $last "*) echo installed ;; esac'
        )
        self.script("id", "echo 0")
        self.installs()

    def script(self, name: str, text: str) -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def installs(self, cargo: Optional[str] = "1.90.0") -> None:
        """What apt-get does: it notes its arguments, and brings this cargo."""
        brings = f"printf '#!/bin/sh\\necho cargo {cargo}\\n' > {self.bin}/cargo; {self._chmod} 755 {self.bin}/cargo"
        self.script(
            "apt-get",
            f'echo "$@" >> {self.asked}\ncase "$*" in *simulate*) ;; *install*) {brings if cargo else ":"} ;; esac',
        )

    _chmod = shutil.which("chmod")

    def run(self) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.bin), "HOME": str(self.bin.parent), "LC_ALL": "C"}
        command = [str(PROJECT / "tools" / "install-missing"), "build"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("candidates", "chosen"),
    [
        ({"rustc-web": "1.96.0+dfsg1-1~deb13u1+b1", "rustc": "1.85.1+dfsg1-1"}, "rustc-web cargo-web"),
        ({"rustc": "1.91.0-1"}, "rustc cargo"),
        ({"rustc": "2:1.91.0-1"}, "rustc cargo"),
        (
            {"rustc": "1.75.0", "cargo-1.80": "1.80", "cargo-1.9": "1.9.1", "cargo-1.89": "", "rustc-1.89": "1.89.0+x"},
            "rustc-1.89 cargo-1.89",
        ),
    ],
    ids=["Debian", "newer", "epoch", "Ubuntu"],
)
def test_the_rust_that_is_new_enough_is_installed(
    tmp_path: pathlib.Path, candidates: Dict[str, str], chosen: str
) -> None:
    machine = Machine(tmp_path, candidates, [])
    result = machine.run()
    assert result.returncode == 0, result
    assert machine.asked.read_text().splitlines()[-1].split("recommends ")[1] == chosen
    assert f"missing: {chosen}\n" in result.stderr and "installing 2 Debian packages" in result.stderr


@pytest.mark.parametrize("rustup", [None, "1.27.1-3", "(none)"])
def test_without_a_rust_that_is_new_enough_rustup_is_named(tmp_path: pathlib.Path, rustup: Optional[str]) -> None:
    """Also after the lists of packages have been read anew."""
    candidates = {"rustc": "1.63.0+dfsg1-2", "rustc-web": "1.85.0+dfsg3-1~deb12u3"}
    machine = Machine(tmp_path, {**candidates, **({"rustup": rustup} if rustup else {})}, [])
    result = machine.run()
    assert result.returncode == 1
    assert machine.asked.read_text() == "update\n"
    assert "no cargo of at least 1.88" in result.stderr and "rustup default stable" in result.stderr
    assert ("apt-get install rustup" in result.stderr) == (rustup == "1.27.1-3")


def test_an_older_rustc_is_not_removed_but_named(tmp_path: pathlib.Path) -> None:
    machine = Machine(tmp_path, {"rustc-web": "1.96.0", "rustup": "1.27.1"}, ["rustc", "cargo"])
    machine.script("cargo", "echo cargo 1.63.0")
    result = machine.run()
    assert result.returncode == 1
    assert machine.asked.read_text() == ""
    assert "apt-get install rustc-web cargo-web    (it removes rustc cargo)" in result.stderr
    assert "rustup default stable" in result.stderr


def test_a_package_that_brings_an_old_cargo_is_told(tmp_path: pathlib.Path) -> None:
    machine = Machine(tmp_path, {"rustc": "1.91.0"}, [])
    machine.installs("1.63.0")
    result = machine.run()
    assert result.returncode == 1
    assert "brought no cargo of at least 1.88" in result.stderr and "rustup" in result.stderr


def test_a_newer_cargo_behind_an_older_one_counts(tmp_path: pathlib.Path) -> None:
    machine = Machine(tmp_path, {}, [])
    machine.script("cargo", "echo cargo 1.63.0")
    newer = tmp_path / ".cargo" / "bin" / "cargo"
    newer.parent.mkdir(parents=True)
    newer.write_text("#!/bin/sh\necho cargo 1.95.0 '(x)'\n")
    newer.chmod(0o755)
    assert machine.run().returncode == 0
    assert machine.asked.read_text() == ""


def step(*command: str, every: str = "1") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PROJECT / "tools" / "step"), "the work", *command],
        env={**os.environ, "STEP_EVERY": every},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_step_tells_how_far_it_is() -> None:
    result = step("sh", "-c", "echo Compiling one; printf '\\033[31mCompiling two\\r\\n'; sleep 4; echo more")
    assert result.returncode == 0 and result.stdout == ""
    first, *middle, last = result.stderr.splitlines()
    assert first == "the work ..." and last.startswith("the work: done, ")
    assert middle and all(line.startswith("the work: ") and line.endswith(" s  [31mCompiling two") for line in middle)


@pytest.mark.slow
def test_a_step_whose_command_ends_at_once_ends_too() -> None:
    """However early that is: nothing that tells how far it is has begun yet."""
    for _ in range(10):
        assert step("true").returncode == 0
        assert step("false").returncode == 1


def test_a_step_that_fails_shows_all_that_it_said() -> None:
    result = step("sh", "-c", "echo why; exit 3")
    assert result.returncode == 3
    first, said, last = result.stderr.splitlines()
    assert (first, said) == ("the work ...", "why")
    assert re.fullmatch(r"the work: failed after \d+ s \(status 3\): sh -c echo why; exit 3", last)
