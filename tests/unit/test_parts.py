"""What to type where the package has no agent or no flight recorder: it works where it is pasted."""

from __future__ import annotations

import pathlib
import shlex
import sys
from importlib import metadata
from types import SimpleNamespace
from typing import Optional

import pytest
from mpi_queues.system import parts

AGAIN = "-m pip install -v --force-reinstall --no-deps --no-cache-dir"


def test_in_the_source_tree_it_is_a_target_of_the_makefile() -> None:
    assert parts.how_to_build("agent").startswith("in the source tree, type: make agent ")


@pytest.mark.parametrize(
    ("told", "origin"),
    [
        ('{"dir_info": {}, "url": "file:///home/me/my%20tree"}', "file:///home/me/my%20tree"),
        ('{"archive_info": {}, "url": "file:///tmp/a.tar.gz"}', "file:///tmp/a.tar.gz"),
        ('{"vcs_info": {"vcs": "git", "commit_id": "1"}, "url": "https://here/a"}', "git+https://here/a"),
        (None, "mpi-queues"),
        ("not JSON", "mpi-queues"),
    ],
)
def test_elsewhere_pip_installs_it_again_from_where_it_came(
    told: Optional[str], origin: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "_ROOT", tmp_path)
    monkeypatch.setattr(metadata, "distribution", lambda name: SimpleNamespace(read_text=lambda file: told))
    _, _, command = parts.how_to_build("agent").partition(", type: ")
    assert command == f"{shlex.quote(sys.executable)} {AGAIN} {origin}"


def test_a_package_that_pip_does_not_know(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(parts, "_ROOT", tmp_path)
    monkeypatch.setattr(metadata, "distribution", none)
    assert parts.how_to_build("agent").endswith(f" {AGAIN} mpi-queues")
