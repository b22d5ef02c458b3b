"""Stacks as gdb's own ``bt`` has them: the same functions, files and lines."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import List, Optional, Sequence, Tuple

import pytest
from debuggers import DEBUGGERS
from support import processes
from support.cli import mpi_queues

HEADER = "static inline void wait_here(void) { pause(); }\n"
C = '#include <unistd.h>\n#include "wait.h"\nint main(int c, char **v) { if (c > 1) wait_here(); pause(); return 0; }\n'
CXX = """
#include <unistd.h>
#include <functional>
namespace grid {
template <class T> struct Box {
    template <class U> __attribute__((noinline)) void wait(U) const { pause(); }
    void operator()(int x) const { wait<long>(x); }
    operator bool() { (*this)(1); return true; }
};
}
namespace { __attribute__((noinline)) bool hidden(void (*)(int)) { grid::Box<double> box; return bool(box); } }
#ifdef LAMBDA
int main() { std::function<void()> call = [] { hidden(nullptr); }; call(); return 0; }
#else
int main() { return hidden(nullptr); }
#endif
"""
FORTRAN = """
module grid
contains
subroutine exchange()
  interface
    subroutine pause() bind(c, name="pause")
    end subroutine
  end interface
  call pause()
end subroutine
end module
program solver
  use grid
#ifdef NESTED
  call inner()
contains
  subroutine inner()
    call exchange()
  end subroutine
#else
  call exchange()
#endif
end program
"""

#: Directory of compilation, the source's name there, compiler, options, arguments of the program.
CASES = [
    ("src", "main.c", "gcc", ("-g",), ()),
    ("build", "../src/main.c", "gcc", ("-g", "-O2"), ("x",)),
    ("build", "BASE/src/main.c", "gcc", ("-g", "-gdwarf-4"), ("x",)),
    ("", "./src/../src/main.c", "gcc", ("-g", "-gdwarf-4", "-O2"), ("x",)),
    ("src", "main.c", "gcc", ("-g", "-ffile-prefix-map=BASE/src=."), ("x",)),
    ("src", "main.c", "gcc", ("-O2",), ()),
    ("src", "main.c", "gcc", ("-O2", "-s"), ()),
    ("src", "main.cc", "g++", ("-g", "-DLAMBDA"), ()),
    ("src", "main.cc", "g++", ("-g", "-O1"), ()),
    ("src", "main.cc", "g++", (), ()),
    ("src", "main.F90", "gfortran", ("-g", "-DNESTED"), ()),
    ("build", "../src/main.F90", "gfortran", ("-g", "-O1", "-fno-inline"), ()),
    ("src", "main.F90", "gfortran", (), ()),
]

#: gdb's own frames, down to main.
BACKTRACE = """
import gdb, json
frame, found = gdb.newest_frame(), []
while frame is not None:
    place = frame.find_sal()
    known = place.symtab is not None and place.line > 0
    found.append([frame.name(), place.symtab.filename if known else None, place.line if known else None])
    frame = frame.older()
print(json.dumps(found))
"""

#: Function, source file and line.
Frame = Tuple[Optional[str], Optional[str], Optional[int]]


def of_gdb(pid: int, directory: pathlib.Path) -> List[Frame]:
    script = directory / "backtrace.py"
    script.write_text(BACKTRACE)
    told = DEBUGGERS[0].run(f"attach {pid}", f"source {script}")[1]
    return [tuple(frame) for frame in json.loads(told)]


def of_ours(pid: int) -> List[Frame]:
    """The frames of the only thread, which is complete."""
    result = mpi_queues("stacks", "--pid", str(pid), "--threads", "--internal", "--format", "json")
    (found,) = json.loads(result.out)["processes"][0]["stacks"]
    assert found["thread"] == 1 and found["complete"] and found["main"] is True, found
    assert all(frame["image"] for frame in found["frames"])
    return [(frame["function"], frame["file"], frame["line"]) for frame in found["frames"]]


@pytest.mark.parametrize(("directory", "name", "compiler", "flags", "arguments"), CASES)
@pytest.mark.usual("src-main.c-gcc-flags0-arguments0", "build-../src/main.F90-gfortran-flags11-arguments11")
def test_the_same_stack(
    tmp_path: pathlib.Path,
    preflight: None,
    directory: str,
    name: str,
    compiler: str,
    flags: Sequence[str],
    arguments: Sequence[str],
) -> None:
    for part in ("src", "build"):
        (tmp_path / part).mkdir()
    for file, text in {"wait.h": HEADER, "main.c": C, "main.cc": CXX, "main.F90": FORTRAN}.items():
        (tmp_path / "src" / file).write_text(text)
    program = tmp_path / "program"
    words = [word.replace("BASE", str(tmp_path)) for word in (name, *flags)]
    subprocess.run([compiler, "-o", program, *words], check=True, cwd=tmp_path / directory)
    child = subprocess.Popen([program, *arguments])
    try:
        processes.wait_until(lambda: "pause" in pathlib.Path(f"/proc/{child.pid}/wchan").read_text(), "pause()")
        gdb, ours = of_gdb(child.pid, tmp_path), of_ours(child.pid)
    finally:
        child.kill()
        child.wait()
    gdb, ours = up_to_main(gdb), up_to_main(ours)
    assert [frame[1:] for frame in ours] == [frame[1:] for frame in gdb]
    for (name_of_ours, *_), (name_of_gdb, *_) in zip(ours, gdb):
        # Of C++ gdb may tell parameters, and what a template's function returns.
        assert (name_of_ours or "") in (name_of_gdb or ""), (name_of_ours, name_of_gdb)
    if "-g" in flags:
        assert any((file or "").endswith(pathlib.PurePath(name).name) for _, file, _ in gdb)


def up_to_main(frames: List[Frame]) -> List[Frame]:
    """Without the main that the compiler makes, behind which gdb does not look."""
    return [frame for frame in frames if frame[:2] != ("main", None)]
