"""Loads mpi-queues into lldb: ``command script import`` this file, or let ``mpi-queues init lldb --write`` put that
into ~/.lldbinit.

lldb gives the name of this file to its module, which is that of the package. So this module becomes the package: it
takes the package's directory, which is found from the place of this file, and runs its ``__init__.py``. lldb runs
this file again where it is imported again.
"""

import sys

# Debuggers look for modules in the current directory as well, which may be anybody's.
sys.path[:] = [entry for entry in sys.path if entry not in ("", ".")]

import importlib  # noqa: E402
import pathlib  # noqa: E402

_problem = None


def _become_package():
    global _problem
    package = pathlib.Path(__file__).resolve().parents[2]
    here = globals()
    here["__path__"] = [str(package)]
    here["__package__"] = "mpi_queues"
    here["__spec__"].submodule_search_locations = here["__path__"]
    if "__version__" in here:
        return
    start = package / "__init__.py"
    try:
        exec(compile(start.read_bytes(), str(start), "exec"), here)
        # The compiled part is loaded with the first name that is asked for.
        here["__getattr__"]("__version__")
    except ImportError as error:
        _problem = f"mpi-queues: the compiled part cannot be loaded ({error}); in the source tree, type: make build"
    else:
        _problem = None


def __lldb_init_module(debugger, internal_dict):
    if _problem is not None:
        print(_problem)
        return
    importlib.import_module("mpi_queues.lldb.commands").install(debugger)


_become_package()
