"""Stands for the command ``flux`` of flux-core, as far as jobs of many nodes need it; hosts are reached by ssh.

As flux-framework/flux-core does it (0.88): src/cmd/flux-exec.c labels lines by the broker's rank, also of a job; takes
``--rank`` as indices into the job's nodes; hands input on only when all have begun; writes through C's buffers; says
what could not be started; ends with the largest status. src/cmd/flux-jobs.py, src/cmd/flux-hostlist.py,
src/cmd/flux-job.c (``id``).

The jobs are in the file that FLUX_STANDIN names, with how hosts are reached:
``{"jobs": {"f123": {"nodes": ["h1"], "nodelist": "h1", "ranks": [4]}}, "ssh": ["ssh"]}``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from typing import Any, Dict, List, Tuple

#: What C keeps of what it writes to a pipe, in bytes.
BUFFER = 4096


class Output:
    """A stream of C: it is written when it is full or at the end, with ``stdbuf --output=L`` after each line."""

    def __init__(self) -> None:
        self.kept = b""
        self.lock = threading.Lock()
        self.by_line = os.environ.get("_STDBUF_O") == "L"

    def write(self, data: bytes) -> None:
        with self.lock:
            self.kept += data
            while len(self.kept) >= BUFFER:
                os.write(1, self.kept[:BUFFER])
                self.kept = self.kept[BUFFER:]
            if self.by_line:
                self.flush()

    def flush(self) -> None:
        while self.kept:
            self.kept = self.kept[os.write(1, self.kept) :]


def state() -> Dict[str, Any]:
    with open(os.environ["FLUX_STANDIN"], encoding="utf-8") as file:
        found: Dict[str, Any] = json.load(file)
    return found


def plain(job: str) -> str:
    return re.sub("^\u0192", "f", job)


def job_of(name: str, command: str) -> Dict[str, Any]:
    job = state()["jobs"].get(plain(name))
    if job is None:
        print(f"flux-{command}: ERROR: JobID {name} unknown", file=sys.stderr)
        sys.exit(1)
    found: Dict[str, Any] = job
    return found


def jobs(words: List[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-header", "-n", action="store_true")
    parser.add_argument("--format", "-o")
    parser.add_argument("job")
    options = parser.parse_args(words)
    job = job_of(options.job, "jobs")
    print(
        options.format.format(
            state=job.get("state", "RUN"),
            nodelist=job["nodelist"],
            ranks=",".join(map(str, job["ranks"])),
            userid=job.get("userid", os.geteuid()),
        )
    )
    return 0


def job_id(words: List[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--to", default="dec")
    parser.add_argument("job")
    options = parser.parse_args(words[1:])
    assert options.to == "f58"
    sys.stdout.buffer.write(("\u0192" + plain(options.job)[1:] + "\n").encode())
    return 0


def hostlist(words: List[str]) -> int:
    assert words == ["--expand", "-"], words
    found: List[str] = []
    for word in sys.stdin.read().split():
        match = re.fullmatch(r"(\w+)\[(\d+)-(\d+)\]", word)
        found += [word] if match is None else [f"{match[1]}{at}" for at in range(int(match[2]), int(match[3]) + 1)]
    print(" ".join(found))
    return 0


def execute(words: List[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--label-io", "-l", action="store_true")
    parser.add_argument("--dir", "-d")
    parser.add_argument("--rank", "-r")
    parser.add_argument("--jobid", "-j", required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(words)
    job = job_of(options.jobid, "exec")
    places: List[Tuple[str, int]] = list(zip(job["nodes"], job["ranks"]))
    if options.rank is not None:
        places = [places[int(index)] for index in options.rank.split(",")]
    output = Output()
    started: Dict[int, subprocess.Popen[bytes]] = {}
    for host, rank in places:
        if host in job.get("down", []):
            print(f"flux-exec: Error: rank {rank}: {options.command[0]}: No route to host", file=sys.stderr)
            continue
        there = f"cd {options.dir} && exec {shlex.join(options.command)}"
        started[rank] = subprocess.Popen([*state()["ssh"], host, there], stdin=-1, stdout=-1, bufsize=0)
    readers = [threading.Thread(target=hand_on, args=(one, rank, output)) for rank, one in started.items()]
    readers.append(threading.Thread(target=broadcast, args=(list(started.values()),), daemon=True))
    for reader in readers:
        reader.start()
    for reader in readers[:-1]:
        reader.join()
    output.flush()
    return max([one.wait() for one in started.values()] + [68] * (len(places) - len(started)))


def hand_on(one: subprocess.Popen[bytes], rank: int, output: Output) -> None:
    assert one.stdout is not None
    for line in iter(one.stdout.readline, b""):
        output.write(b"%d: %s" % (rank, line))


def broadcast(everyone: List[subprocess.Popen[bytes]]) -> None:
    while True:
        data = os.read(0, 1 << 16)
        for one in everyone:
            assert one.stdin is not None
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[one.stdin.write(rest) :]
                if not data:
                    one.stdin.close()
            except OSError:
                continue
        if not data:
            return


if __name__ == "__main__":
    sys.exit({"jobs": jobs, "job": job_id, "hostlist": hostlist, "exec": execute}[sys.argv[1]](sys.argv[2:]))
