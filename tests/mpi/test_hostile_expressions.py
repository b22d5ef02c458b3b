"""What stands in a program's source is data: no text of it is run, whatever it looks like.

A harmless program is compiled; then its source is changed, with an old time stamp, so that the calls in which its ranks
wait have hostile arguments, and is looked at. Whatever had been run would have left a file behind, changed a
variable, or a register, without which the rank would not end as it should.
"""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import shutil
import subprocess
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence

import pytest
from support import cli, priority, processes
from support.builds import LANGUAGES, PROGRAMS, MpiBuild

RANKS = 4
#: Arguments of MPI_Sendrecv, in C and in Fortran without ierror.
ARGUMENTS = 12

#: MARK: a file that must not appear.
_DEBUGGER = (
    '$_shell("touch MARK")',
    '$_gdb_setting("shell touch MARK")',
    '$_gdb_setting_str("logging file")',
    "$_as_string(n)",
    "$rax",
    "$pc",
    "$1",
    "$_exitcode",
    "$__",
    '$_mpi_comm("world")',
    "$_any_caller_is(n)",
)
_ASSIGNED = (
    "$x = 4711",
    "$rax = 4711",
    "$rip = 0",
    "$pc = 0",
    "$sp = 0",
    "$fs_base = 0",
    "$_siginfo = 0",
)
_COMMANDS = (
    "!touch MARK",
    "|touch MARK",
    "`touch MARK`",
    "shell touch MARK",
    "n\\nshell touch MARK",
    'python open("MARK", "w")',
    "platform shell touch MARK",
    'expression -- (int)system("touch MARK")',
    '"n" + $_shell("touch MARK")',
)
C_ATTACKS = (
    *_DEBUGGER,
    *_ASSIGNED,
    *_COMMANDS,
    "victims[0] = 666",
    "victims[1]++",
    "--victims[2]",
    "victims[3] += 5",
    "*(&victims[0]) = 7",
    "*&n = 9",
    "pair.first = 1",
    "pair.next->first <<= 1",
    "(n = 0)",
    'system("touch MARK")',
    '((int (*)(const char *))system)("touch MARK")',
    '(*system)("touch MARK")',
    "abort()",
    "raise(9)",
    "exit(3)",
    "_exit(3)",
    "fork()",
    "malloc(1 << 30)",
    "({ victims[0] = 9; 1; })",
    "victims@100000000",
    "n@entry",
    "{int} 0",
    "'expressions.c'::n = 5",
    "EVIL",
    "OTHER_EVIL",
    "EVIL_CALL",
    "sizeof(victims[0]++)",
    "&n = 0",
    '"text"[$_shell("touch MARK")]',
    "L'x' = $rip",
    "'\\'' + $rip",
    "'\\\\' + $rip + '\\\\'",
    "0'1 + $_shell(\"touch MARK\") + 0'1",
    "0'1 + ($fs_base = 0) + 0'1",
    "0'1 + abort() + 0'1",
    "'\"' + $_shell(\"touch MARK\") + '\"'",
    "n /= 0",
    "1e9999999",
    "99999999999999999999999999",
    "n << 99999999",
    "n ? ($pc = 0) : ($sp = 0)",
    "((((((((((" * 8 + "n" + "))))))))))" * 8,
    "n" * 3000,
    "victims" + "[0]" * 300,
)
C_AROUND = ("{}", "(int)({})", "victims[{}]", "n ? {} : 0", "1 + ({}) * 2")
CXX_ATTACKS = (
    "touch()",
    "this->touch()",
    "grid.touch()",
    "(*this)",
    "(int)*this",
    "static_cast<int>(*this)",
    "int(touch())",
    "victims.at(0)",
    "victims.at(0) = 1",
    "victims[0] = 1",
    "victims.clear()",
    "victims.begin()",
    "victims.data()[0] = 1",
    "victims.size() = $pc",
    "*this + 1",
    "new int(5)",
    "delete this",
    "throw 1",
    "[&] { return touch(); }()",
    'std::system("touch MARK")',
    "::abort()",
    "std::vector<int>(5).data()",
    "dynamic_cast<int>(touch())",
    "typeid(n)",
    "reinterpret_cast<int>($fs_base = 0)",
    "operator int()",
    "grid.operator int()",
    '"x"_s + $_shell("touch MARK")',
    "1'000 + $_shell(\"touch MARK\") + 1'000",
    "L'\"' + $_shell(\"touch MARK\") + L'\"'",
)
FORTRAN_ATTACKS = (
    *_DEBUGGER,
    *_ASSIGNED,
    "|touch MARK",
    "`touch MARK`",
    "(n = 666)",
    "victims(1) = 666",
    "victims(1:2) = 0",
    "(victims = 0)",
    "system('touch MARK')",
    "execute_command_line('touch MARK')",
    "exit(3)",
    "abort()",
    "kill(0)",
    "n ; call abort()",
    "'a' // $_shell(\"touch MARK\")",
    "n + $_shell('touch MARK')",
    "-(n = 5)",
    ".not. $rax",
    "n .and. ($pc = 0)",
    "(/ 1 /)",
    "[n]",
    "loc(n)",
    "c_loc(n)",
    "real(n)",
    "char(n) = 1",
    "n @ 5",
    "(n + 1) ** 99999999",
    "2 ** 2 ** 2 ** 2 ** 2 ** 2 ** 2",
    "victims(99999999)",
    "victims(1)(2)",
    "victims($pc = 0)",
    "victims(1:$_shell('touch MARK'))",
    "size(victims = 0)",
    "mod($fs_base = 0)",
    "merge($rip = 0)",
    "grid::n = 5",
    "n % x = 1",
    "*n = 0",
    "((((((((((" * 8 + "n" + "))))))))))" * 8,
    "n" * 3000,
)
FORTRAN_AROUND = ("{}", "1 + ({})", "victims({})", "-({}) * 2")


