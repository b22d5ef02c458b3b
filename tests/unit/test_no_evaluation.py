"""Where text reaches a debugger's parser of expressions or of commands: a short list, and nothing of a target in it.

Sources, debug information, names, recordings and environments say what strangers wrote. gdb's expressions run commands
(``$_shell``), write variables and registers; its commands do anything. So no text of a target may get there, whatever
filter stands before it.
"""

from __future__ import annotations

import ast
import pathlib
from typing import Iterator, List, Set, Tuple

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "mpi_queues"

#: What takes text apart as a debugger's expression or command.
TAKES_TEXT = {
    "execute",
    "parse_and_eval",
    "EvaluateExpression",
    "HandleCommand",
    "HandleCommandsFromFile",
    "HandleCompletion",
    "GetValueForVariablePath",
    "CreateValueFromExpression",
    "GetValueForExpressionPath",
    "string_to_argv",
    "set_parameter",
}

#: Where such text is made of more than constants, and of what: what the user typed, numbers, or names of our own.
MADE_OF: Set[Tuple[str, str, str]] = {
    # Numbers of processes and inferiors.
    ("gdb/child.py", "execute", "inferior {new}"),
    ("gdb/child.py", "execute", "detach inferiors {inferior.num}"),
    ("gdb/jobs.py", "execute", "{how} inferiors {number}"),
    ("gdb/jobs.py", "execute", "remove-inferiors {number}"),
    ("gdb/jobs.py", "execute", "{how} -no-connection"),
    ("gdb/jobs.py", "execute", "inferior {inferior.num}"),
    ("gdb/stacks.py", "execute", "inferior {inferior.num}"),
    ("gdb/calls.py", "execute", "info symbol {address:#x}"),
    ("gdb/files.py", "execute", "attach {pid}"),
    # A core file and its executable: names of letters and digits, else links of ours to the open files.
    ("gdb/child.py", "execute", "file {command_path(exe)}"),
    ("gdb/child.py", "execute", "core-file {command_path(core)}"),
    # Links of ours to the files that a process runs; a pattern of letters, digits and points.
    ("gdb/files.py", "execute", "file {link}"),
    ("gdb/files.py", "execute", "file {path}"),
    ("gdb/files.py", "execute", "add-symbol-file {path} -o {files.bias(one.image):#x}"),
    ("gdb/files.py", "execute", "sharedlibrary {pattern}"),
    # Handed on by those above.
    ("gdb/text.py", "execute", "command"),
    # gdb's own settings, by names and values of ours or of gdb.
    ("gdb/expressions.py", "execute", "set {name} off"),
    ("gdb/expressions.py", "execute", "set {name} on"),
    ("gdb/quiet.py", "execute", "set {name} {value}"),
    ("gdb/settings.py", "execute", "show mpi {name}"),
    # What the user typed: expressions, commands for all ranks, the launcher and its arguments, what to complete.
    ("gdb/expressions.py", "parse_and_eval", "expression"),
    ("gdb/commands.py", "execute", "complete {typed}{expression}"),
    ("gdb/jobs.py", "execute", "command"),
    ("gdb/launch.py", "execute", "command"),
    ("gdb/launch.py", "execute", "file {programs.quoted(path)}"),
    ("gdb/launch.py", "execute", "set args {' '.join([*map(shlex.quote, before), arguments])}"),
    ("lldb/jobs.py", "HandleCommand", "command"),
    # The same, handed on between files of ours.
    ("commands/foreach.py", "execute", "pid"),
    ("commands/launch.py", "execute", "pid"),
    ("commands/launch.py", "execute", "entry.pid"),
    # Our own registrations.
    ("lldb/commands.py", "HandleCommand", "(itself)"),
    # Variables of MPIR and plug-ins' symbols: names that hold nothing but letters, digits and underscores.
    ("gdb/events.py", "parse_and_eval", "&{name}"),
    ("gdb/adapter.py", "execute", "info address {name}"),
}


def texts(path: pathlib.Path) -> Iterator[Tuple[str, str]]:
    """Each use of what takes text: its name, and the text where it is no constant."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called: Set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TAKES_TEXT:
            called.add(id(node.func))
            first = node.args[0] if node.args else None
            if not isinstance(first, ast.Constant):
                yield node.func.attr, shown(first)
    for node in ast.walk(tree):
        # Taken as a value, to be called elsewhere.
        if isinstance(node, ast.Attribute) and node.attr in TAKES_TEXT and id(node) not in called:
            yield node.attr, "(itself)"


def shown(node: ast.AST | None) -> str:
    if node is None:
        return ""
    text = ast.unparse(node)
    return text[2:-1] if isinstance(node, ast.JoinedStr) else text


def test_no_text_of_a_target_reaches_a_debugger() -> None:
    found = {
        (path.relative_to(PACKAGE).as_posix(), name, text)
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, text in texts(path)
    }
    assert sorted(found - MADE_OF) == []
    # Nothing stays in the list that is not there any more.
    assert sorted(MADE_OF - found) == []


def test_a_text_that_is_made_is_seen(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "made.py"
    source.write_text('gdb.execute(f"file {path}")\ngdb.execute("info files")\nrun = gdb.parse_and_eval\nrun(x)\n')
    seen: List[Tuple[str, str]] = list(texts(source))
    assert seen == [("execute", "file {path}"), ("parse_and_eval", "(itself)")]
