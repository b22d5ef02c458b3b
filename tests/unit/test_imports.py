"""Which Python module may import which, checked against the imports that are there. In Rust the crates say it."""

from __future__ import annotations

import ast
import pathlib
import re
from typing import Dict, List, Optional, Set

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "mpi_queues"

#: Where a debugger's module may be imported.
DEBUGGER_IMPORTS = {"gdb": ("gdb/", "data/gdb-scripts/"), "lldb": ("lldb/", "data/lldb-scripts/")}


def python_imports(path: pathlib.Path) -> List[str]:
    """Absolute dotted names of what a file of the package imports, at any depth of the code."""
    package = ["mpi_queues", *path.relative_to(PACKAGE).parts[:-1]]
    names: List[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            names += [f"{prefix}.{alias.name}" for alias in node.names]
    return names


def python_files() -> List[pathlib.Path]:
    return sorted(PACKAGE.rglob("*.py"))


def module_name(path: pathlib.Path) -> str:
    """The dotted name of a file of the package."""
    parts = ["mpi_queues", *path.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_between_files() -> Dict[str, Set[str]]:
    """Which files of the package each of them imports: also inside functions, and for types alone. The package's own
    ``__init__`` is not among them: whoever imports anything of the package has run it."""
    files = {module_name(path): path for path in python_files()}
    del files["mpi_queues"]
    found: Dict[str, Set[str]] = {}
    for name, path in files.items():
        # What is imported is a file, or something in one.
        known = (one if one in files else one.rpartition(".")[0] for one in python_imports(path))
        found[name] = {one for one in known if one in files and one != name}
    return found


def circle(of: Dict[str, Set[str]]) -> Optional[List[str]]:
    """One circle, its first file named again at its end; None where there is none."""
    done: Set[str] = set()

    def below(way: List[str]) -> Optional[List[str]]:
        for name in sorted(of[way[-1]] - done):
            found = [*way[way.index(name) :], name] if name in way else below([*way, name])
            if found is not None:
                return found
        done.add(way[-1])
        return None

    return next((found for name in sorted(of) if name not in done and (found := below([name])) is not None), None)


def test_only_adapters_and_loaders_import_a_debugger() -> None:
    wrong = []
    for path in python_files():
        relative = path.relative_to(PACKAGE).as_posix()
        for name in python_imports(path):
            top = name.split(".")[0]
            if top in DEBUGGER_IMPORTS and not relative.startswith(DEBUGGER_IMPORTS[top]):
                wrong.append(f"{relative} imports {top}")
    assert wrong == []


def test_commands_and_reports_do_not_import_an_adapter() -> None:
    wrong = []
    for path in python_files():
        relative = path.relative_to(PACKAGE).as_posix()
        if relative.split("/")[0] in ("commands", "printers", "report"):
            wrong += [
                f"{relative} imports {name}"
                for name in python_imports(path)
                if re.match(r"mpi_queues\.(gdb|lldb)\b", name)
            ]
    assert wrong == []


def test_reports_and_printers_know_no_debugger_and_no_command() -> None:
    wrong = []
    for path in sorted(path for folder in ("page", "report", "printers") for path in (PACKAGE / folder).rglob("*.py")):
        wrong += [
            f"{path.name} imports {name}"
            for name in python_imports(path)
            if name.startswith(
                ("mpi_queues.debuggers", "mpi_queues.gdb", "mpi_queues.lldb", "mpi_queues.commands", "mpi_queues.cli")
            )
        ]
    assert wrong == []


def test_no_files_import_each_other_in_a_circle() -> None:
    assert circle({"a": {"b", "d"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["b", "c", "b"]
    assert circle(imports_between_files()) is None


#: Folders and files from the lowest on; each imports those of its own row and of rows above it only. A file's own name
#: goes before that of its folder.
LEVELS = (
    ("errors", "handle_types"),
    ("system",),
    ("launchers", "mpi2dd.directories", "mpi2dd.types", "request"),
    ("report", "nodes"),
    ("page",),
    ("printers", "recordings", "targets"),
    ("pages",),
    ("debuggers", "cores"),
    ("native", "elsewhere", "many_nodes"),
    ("asking",),
    ("recorded_ranks",),
    ("commands", "mpi2dd"),
    ("gdb", "lldb", "api"),
    ("watching",),
    ("starting", "jobs", "testing"),
    ("cli", "pytest_plugin"),
)


def level(name: str) -> int:
    """The row of a file, by its dotted name."""
    parts = name.split(".")[1:]
    prefixes = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next(row for prefix in prefixes for row, names in enumerate(LEVELS) if prefix in names)


def test_imports_go_down() -> None:
    wrong = [
        f"{name} imports {one}"
        for name, imported in imports_between_files().items()
        if not name.startswith("mpi_queues.data.")
        for one in sorted(imported)
        if level(one) > level(name)
    ]
    assert wrong == []


def test_the_package_needs_only_the_standard_library() -> None:
    # gdb's own Python has no third-party packages.
    import sys

    wrong = []
    for path in python_files():
        for name in python_imports(path):
            top = name.split(".")[0]
            if top == "pytest" and path.name == "pytest_plugin.py":
                # pytest itself loads that one.
                continue
            if top not in {"mpi_queues", *DEBUGGER_IMPORTS} and top not in sys.stdlib_module_names:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {top}")
    assert wrong == []


def test_no_two_test_files_have_one_name() -> None:
    """pytest imports test files by their name alone: of two with one name it stops at the second, after the build."""
    names = [path.name for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []
