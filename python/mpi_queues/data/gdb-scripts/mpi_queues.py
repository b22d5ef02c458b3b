"""Loads mpi-queues into gdb: ``source`` this file, or let ``mpi-queues init gdb --write`` put that into ~/.gdbinit.

The package is loaded from the place where this file lies, without changing ``sys.path``: gdb's Python is often
another one than that of the environment that holds the package.
"""

import sys

# Debuggers look for modules in the current directory as well, which may be anybody's.
sys.path[:] = [entry for entry in sys.path if entry not in ("", ".")]

import importlib  # noqa: E402
import importlib.util  # noqa: E402
import inspect  # noqa: E402
import pathlib  # noqa: E402

import gdb  # noqa: E402


def _load():
    # Not __file__: where another script sources this one, gdb 13 leaves the outer script's name there.
    package = pathlib.Path(inspect.currentframe().f_code.co_filename).resolve().parents[2]
    loaded = sys.modules.get("mpi_queues")
    if loaded is None or not hasattr(loaded, "__path__"):
        spec = importlib.util.spec_from_file_location(
            "mpi_queues", package / "__init__.py", submodule_search_locations=[str(package)]
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules["mpi_queues"] = module
        try:
            spec.loader.exec_module(module)
            # The compiled part is loaded with the first name that is asked for.
            module.__version__  # noqa: B018
        except ImportError as error:
            del sys.modules["mpi_queues"]
            raise gdb.GdbError(
                f"mpi-queues: the compiled part cannot be loaded ({error}); in the source tree, type: make build"
            ) from None
    importlib.import_module("mpi_queues.gdb.commands").install()


_load()
del _load
