"""What the command line runs inside gdb for each process: loads the package beside it and serves one request."""

import sys

# Debuggers look for modules in the current directory as well, which may be anybody's.
sys.path[:] = [entry for entry in sys.path if entry not in ("", ".")]

import importlib  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pathlib  # noqa: E402


def _load():
    package = pathlib.Path(__file__).resolve().parents[2]
    spec = importlib.util.spec_from_file_location(
        "mpi_queues", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["mpi_queues"] = module
    spec.loader.exec_module(module)
    return importlib.import_module("mpi_queues.gdb.child")


try:
    _child = _load()
except (Exception, SystemExit) as _error:  # noqa: BLE001 - the parent shows whatever keeps the package from loading
    _version = ".".join(map(str, sys.version_info[:3]))
    _head = {"error": f"gdb's Python {_version} cannot load mpi-queues: {_error}", "kind": "no_gdb", "help": ""}
    os.write(int(os.environ["MPI_QUEUES_RESULT_FD"]), json.dumps(_head).encode() + b"\n")
else:
    _child.serve()
