"""The stacks of both debuggers: the same functions, files and lines.

lldb reads no functions of Fortran, so it does not see those that were inlined; without debug information the two
write lambdas differently; and lldb 19 may lose its way in what g++ -O2 makes of exceptions. None is tested here."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any, Dict, List, Sequence

import pytest
from debuggers import DEBUGGERS, Gdb
from support import processes

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

ASK = {
    "gdb": "from mpi_queues.gdb.adapter import GdbProcess as P; p = P(gdb.selected_inferior())",
    "lldb": "from mpi_queues.lldb.adapter import LldbProcess as P; "
    "p = P(lldb.debugger.GetSelectedTarget().GetProcess())",
}


def stack(debugger: Gdb, pid: int, directory: pathlib.Path) -> List[Dict[str, Any]]:
    """The frames of the only thread, which is complete."""
    out = directory / f"stacks.{debugger.name}"
    script = "python" if debugger.name == "gdb" else "script"
    ask = (
        f"{ASK[debugger.name]}; import json; open({str(out)!r}, 'w').write(json.dumps([p.stacks(), p.stacks_complete]))"
    )
    debugger.run(*debugger.attach(pid), f"{script} {ask}")
    (found,), complete = json.loads(out.read_text())
    assert found["thread"] == 1
    assert found["complete"], found
    assert complete
    assert found["main"] is True and found["system_call"]["name"] == "pause" and found["system_call"]["waits"], found
    frames: List[Dict[str, Any]] = found["frames"]
    # One debugger tells /lib, the other /usr/lib; what counts is that there is a file.
    return [{**frame, "image": pathlib.PurePath(frame["image"]).name} for frame in frames]


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
        gdb, lldb = [stack(one, child.pid, tmp_path) for one in DEBUGGERS]
    finally:
        child.kill()
        child.wait()
    assert up_to_main(gdb) == up_to_main(lldb)
    if "-g" in flags:
        assert any((frame["file"] or "").endswith(pathlib.PurePath(name).name) for frame in gdb)


def up_to_main(frames: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Without what stands before main: gdb shows that of a Fortran program. gdb 16 writes the type of a function as the
    compiler does, "void()", gdb 13 and lldb "void ()"."""
    names = [frame["function"] for frame in frames]
    before = frames[: names.index("main")] if "main" in names else frames
    return [{**frame, "function": (frame["function"] or "").replace("void ()", "void()")} for frame in before]
