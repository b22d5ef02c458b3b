"""Stands for commands of PBS, of LSF and of PALS, as far as jobs of many nodes need them; hosts are reached by ssh.

``qstat -f`` as openpbs/openpbs does it (23.06, src/cmds/qstat.c, ``prt_attr``): lines of at most 79 characters, which
go on behind a tab; no other character that is not printable. ``bjobs -o`` and ``blaunch`` as IBM Spectrum LSF's command
reference tells of them (10.1). ``palstat`` as common-tools-interface/cti asks it and reads it (26.03,
src/frontend/frontend_impl/PALS/Frontend.cpp).

What they know is in the file that BATCH_STANDIN names: ``{"qstat": {"12": {…}}, "bjobs": {"501": ["RUN|…"]}, "palstat":
{"APID": {"job": "12.server", "hosts": ["h1"]}}, "head": "h1"}``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any, Dict, List, NoReturn

WIDTH = 79


def state() -> Dict[str, Any]:
    with open(os.environ["BATCH_STANDIN"], encoding="utf-8") as file:
        found: Dict[str, Any] = json.load(file)
    return found


def fail(reason: str, status: int) -> NoReturn:
    print(reason, file=sys.stderr)
    sys.exit(status)


def qstat(words: List[str]) -> None:
    flag, job = words
    assert flag == "-f", words
    known = state()["qstat"].get(job.split(".")[0])
    if known is None:
        fail(f"qstat: Unknown Job Id {job.split('.')[0]}.server", 153)
    attributes = dict(known)
    print(f"Job Id: {attributes.pop('id')}")
    for name, value in attributes.items():
        line = f"    {name} = " + "".join(char if char.isprintable() else f"^{chr(ord(char) + 64)}" for char in value)
        print(line[:WIDTH])
        for at in range(WIDTH, len(line), WIDTH - 8):
            print("\t" + line[at : at + WIDTH - 8])
    print()


def bjobs(words: List[str]) -> None:
    parser = argparse.ArgumentParser()
    for option in ("-u", "-o"):
        parser.add_argument(option, required=True)
    for option in ("-X", "-noheader"):
        parser.add_argument(option, action="store_true", required=True)
    parser.add_argument("job")
    options = parser.parse_args(words)
    assert (options.u, options.o) == ("all", "stat user exec_host delimiter='|'"), options
    lines = state()["bjobs"].get(options.job)
    if lines is None:
        fail(f"Job <{options.job}> is not found", 255)
    print("\n".join(lines))


def blaunch(words: List[str]) -> None:
    host, line = words
    hosts = os.environ.get("LSB_MCPU_HOSTS", "").split()[::2]
    if "LSB_JOBID" not in os.environ or host not in hosts:
        fail(f"blaunch: {host} is not part of a job", 255)
    os.execvp("ssh", ["ssh", host, line])


def palstat(words: List[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", dest="node")
    parser.add_argument("-p", dest="table", action="store_true")
    parser.add_argument("application", nargs="?")
    options = parser.parse_args(words)
    known = state()
    if options.node is None and "PBS_JOBID" not in os.environ:
        fail("palstat: not in a job", 1)
    assert options.node in (None, known["head"]), options
    if options.table:
        one = known["palstat"].get(options.application)
        if one is None:
            fail(f"palstat: no application {options.application}", 1)
        print("HOST EXECUTABLE PID")
        for number, host in enumerate(one["hosts"]):
            print(f"{host} /home/a b/solver {4000 + number}")
        return
    for number, one in known["palstat"].items():
        print(f"APID: {number}\n  JobID: {one['job']}\n  State: running\n  Nodes: {len(one['hosts'])}\n")


if __name__ == "__main__":
    {"qstat": qstat, "bjobs": bjobs, "blaunch": blaunch, "palstat": palstat}[sys.argv[1]](sys.argv[2:])
