"""Runs the commands in LLDB_COMMANDS (JSON) in lldb as a program does, and writes what each gives, as JSON."""

import json
import os

import lldb


def __lldb_init_module(debugger, internal_dict):
    debugger.SetAsync(False)
    interpreter = debugger.GetCommandInterpreter()
    given = []
    for command in json.loads(os.environ["LLDB_COMMANDS"]):
        result = lldb.SBCommandReturnObject()
        interpreter.HandleCommand(command, result)
        given.append([result.GetOutput() or "", result.GetError() or "", result.Succeeded()])
    with open(os.environ["LLDB_RESULTS"], "w") as file:
        json.dump(given, file)
