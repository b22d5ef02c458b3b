"""No decision is made on a sentence: the words that people read can be changed without changing what is found.

Comparisons with literals are looked at in the product's own files. What others write (compilers, debuggers, launchers,
the kernel, MPI's names) may be compared; each such place stands here with who writes it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Iterator, List, Set, Tuple

ROOT = Path(__file__).resolve().parents[2]

#: Words that people read: two of them, one of only small letters, or a piece of a sentence.
PROSE = re.compile(r"(?:^|[^a-zA-Z_])[a-z]{2,} (?:[a-z]|$)|^[a-z]{3,}$|[a-z]{2,}, |[a-z]: $")

#: What Rust asks of a text with a literal.
RUST = re.compile(
    r"(?:\.(?:contains|starts_with|ends_with|strip_prefix|strip_suffix|find|split_once|rsplit_once|trim_start_matches|"
    r'trim_end_matches|eq_ignore_ascii_case)\(|[!=]= )"((?:[^"\\]|\\.)*)"'
)

#: A branch of Rust's ``match`` on a text of more than one word.
ARM = re.compile(r'^\s*(?:\| )?(?:(?:Some|Ok)\()?"((?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*)"[^\n;{]*=>', re.MULTILINE)

#: An error that is a text: it can be searched (crate ``reason`` has a type for it).
TEXT_AS_ERROR = re.compile(r"Result<[^;{=]*, String>")

#: What Python asks of a text with a literal.
METHODS = frozenset(
    ("startswith", "endswith", "find", "rfind", "removeprefix", "removesuffix", "partition", "rpartition")
)

#: Places and literals that are no words of ours.
OTHERS: Set[Tuple[str, str]] = {
    # Names of MPI's in C++ and of its parameters.
    ("crates/functions/src/names.rs", "comm"),
    ("crates/session/src/calls.rs", "comm"),
    ("crates/readers/src/datatypes/sketch.rs", "blocklength"),
    # Words of C and of its preprocessor.
    ("crates/calls/src/expression/c_grammar.rs", "sizeof"),
    ("crates/calls/src/source/constant.rs", "const"),
    ("crates/calls/src/source/constant.rs", "long"),
    ("crates/calls/src/source/constant.rs", "unsigned"),
    ("crates/variables/src/scope.rs", "this"),
    ("crates/variables/src/scope.rs", "void"),
    ("crates/calls/src/source/macros.rs", "define"),
    ("crates/calls/src/source/macros.rs", "ifndef"),
    # Text of extra_text in an older JSON becomes a type here.
    ("crates/model/src/remark.rs", " (tag "),
    # Words of JSON Schema.
    ("crates/model/src/schema.rs", "description"),
    # Types as compilers and plug-ins name them.
    ("crates/plugins/src/host/answers.rs", "struct "),
    ("python/mpi_queues/printers/names.py", "struct "),
    ("python/mpi_queues/printers/names.py", "class "),
    # Files of libraries, and what libraries call their own parts.
    ("crates/python/src/find.rs", "libpython"),
    ("crates/python/src/find.rs", "python"),
    ("crates/python/src/places.rs", "<frozen "),
    ("crates/python/src/places.rs", "<frozen runpy>"),
    ("crates/readers/src/openmpi/detect.rs", "ompi"),
    # What plug-ins of vendors say of an operation.
    ("crates/plugins/src/mqs/openmpi/texts.rs", "Data: "),
    ("crates/plugins/src/mqs/openmpi/texts.rs", " instances of MPI datatype"),
    # Rust's standard library, where Python has no number in its message.
    ("crates/target/src/files/mod.rs", " (os error"),
    # What the kernel says of a thread (proc(5), /proc/PID/syscall).
    ("crates/calls/src/system_calls.rs", "running"),
    # What gdb and lldb say.
    ("python/mpi_queues/gdb/values.py", "optimized out"),
    ("python/mpi_queues/lldb/handles.py", "error: "),
    ("python/mpi_queues/lldb/jobs.py", "error: "),
    ("python/mpi_queues/lldb/print.py", "fortran"),
    ("python/mpi_queues/lldb/values.py", "optimized out"),
    ("python/mpi_queues/lldb/values.py", "not available"),
    # Commands and process groups of launchers.
    ("python/mpi_queues/launchers/programs.py", "prterun"),
    ("python/mpi_queues/launchers/worlds.py", "process group 1"),
    # What users type.
    ("python/mpi_queues/cli/show.py", "plugin"),
}


#: Files that take programs' sources apart: their words are those of C, C++ and Fortran.
SOURCES = (
    "crates/calls/src/source/flow/",
    "crates/calls/src/source_calls/",
    "crates/calls/src/expression/object.rs",
    "crates/variables/src/plain_types.rs",
)


def rust_files() -> Iterator[Tuple[Path, str]]:
    """The product's files of Rust, without their tests."""
    for path in sorted([*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("src/**/*.rs")]):
        name = str(path.relative_to(ROOT))
        if (
            "/made-up/" not in name
            and path.name != "tests.rs"
            and "/src/libfabric/tests/" not in name
            and not name.startswith(SOURCES)
        ):
            yield path, path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]