def all_of(attacks: Sequence[str], around: Sequence[str], wanted: int) -> List[str]:
    """So many expressions: each attack by itself first, then inside of others."""
    found = [form.format(attack) for form in around for attack in attacks]
    return list(dict.fromkeys(found))[:wanted]


class Language(NamedTuple):
    source: str
    expressions: List[str]


LANGUAGES_TRIED = (
    Language("expressions.c", all_of(C_ATTACKS, C_AROUND, 108)),
    Language("expressions.cc", all_of(CXX_ATTACKS, ("{}", "victims[{}]"), 36)),
    Language("expressions.f90", all_of(FORTRAN_ATTACKS, FORTRAN_AROUND, 72)),
)


def test_there_are_200_hostile_expressions() -> None:
    assert sum(len(language.expressions) for language in LANGUAGES_TRIED) >= 200


class Hostile:
    """A job whose source can be changed while it waits."""

    def __init__(self, build: MpiBuild, directory: pathlib.Path, language: Language) -> None:
        self.expressions = language.expressions
        self.source = directory / language.source
        shutil.copyfile(PROGRAMS / "hostile" / language.source, self.source)
        self.harmless = self.source.read_text()
        self.mark, self.go = directory / "mark", directory / "go"
        compiler, flags = LANGUAGES[self.source.suffix]
        command = build.mpicc.with_name(build.mpicc.name.replace("mpicc", compiler))
        subprocess.run([command, *flags, "-O0", self.source.name, "-o", "program"], check=True, cwd=directory)
        self.built = os.stat(directory / "program").st_mtime
        # Whatever runs a command by a shell runs this one, which says so.
        self.shell = directory / "shell"
        self.shell.write_text(f"#!/bin/sh\ntouch {self.mark}\n")
        self.shell.chmod(0o755)
        self.job = priority.Job(directory / "program", ranks=RANKS, args=[str(self.go)], launcher=build.mpirun)

    def write(self, expressions: Sequence[str]) -> None:
        """Gives the calls of ranks 1 to 3 these arguments."""
        evil = '$_shell("touch MARK")'
        definitions = f"#define EVIL {evil}\n#define OTHER_EVIL (victims[0] = 1)\n#define EVIL_CALL abort()"
        lines = self.harmless.splitlines()
        end = " &" if self.source.suffix == ".f90" else ""
        for rank in range(1, RANKS):
            given = expressions[(rank - 1) * ARGUMENTS : rank * ARGUMENTS]
            at = next(at for at, line in enumerate(lines) if line.rstrip().endswith((f"/* {rank} */", f"! {rank}")))
            lines[at] = ", ".join(given) + (", ierror" if end else "") + end
        # All in one line, so that the others keep their numbers.
        at = next((at for at, line in enumerate(lines) if line == "/* DEFINITIONS */"), None)
        if at is not None:
            lines[at - 1 : at + 2] = definitions.splitlines()
        assert len(lines) == len(self.harmless.splitlines())
        self.source.write_text(self.marked("\n".join(lines)) + "\n")
        os.utime(self.source, (self.built - 10, self.built - 10))

    def marked(self, text: str) -> str:
        """A text with the path of the file that must not appear."""
        return text.replace("MARK", str(self.mark))

    def look(self) -> Dict[int, Dict[str, Any]]:
        """The calls of ranks 1 to 3."""
        environment = {"SHELL": str(self.shell)}
        command = ("show", *cli.pid_options(self.job.pids[1:]), "--format", "json", "--timeout", "120")
        result = cli.mpi_queues(*command, environment=environment)
        assert result.status == 0, str(result)
        return {process["rank"]: process["calls"][0] for process in json.loads(result.out)["processes"]}


