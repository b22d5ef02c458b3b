"""What a release goes by: files for other package managers say what the project says; ``tools/check-release``."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, Dict, List

import mpi_queues
import pytest
from support.paths import PROJECT

VERSION = mpi_queues.__version__
#: What the tool reads.
_FILES = ["Cargo.toml", "pyproject.toml", "CITATION.cff", "CHANGELOG.md", "README.md", "packaging"]


#: What keeps the page of the project from being that of a release.
_NONE_YET = "no release on a package index"
README = (PROJECT / "README.md").read_text().splitlines(keepends=True)


def of_project(name: str) -> str:
    """What pyproject.toml says behind a name and an equal sign, without quotes."""
    found = re.search(rf'^{name} = \[?"([^"]*)"\]?$', (PROJECT / "pyproject.toml").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def spack_package() -> Dict[str, Any]:
    """What the file for Spack says: its directives, called with names that only record."""
    said: Dict[str, Any] = {"depends_on": []}
    names: Dict[str, Any] = {
        "PythonPackage": object,
        "version": lambda version, **_: said.update(version=version),
        "license": lambda license: said.update(license=license),
        "depends_on": lambda spec, type: said["depends_on"].append((spec, type)),
        "run_after": lambda _: lambda function: function,
        "on_package_attributes": lambda **_: lambda function: function,
        "Executable": SimpleNamespace,
    }
    text = (PROJECT / "packaging" / "spack" / "package.py").read_text()
    code = re.sub(r"^from spack\S* import .*$", "", text, flags=re.MULTILINE)
    exec(compile(code, "package.py", "exec"), names)
    package = names["PyMpiQueues"]
    return {**said, "pypi": package.pypi, "doc": package.__doc__}


def test_the_file_for_spack_says_what_the_project_says() -> None:
    package = spack_package()
    assert package["version"] == VERSION and package["license"] == of_project("license")
    assert package["pypi"] == f"{of_project('name')}/mpi_queues-{VERSION}.tar.gz"
    assert package["doc"] == of_project("description")
    rust = re.search(r'^rust-version = "(.*)"$', (PROJECT / "Cargo.toml").read_text(), re.MULTILINE)
    maturin = re.search(r"maturin>=(.*),<2", of_project("requires"))
    assert rust is not None and maturin is not None
    python = of_project("requires-python").replace(">=", "python@") + ":"
    assert (python, ("build", "run")) in package["depends_on"]
    assert (f"rust@{rust[1]}:", "build") in package["depends_on"]
    assert (f"py-maturin@{maturin[1]}:1", "build") in package["depends_on"]


def test_the_recipe_for_conda_says_what_the_project_says() -> None:
    """``make release-check`` has rattler-build read it."""
    lines = (PROJECT / "packaging" / "conda" / "recipe.yaml").read_text().splitlines()
    wanted = [
        f'  version: "{VERSION}"',
        f"    - python {of_project('requires-python')}",
        f"    - {of_project('requires').replace('maturin', 'maturin ')}",
        f'  summary: "{of_project("description")}"',
        f"  license: {of_project('license')}",
        f"      - mpi-queues = {of_project('mpi-queues')}",
    ]
    assert [line for line in wanted if line not in lines] == []
    assert all((PROJECT / name).is_file() for name in ("LICENSE-MIT", "LICENSE-APACHE"))


def test_the_easyconfig_says_what_the_project_says() -> None:
    """tests/docs/test_packages.py has EasyBuild read it."""
    text = (PROJECT / "packaging" / "easybuild" / "mpi-queues.eb").read_text()
    said: Dict[str, Any] = {}
    exec(compile(text, "mpi-queues.eb", "exec"), {}, said)
    assert (said["name"], said["version"]) == (of_project("name"), VERSION)
    assert said["description"] == of_project("description")
    (python,) = [version for name, version in said["dependencies"] if name == "Python"]
    lowest = of_project("requires-python").removeprefix(">=")
    assert tuple(map(int, python.split("."))) >= tuple(map(int, lowest.split(".")))
    # The name that `make wheels` gives.
    (source,) = said["sources"]
    names = [source % {"version": VERSION, "arch": arch} for arch in ("x86_64", "aarch64")]
    assert names == [f"mpi_queues-{VERSION}-cp39-abi3-manylinux_2_17_{arch}.whl" for arch in ("x86_64", "aarch64")]


def test_the_modulefiles_say_what_the_project_says() -> None:
    """tests/docs/test_packages.py has Lmod and Environment Modules load them."""
    for name in ("mpi-queues.lua", "mpi-queues.tcl"):
        text = (PROJECT / "packaging" / "modulefile" / name).read_text()
        assert of_project("description") in text and "/opt/mpi-queues" in text, name


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree that can be released, in a repository of its own."""
    root = tmp_path / "tree"
    root.mkdir()
    for name in _FILES:
        if (PROJECT / name).is_dir():
            shutil.copytree(PROJECT / name, root / name)
        else:
            shutil.copy(PROJECT / name, root / name)
    edit(root / "CHANGELOG.md", r"^## .*$", f"## {VERSION} (2031-02-03)")
    (root / "README.md").write_text("".join(text for text in README if _NONE_YET not in text))
    git(root, "init", "--quiet")
    commit(root)
    return root