def of_rust() -> Iterator[Tuple[str, str]]:
    for path, text in rust_files():
        for pattern in (RUST, ARM):
            yield from ((str(path.relative_to(ROOT)), found[1]) for found in pattern.finditer(text))


def texts(node: ast.AST) -> List[str]:
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def compared(node: ast.AST) -> Iterator[str]:
    """The literals with which a text is compared; a single word that equals one is a word of a JSON or an option."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
        for argument in node.args:
            yield from texts(argument)
    if isinstance(node, ast.Compare):
        for operator, right in zip(node.ops, node.comparators):
            if isinstance(operator, (ast.Eq, ast.NotEq)):
                yield from (text for text in [*texts(node.left), *texts(right)] if " " in text)
            elif isinstance(operator, (ast.In, ast.NotIn)):
                # A word that is looked for in a name that is no text is a key.
                yield from (text for text in texts(node.left) if " " in text)


def of_python() -> Iterator[Tuple[str, str]]:
    for path in sorted(ROOT.glob("python/mpi_queues/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield from ((str(path.relative_to(ROOT)), text) for text in compared(node))


def test_no_decision_is_made_on_a_sentence() -> None:
    found = {one for one in [*of_rust(), *of_python()] if PROSE.search(one[1])}
    assert found - OTHERS == set(), "give what is decided a type, and make the text of it where it is shown"
    assert OTHERS - found == set(), "these stand here and no longer in the files"


def test_no_error_is_a_text() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path, text in rust_files()
        for line in text.splitlines()
        if TEXT_AS_ERROR.search(line) and "Result<String, " not in line
    }
    assert found == set(), "use Reason, or an enum where code decides which error it is"


def test_what_would_be_found() -> None:
    for text in ("perhaps ", "unexpected", "could not be read", "the type MPI", "traced by pid", "status: "):
        assert PROSE.search(text), text
    for text in ("mpi_", "MPI_Win_", "_f08", "profile:", "libmpi_abi.so", ".got", "-n", "\n", "OMPI_MCA_"):
        assert not PROSE.search(text), text
    (one,) = RUST.finditer('summary.starts_with("perhaps ")')
    assert one[1] == "perhaps "
    (one,) = ARM.finditer('match text {\n    Some("not known") if late => 1,\n')
    assert one[1] == "not known"
    assert TEXT_AS_ERROR.search("fn read(&self) -> Result<Option<u64>, String> {")
    (node,) = ast.parse('text.startswith(("unexpected", "pending"))').body
    assert [text for inner in ast.walk(node) for text in compared(inner)] == ["unexpected", "pending"]
