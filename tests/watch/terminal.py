"""Runs a command in the foreground of the terminal that is standard input, as a shell does, and tells what becomes of
it.

Lines on the descriptor that is named first: ``pid N``, ``stopped N``, ``exited N``, ``killed N``. A byte that comes on
the second one lets a command that has stopped go on, again in the foreground.
"""

from __future__ import annotations

import os
import signal
import sys
import termios
from fcntl import ioctl


def main() -> None:
    told, heard = int(sys.argv[1]), int(sys.argv[2])
    os.setsid()
    ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp(sys.argv[3], sys.argv[3:])
    os.write(told, b"pid %d\n" % pid)
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        os.tcsetpgrp(0, os.getpgrp())
        os.write(told, b"stopped %d\n" % os.WSTOPSIG(status))
        os.read(heard, 1)
        os.tcsetpgrp(0, os.getpgid(pid))
        os.killpg(os.getpgid(pid), signal.SIGCONT)
    if os.WIFEXITED(status):
        os.write(told, b"exited %d\n" % os.WEXITSTATUS(status))
    else:
        os.write(told, b"killed %d\n" % os.WTERMSIG(status))


main()
