"""The part of the benchmarks that runs inside lldb, after ``command script import`` of the loader.

As ``in_gdb.py``, with ``measure``, ``runs`` and ``out`` of the variable BENCH.
"""

import json
import os
import statistics
import time

import lldb


def __lldb_init_module(debugger, internal_dict):
    bench = json.loads(os.environ["BENCH"])
    results = {"version": lldb.SBDebugger.GetVersionString()}
    for name in bench["measure"]:
        MEASURES[name](debugger, bench["runs"], results)
    with open(bench["out"], "w") as out:
        json.dump(results, out)


def measure_reader(debugger, runs, results):
    """The built-in reader: the first reading of a session, and those of later commands."""
    from mpi_queues.lldb.sessions import LldbTarget
    from mpi_queues.request import Request

    target = LldbTarget(debugger, debugger.GetSelectedTarget())

    def read():
        started = time.perf_counter()
        snapshot = target.read(Request(source="builtin", timeout=120.0))
        return time.perf_counter() - started, snapshot

    results["reader_first"], snapshot = read()
    results["operations"] = sum(
        len(queue.operations)
        for comm in snapshot.processes[0].communicators
        for queue in (comm.pending_sends, comm.pending_receives, comm.unexpected_messages)
    )
    del snapshot
    times = []
    for _ in range(runs):
        target.begin()
        times.append(read()[0])
    results["reader"] = statistics.median(times)


def measure_formatters(debugger, runs, results):
    """The formatters on 200 handles in the locals of printers.c: one by one, and all in one command."""
    from mpi_queues.lldb import formatters as lldb_formatters

    process = debugger.GetSelectedTarget().GetProcess()
    thread = process.GetSelectedThread()
    frame = next(frame for frame in thread if frame.GetFunctionName() == "many")
    thread.SetSelectedFrame(frame.GetFrameID())
    handles = [
        frame.FindVariable(name, lldb.eNoDynamicValues).GetChildAtIndex(index)
        for name in ("comms", "requests")
        for index in range(100)
    ]

    def show(handle):
        started = time.perf_counter()
        text = lldb_formatters.handle_summary(handle, None)
        assert '"comm ' in text, text
        return time.perf_counter() - started

    results["formatter_first"] = show(handles[0])
    # The best of three of each: what else the machine does is none of the formatters'.
    each = [min(show(handle) for _ in range(3)) for handle in handles]
    results["formatter"], results["formatter_slowest"] = statistics.median(each), max(each)

    def run(command):
        result = lldb.SBCommandReturnObject()
        # The command that has loaded this file has a frame of its own.
        started = time.perf_counter()
        debugger.GetCommandInterpreter().HandleCommand(command, lldb.SBExecutionContext(frame), result)
        assert result.Succeeded(), result.GetError()
        return time.perf_counter() - started, result.GetOutput()

    times = []
    for _ in range(runs):
        # lldb asks again for what it shows once memory was written to.
        run("memory write $sp-512 0")
        taken, text = run("frame variable comms requests")
        times.append(taken)
    results["frame_variable"] = statistics.median(times)
    results["shown"] = text.count('"comm ')


MEASURES = {"reader": measure_reader, "formatters": measure_formatters}
