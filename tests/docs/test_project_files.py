"""Files about the project: the hooks of pre-commit are what ``make lint`` does, no tests are left out in continuous
integration, and versions are one."""

from __future__ import annotations

import os
import re
import subprocess
import urllib.parse
from typing import List, Set

import mpi_queues
from support import pages
from support.paths import PROJECT


def commands_of_lint() -> List[str]:
    """What ``make lint`` runs, without what tells how far it is and what installs tools."""
    shown = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "--assume-old=build", "lint"],
        cwd=PROJECT,
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    recipe = shown.partition("tools/install-missing lint\n")[2]
    return [re.sub(r'^tools/step ("[^"]*"|\S+) ', "", line) for line in recipe.splitlines()]


def commands_of_hooks() -> List[str]:
    """What the hooks run on all files; those that are given names of files with these."""
    entries = []
    for hook in (PROJECT / ".pre-commit-config.yaml").read_text().split("- id: ")[1:]:
        members = dict(re.findall(r"^ +(\w+): (.*)$", hook, re.MULTILINE))
        named = "" if members.get("pass_filenames") == "false" else f" {files(members['files'].strip(chr(39)))}"
        entries.append(members["entry"] + named)
    return entries


def files(pattern: str) -> str:
    every = [*PROJECT.glob(".github/**/*.yml"), PROJECT / "CITATION.cff"]
    names = [str(path.relative_to(PROJECT)) for path in every]
    return " ".join(sorted(name for name in names if re.search(pattern, name)))


def test_the_hooks_of_pre_commit_are_what_lint_does() -> None:
    lint = [" ".join(sorted(line.split())) for line in commands_of_lint()]
    assert len(lint) > 5
    assert [" ".join(sorted(line.split())) for line in commands_of_hooks()] == lint


def test_the_parts_of_continuous_integration_have_all_tests() -> None:
    workflow = (PROJECT / ".github" / "workflows" / "ci.yml").read_text()
    chosen = re.findall(r"^ +tests: (.*)$", workflow, re.MULTILINE)
    assert chosen
    folders = {str(path.parent.relative_to(PROJECT)) for path in (PROJECT / "tests").rglob("test_*.py")}
    assert sorted(" ".join(chosen).split()) == sorted(folders)


def test_the_rules_are_looked_at_for_both_languages() -> None:
    """The rules of prose are about Rust, too."""
    hook = (PROJECT / ".pre-commit-config.yaml").read_text().partition("- id: rules\n")[2].partition("- id: ")[0]
    (pattern,) = re.findall(r"^ +files: '(.*)'$", hook, re.MULTILINE)
    for name in ("src/lib.rs", "tests/unit/test_cli.py", "tools/lint-rules", "tools/lint-exceptions.txt"):
        assert re.search(pattern, name), name


def test_the_map_says_which_crate_uses_which() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| .* \|([^|]*)\|$", (PROJECT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    said = {name: re.findall(r"`([a-z-]+)`", uses) for name, uses in rows}
    # In words: a build's and all.
    del said["recorder"], said["fuzz"]
    ours = {path.name for path in (PROJECT / "crates").iterdir() if path.is_dir()}
    assert ours == {*said, "recorder", "fuzz"}
    for name, uses in said.items():
        manifest = (PROJECT / "crates" / name / "Cargo.toml").read_text()
        needs = manifest.partition("\n[dependencies]\n")[2].partition("\n[")[0]
        assert uses == sorted(ours.intersection(re.findall(r"^([a-z-]+)\b", needs, re.MULTILINE))), name


def test_no_test_stands_where_cargo_looks_for_none() -> None:
    """Compiling a crate for tests that it does not have takes as long as compiling it."""
    for crate in (PROJECT / "crates").iterdir():
        library = (crate / "Cargo.toml").read_text().partition("\n[lib]\n")[2].partition("\n[")[0].splitlines()
        sources = "\n".join(path.read_text() for path in (crate / "src").rglob("*.rs"))
        if "test = false" in library:
            assert "#[test]" not in sources and "proptest!" not in sources, crate.name
        if "doctest = false" in library:
            fences = re.findall(r"^\s*//[/!] ```(.*)$", sources, re.MULTILINE)
            assert {*fences[::2]} <= {"text"}, crate.name


def features(*selection: str) -> Set[str]:
    """Each crate of a build with its features."""

    def said(*command: str) -> str:
        return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout

    tree = ("tree", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p}|{f}", *selection)
    lines = said(said("tools/find-cargo").strip(), *tree).splitlines()
    return {re.sub(r" \([^)]*\)", "", line) for line in lines if line}


def test_module_agent_and_tests_share_what_is_compiled() -> None:
    """A crate is compiled anew for other features of it, and of all that it uses."""
    schema = ("--features", "mpi-queues-model/schema")
    module = features("--package", "mpi-queues", "--features", "model/schema", "--edges", "normal,build")
    names = {crate.partition("|")[0] for crate in module}
    for selection in (("--package", "mpi-queues-agent", "--features", "model/schema"), ("--workspace", *schema)):
        others = {crate for crate in features(*selection) if crate.partition("|")[0] in names} - module
        # The agent has no plug-ins, and the recorder a libc without Rust's standard library.
        assert not [crate for crate in others if not re.match(r"mpi-queues-(session|functions) |libc ", crate)], others


def test_the_version_is_the_same_everywhere() -> None:
    said = re.search(r"^version: (.*)$", (PROJECT / "CITATION.cff").read_text(), re.MULTILINE)
    assert said is not None and said[1] == mpi_queues.__version__


def test_each_version_of_the_changes_has_sections() -> None:
    versions = re.split(r"^## ", (PROJECT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    for number, version in enumerate(versions):
        title = version.partition("\n")[0]
        assert (number == 0 and title == "Unreleased") or re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)", title)
        sections = re.findall(r"^### (.*)$", version, re.MULTILINE)
        assert sections and sections == [kind for kind in ("Added", "Changed", "Fixed") if kind in sections], title
        before = version.partition("### ")[0]
        assert "\n- " not in before, f"{title}: a line stands before the sections"


def test_links_elsewhere_are_links() -> None:
    """By their form alone: nothing is asked of the network."""
    found = [
        (path.name, link)
        for path in [*pages.pages(), *PROJECT.glob("*.md")]
        for link in re.findall(r"\]\(\s*([a-z]+:[^)]*)\)", path.read_text())
    ]
    assert found
    for name, link in found:
        parts = urllib.parse.urlsplit(link)
        assert parts.scheme == "https" and "." in parts.netloc and not re.search(r"\s", link), (name, link)
