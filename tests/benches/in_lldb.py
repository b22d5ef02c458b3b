"""The part of the benchmarks that runs inside lldb, after ``command script import`` of the loader: the built-in reader.

As ``in_gdb.py``, with ``runs`` and ``out`` of the variable BENCH.
"""

import json
import os
import statistics
import time

import lldb


def __lldb_init_module(debugger, internal_dict):
    from mpi_queues.debuggers.lldb_sessions import LldbTarget

    bench = json.loads(os.environ["BENCH"])
    target = LldbTarget(debugger, debugger.GetSelectedTarget())
    results = {"version": lldb.SBDebugger.GetVersionString()}

    def read():
        started = time.perf_counter()
        snapshot = target.read(source="builtin", plugin=None, timeout=120.0, queues=True)
        return time.perf_counter() - started, snapshot

    results["reader_first"], snapshot = read()
    results["operations"] = sum(
        len(queue.operations)
        for comm in snapshot.processes[0].communicators
        for queue in (comm.pending_sends, comm.pending_receives, comm.unexpected_messages)
    )
    del snapshot
    times = []
    for _ in range(bench["runs"]):
        target.begin()
        times.append(read()[0])
    results["reader"] = statistics.median(times)
    with open(bench["out"], "w") as out:
        json.dump(results, out)
