"""Runs commands in gdb or lldb as often as it is asked to: a list of them in a line of JSON, answered by another line.

ASKED and TOLD in the environment are the descriptors of the two pipes. At the end of each list nothing is debugged,
but with ONCE, where the debugger ends with it.
"""

import json
import os
import sys


def run_in_gdb(commands):
    """As ``-ex`` does: what they print goes to standard output, and the next one follows an error."""
    import gdb

    for command in commands:
        try:
            gdb.execute(command, False)
        except gdb.error as error:
            gdb.write(f"{error}\n", gdb.STDERR)
        gdb.flush(gdb.STDERR)
        print("\n==")
        gdb.flush(gdb.STDOUT)


def empty_gdb():
    import gdb

    for inferior in gdb.inferiors():
        if inferior.pid:
            gdb.execute(f"detach inferiors {inferior.num}", False, True)
    gdb.execute("inferior 1", False, True)
    for inferior in gdb.inferiors():
        if inferior.num != 1:
            gdb.execute(f"remove-inferiors {inferior.num}", False, True)
    gdb.execute("file", False, True)


def run_in_lldb(commands):
    """As a program does: output, error and success of each."""
    import lldb

    interpreter = lldb.debugger.GetCommandInterpreter()
    given = []
    for command in commands:
        result = lldb.SBCommandReturnObject()
        interpreter.HandleCommand(command, result)
        given.append([result.GetOutput() or "", result.GetError() or "", result.Succeeded()])
    return given


def empty_lldb():
    import lldb

    while lldb.debugger.GetNumTargets():
        target = lldb.debugger.GetTargetAtIndex(0)
        if target.GetProcess().IsValid():
            target.GetProcess().Detach()
        lldb.debugger.DeleteTarget(target)


def answer(run, empty):
    with os.fdopen(int(os.environ["ASKED"])) as asked, os.fdopen(int(os.environ["TOLD"]), "w") as told:
        for line in asked:
            answered = run(json.loads(line))
            if "ONCE" not in os.environ:
                empty()
            print(json.dumps(answered), file=told, flush=True)


def __lldb_init_module(debugger, internal_dict):
    debugger.SetAsync(False)
    answer(run_in_lldb, empty_lldb)


if "gdb" in sys.modules:
    answer(run_in_gdb, empty_gdb)
