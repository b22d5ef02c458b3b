"""What the command line runs inside lldb for each target: loads the package beside it and serves one request."""

import importlib
import importlib.util
import json
import os
import pathlib
import sys


def _load():
    package = pathlib.Path(__file__).resolve().parents[2]
    spec = importlib.util.spec_from_file_location(
        "mpi_queues", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["mpi_queues"] = module
    spec.loader.exec_module(module)
    return importlib.import_module("mpi_queues.debuggers.lldb_child")


def __lldb_init_module(debugger, internal_dict):
    try:
        child = _load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the parent shows whatever keeps the package from loading
        version = ".".join(map(str, sys.version_info[:3]))
        head = {"error": f"lldb's Python {version} cannot load mpi-queues: {error}", "kind": "no_lldb", "help": ""}
        os.write(int(os.environ["MPI_QUEUES_RESULT_FD"]), json.dumps(head).encode() + b"\n")
    else:
        child.serve(debugger)