@pytest.fixture(params=LANGUAGES_TRIED, ids=lambda language: language.source.rpartition(".")[2])
def hostile(request: pytest.FixtureRequest, debian_mpi: MpiBuild, tmp_path: pathlib.Path) -> Iterator[Hostile]:
    program = Hostile(debian_mpi, tmp_path, request.param)
    yield program
    program.job.end()


@pytest.mark.slow
def test_no_text_of_a_source_is_run(hostile: Hostile) -> None:
    processes.wait_until(lambda: in_their_calls(hostile), "ranks 1 to 3 in MPI_Sendrecv")
    a_look = (RANKS - 1) * ARGUMENTS
    for begin in range(0, len(hostile.expressions), a_look):
        # The last look has the first ones again.
        wanted = list(itertools.islice(itertools.cycle(hostile.expressions[begin:] + hostile.expressions), a_look))
        hostile.write(wanted)
        for rank, call in hostile.look().items():
            check(call, wanted[(rank - 1) * ARGUMENTS : rank * ARGUMENTS], hostile)
        assert not hostile.mark.exists(), wanted
    hostile.go.touch()
    processes.wait_until(lambda: all(outputs(hostile)), "the ends of the ranks")
    assert outputs(hostile) == ["kept"] * (RANKS - 1)


def in_their_calls(hostile: Hostile) -> bool:
    calls = hostile.look().values()
    return len(calls) == RANKS - 1 and all("sendrecv" in call["function"].lower() for call in calls)


def outputs(hostile: Hostile) -> List[str]:
    """What each of the ranks 1 to 3 says at its end, empty before."""
    texts = [(hostile.job.directory / f"stdout.{rank}").read_text() for rank in range(1, RANKS)]
    return [text.partition("ready")[2].strip() for text in texts]


def check(call: Dict[str, Any], wanted: Sequence[str], hostile: Hostile) -> None:
    """Each expression was looked at, and none has a value."""
    assert call.get("arguments"), (call.get("arguments_unknown"), wanted)
    found = [one for one in call["arguments"] if one["name"] != "ierror"]
    assert [one["expression"] for one in found] == [" ".join(hostile.marked(text).split()) for text in wanted]
    for one in found:
        assert one["value"] is None and one["unknown"], one
