"""Which module may import which: the table of ARCHITECTURE.md, checked against the imports that are there."""

from __future__ import annotations

import ast
import pathlib
import re
from typing import Dict, Iterator, List, Set, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "mpi_queues"

#: Rust: everyone may import these two.
RUST_COMMON = {"address", "model"}
#: What else each module may import.
_BELOW_SESSION = {"target", "layouts", "recording", "ffi", "mqs", "handles", "readers", "acquisition", "analysis"}
RUST_ALLOWED: Dict[str, Set[str]] = {
    "address": set(),
    "model": set(),
    "target": set(),
    "ffi": {"layouts", "target"},
    "layouts": {"target"},
    "recording": {"layouts", "target"},
    "frames": {"layouts", "target"},
    "readers": {"layouts", "target"},
    "acquisition": {"layouts", "target"},
    "mqs": {"acquisition", "ffi", "layouts", "target"},
    "handles": {"ffi", "layouts", "target"},
    "analysis": set(),
    "session": _BELOW_SESSION,
    "python": _BELOW_SESSION | {"frames", "session"},
}

#: Python files that may import a debugger's module.
DEBUGGER_IMPORTS = {
    "gdb": {
        "debuggers/gdb_adapter.py",
        "debuggers/gdb_stacks.py",
        "debuggers/gdb_calls.py",
        "debuggers/gdb_child.py",
        "debuggers/gdb_commands.py",
        "debuggers/gdb_expressions.py",
        "debuggers/gdb_events.py",
        "debuggers/gdb_handles.py",
        "debuggers/gdb_jobs.py",
        "debuggers/gdb_launch.py",
        "debuggers/gdb_quiet.py",
        "debuggers/gdb_printers.py",
        "debuggers/gdb_sessions.py",
        "debuggers/gdb_settings.py",
        "debuggers/gdb_types.py",
        "data/gdb-scripts/mpi_queues.py",
    },
    "lldb": {
        "debuggers/lldb_calls.py",
        "debuggers/lldb_child.py",
        "debuggers/lldb_adapter.py",
        "debuggers/lldb_commands.py",
        "debuggers/lldb_expressions.py",
        "debuggers/lldb_formatters.py",
        "debuggers/lldb_handles.py",
        "debuggers/lldb_jobs.py",
        "debuggers/lldb_launch.py",
        "debuggers/lldb_print.py",
        "debuggers/lldb_stacks.py",
        "debuggers/lldb_types.py",
        "data/lldb-scripts/mpi_queues.py",
    },
}


def strip_rust(text: str) -> str:
    """The code without comments and string contents."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', text, flags=re.S)


def rust_imports() -> Iterator[Tuple[pathlib.Path, str, str]]:
    """Each use of another top-level module: the file, its own module, the other one."""
    for path in sorted((ROOT / "src").rglob("*.rs")):
        module = path.relative_to(ROOT / "src").parts[0].removesuffix(".rs")
        text = strip_rust(path.read_text(encoding="utf-8"))
        for match in re.finditer(r"\bcrate::(?:\{([^;]*?)\}\s*;|([A-Za-z_][A-Za-z0-9_]*))", text, re.S):
            grouped, single = match.groups()
            if single:
                names = [single]
            else:
                # `use crate::{a::{b, c}, d}`: names at the first level only.
                flat = grouped
                while re.search(r"\{[^{}]*\}", flat):
                    flat = re.sub(r"\{[^{}]*\}", "", flat)
                names = [part.strip().split("::")[0] for part in flat.split(",") if part.strip()]
            for name in names:
                yield path.relative_to(ROOT), module, name


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


def test_rust_modules_import_only_what_they_may() -> None:
    wrong = []
    for path, module, name in rust_imports():
        if module == "lib" or name == module or name in RUST_COMMON or not name.islower():
            continue
        if module not in RUST_ALLOWED:
            wrong.append(f"{path}: the module {module} is not in the table")
        elif name in RUST_ALLOWED and name not in RUST_ALLOWED[module]:
            wrong.append(f"{path}: {module} must not import {name}")
    assert wrong == []


def test_only_adapters_and_loaders_import_a_debugger() -> None:
    wrong = []
    for path in python_files():
        relative = path.relative_to(PACKAGE).as_posix()
        for name in python_imports(path):
            top = name.split(".")[0]
            if top in DEBUGGER_IMPORTS and relative not in DEBUGGER_IMPORTS[top]:
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
                if re.match(r"mpi_queues\.debuggers\.(gdb|lldb)", name)
            ]
    assert wrong == []


def test_reports_and_printers_know_no_debugger_and_no_command() -> None:
    wrong = []
    for path in sorted([*(PACKAGE / "report").rglob("*.py"), *(PACKAGE / "printers").rglob("*.py")]):
        wrong += [
            f"{path.name} imports {name}"
            for name in python_imports(path)
            if name.startswith(("mpi_queues.debuggers", "mpi_queues.commands", "mpi_queues.cli"))
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
