"""Code whose file and function have names that would harm a terminal, are no UTF-8, or are longer than any; with an
exception of such a name."""

from hanging import MPI, comm, rank, ready

HARM = "\x1b[2J\x1b]0;owned\x07\r\n\u202e\u009b31m"
SOURCE = """
def inner():
    raise kind("no")


def outer():
    try:
        inner()
    except Exception:
        ready()
        wait()
"""


def wait():
    comm.Recv([bytearray(8), MPI.BYTE], source=1 - rank, tag=5)


def renamed(function, name):
    names = {"co_name": name}
    if hasattr(function.__code__, "co_qualname"):
        names["co_qualname"] = name
    function.__code__ = function.__code__.replace(**names)


kind = type("Bad" + HARM, (Exception,), {}) if rank == 0 else ValueError
# Bytes that are no UTF-8, as the interpreter has them in names of files.
file = "/tmp/" + HARM + "\udcff\udcfe\ud800.py" if rank == 0 else "/tmp/" + 100_000 * "l" + ".py"
space = {"kind": kind, "wait": wait, "ready": ready}
exec(compile(SOURCE, file, "exec"), space)
for name in ("inner", "outer"):
    renamed(space[name], name + (HARM if rank == 0 else 100_000 * "n"))
space["outer"]()
