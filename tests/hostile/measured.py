"""Runs a command and writes what it cost to a file descriptor, in JSON: ``measured.py FD PATIENCE COMMAND...``.

A program of its own, and a small one: Linux keeps of a process the most that it took before it became another program
(fs/exec.c, ``setmax_mm_hiwater_rss``), and who starts one from a large process finds the large one's size.
"""

import json
import os
import resource
import signal
import sys
import threading

#: What it may reserve, which is more than it may use.
MAX_ADDRESSES = 16 << 30
#: No file that it writes is larger.
MAX_FILE = 1 << 30


def main() -> None:
    told, patience, command = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    os.set_inheritable(told, False)
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESSES, MAX_ADDRESSES))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE, MAX_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.execv(command[0], command)
    # Whoever does not listen when told to end is killed.
    timers = [
        threading.Timer(patience, os.kill, (child, signal.SIGTERM)),
        threading.Timer(patience + 10.0, os.kill, (child, signal.SIGKILL)),
    ]
    for timer in timers:
        timer.start()
    _, ended, used = os.wait4(child, 0)
    in_time = timers[0].is_alive()
    for timer in timers:
        timer.cancel()
    cost = {
        "status": os.waitstatus_to_exitcode(ended),
        "in_time": in_time,
        "seconds": used.ru_utime + used.ru_stime,
        # Of the largest of its processes (getrusage(2)).
        "bytes": used.ru_maxrss << 10,
    }
    os.write(told, json.dumps(cost).encode())


if __name__ == "__main__":
    main()