def edit(path: Path, pattern: str, by: str) -> None:
    text, times = re.subn(pattern, by, path.read_text(), count=1, flags=re.MULTILINE)
    assert times == 1
    path.write_text(text)


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "a commit", "--allow-empty")


def told(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(PROJECT / "tools" / "check-release"), *options, str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_tree_that_agrees_can_be_released(tree: Path) -> None:
    assert told(tree).returncode == 0
    dist = tree / "dist"
    dist.mkdir()
    (tree / ".git" / "info" / "exclude").write_text("dist\n")
    none = told(tree, "--next")
    assert none.returncode == 1 and none.stderr.count("type:  rm -rf dist && make wheels sdist\n") == 3
    for name in (".tar.gz", "-cp39-abi3-manylinux_2_17_x86_64.whl", "-cp39-abi3-manylinux_2_17_aarch64.whl"):
        (dist / f"mpi_queues-{VERSION}{name}").write_bytes(b"an archive")
    said = told(tree, "--next", "--tag", f"v{VERSION}").stdout
    assert f"git tag -a v{VERSION}" in said and f"git push origin v{VERSION}" in said
    found = re.search(rf"^  ([0-9a-f]{{64}})  mpi_queues-{re.escape(VERSION)}\.tar\.gz$", said, re.MULTILINE)
    # The file for Spack names it.
    assert found is not None and f'version("{VERSION}", sha256="{found[1]}")' in said
    git(tree, "tag", "--annotate", f"v{VERSION}", "--message", "released")
    again = told(tree, "--next")
    assert again.returncode == 0 and "git tag" not in again.stdout


def test_what_the_machine_has_not_is_told_before_an_hour_is_spent(tree: Path) -> None:
    command = [sys.executable, str(PROJECT / "tools" / "check-release"), "--machine", str(tree)]
    (tree.parent / "bin").mkdir()
    git = shutil.which("git")
    assert git is not None
    (tree.parent / "bin" / "git").symlink_to(git)
    path = {"PATH": str(tree.parent / "bin")}
    done = subprocess.run(command, env={**os.environ, **path}, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "type:  rustup default stable\n" in done.stderr
    assert ("type:  make release\n" in done.stderr) is (os.geteuid() != 0)


def change_nothing(tree: Path) -> None:
    """What is wrong is in the command."""


def tag_another(tree: Path) -> None:
    git(tree, "tag", f"v{VERSION}")
    commit(tree)


CHANGES: List[Any] = [
    (lambda tree: edit(tree / "CITATION.cff", "^version: .*$", "version: 9.9.9"), "CITATION.cff: the version is 9.9.9"),
    (
        lambda tree: edit(tree / "packaging/conda/recipe.yaml", '^  version: ".*"$', '  version: "9.9"'),
        "recipe.yaml: the version is 9.9",
    ),
    (
        lambda tree: edit(tree / "packaging/easybuild/mpi-queues.eb", "^version = .*$", "version = '7.7'"),
        "mpi-queues.eb: the version is 7.7",
    ),
    (
        lambda tree: edit(
            tree / "packaging/modulefile/mpi-queues.lua", '^local version = ".*"$', 'local version = "6.6"'
        ),
        "mpi-queues.lua: the version is 6.6",
    ),
    (
        lambda tree: edit(tree / "packaging/modulefile/mpi-queues.tcl", "^set version .*$", "set version 5.5"),
        "mpi-queues.tcl: the version is 5.5",
    ),
    (
        lambda tree: edit(tree / "packaging/spack/package.py", r'version\("[^"]*"', 'version("8.8"'),
        "package.py: the version is 8.8",
    ),
    (lambda tree: edit(tree / "CHANGELOG.md", "^## .*$", "## Unreleased"), "the newest section is Unreleased"),
    (
        lambda tree: edit(tree / "CITATION.cff", "^type:", "date-released: 2030-01-01\ntype:"),
        "date-released is not 2031-02-03",
    ),
    (lambda tree: (tree / "README.md").write_text("".join(README)), "README.md: it says that there is no release yet"),
    (lambda tree: edit(tree / "pyproject.toml", "^dynamic = .*$", 'version = "1"'), "the version must be dynamic"),
    (lambda tree: (tree / "forgotten.txt").write_text("text"), "not committed: forgotten.txt"),
    (tag_another, "which is not this commit"),
    (change_nothing, f"the tag is v0.0.0, and v{VERSION} by Cargo.toml"),
]


@pytest.mark.parametrize(("change", "sentence"), CHANGES, ids=[sentence for _, sentence in CHANGES])
def test_what_is_in_the_way_is_said(tree: Path, change: Callable[[Path], None], sentence: str) -> None:
    change(tree)
    if sentence.startswith(
        ("CITATION", "recipe", "package", "mpi-queues.", "the newest", "date", "the version", "README")
    ):
        commit(tree)
    options = ["--tag", "v0.0.0"] if change is change_nothing else []
    done = told(tree, *options)
    assert done.returncode == 1 and sentence in done.stderr, done.stderr
    # One thing is wrong: two sentences, that and what follows from it.
    assert len(done.stderr.splitlines()) == 2, done.stderr


def mark(library: Path) -> subprocess.CompletedProcess[str]:
    command = [str(PROJECT / "tools" / "mark-initfirst"), str(library)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def linked(tmp_path: Path, *options: str) -> Path:
    (tmp_path / "answer.c").write_text("int answer(void) { return 42; }\n")
    library = tmp_path / "libanswer.so"
    subprocess.run(["gcc", "-shared", "-fPIC", *options, "-o", library, tmp_path / "answer.c"], check=True)
    return library


def test_a_library_is_marked_as_the_linker_would(tmp_path: Path) -> None:
    library = linked(tmp_path, "-Wl,-z,now,-z,nodelete")
    assert mark(library).returncode == 0
    shown = subprocess.run(
        ["readelf", "--dynamic", "--wide", library], capture_output=True, text=True, check=True
    ).stdout
    flags = re.search(r"\(FLAGS_1\) +Flags: (.*)$", shown, re.MULTILINE)
    assert flags is not None and set(flags[1].split()) == {"NOW", "NODELETE", "INITFIRST"}
    assert ctypes.CDLL(str(library)).answer() == 42


def test_what_cannot_be_marked_is_left_as_it_is(tmp_path: Path) -> None:
    library = linked(tmp_path, "-Wl,-z,lazy")
    before = library.read_bytes()
    done = mark(library)
    assert done.returncode == 1 and "no DT_FLAGS_1" in done.stderr and library.read_bytes() == before
    other = tmp_path / "text.so"
    other.write_text("text")
    done = mark(other)
    assert done.returncode == 1 and "not a 64-bit little-endian ELF file" in done.stderr
