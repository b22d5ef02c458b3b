"""Fresh roots of Debian releases, each a directory in which programs run as on a machine of their own.

Nothing is mounted where others see it: each command has a mount namespace and a process namespace, which end with it.
"""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from typing import Dict, Sequence, Tuple

#: Where this machine's certificates are in a root: a machine whose network has an authority of its own needs them.
_CERTIFICATES = "/run/certificates.crt"

#: What is run in the new namespaces: $1 the place, $2 the layers or nothing, the rest is the command.
_INSIDE = """
set -eu
place=$1 layers=$2 user=$3; shift 3
mount --make-rprivate /
[ -z "$layers" ] || mount -t overlay overlay -o "$layers" "$place"
mount -t proc proc "$place/proc"
mount --rbind /dev "$place/dev"
mount --rbind /sys "$place/sys"
mount -t tmpfs tmpfs "$place/dev/shm"
mount -t tmpfs tmpfs "$place/run"
# Process ids are used again by the next command: what an MPI left under one is in its way.
mount -t tmpfs tmpfs "$place/tmp"
cp /etc/resolv.conf "$place/etc/resolv.conf"
cp /etc/hosts "$place/etc/hosts"
[ ! -e "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" ] ||
    cp "${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" "$place/run/certificates.crt"
# Process 1 is root's, as it is on every machine.
chroot --userspec="$user" "$place" /usr/bin/env -i "$@" || exit $?
"""


class Failed(Exception):
    """A command in a root did what it should not; the sentence has what it said."""


def make(suite: str, packages: Sequence[str], directory: pathlib.Path, *options: str) -> pathlib.Path:
    """A minimal root of the Debian release, in a minute or two; ``options`` are more of mmdebstrap's."""
    root = directory / suite
    # What it mounts is never seen by this machine, and ends with it: nothing of /dev is below a root that is removed.
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command += ["mmdebstrap", "--quiet", "--variant=minbase", "--dpkgopt=force-unsafe-io"]
    command += [f"--include={','.join(packages)}", *options, suite, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{shlex.join(command)}:\n{done.stderr[-2000:]}")
    return root


class Machine:
    """A root that starts as ``base`` is and forgets what was changed; ``with`` removes it."""

    def __init__(self, base: pathlib.Path, directory: pathlib.Path) -> None:
        self._own = pathlib.Path(tempfile.mkdtemp(prefix="machine-", dir=directory))
        for name in ("upper", "work", "root"):
            (self._own / name).mkdir()
        self._layers = f"lowerdir={base},upperdir={self._own / 'upper'},workdir={self._own / 'work'}"

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._own)

    def put(self, source: pathlib.Path, place: str, user: str = "root") -> None:
        """Copies a file or a directory into it; ``place`` is absolute there."""
        to = self._own / "upper" / place.lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", str(source), str(to)], check=True)
        self.run(f"chown -R {user}: {shlex.quote(place)}")

    def keep(self, place: str, directory: pathlib.Path) -> None:
        """Copies a directory, where commands have made it, into one of this machine in place of its own."""
        made = self._own / "upper" / place.lstrip("/")
        if not made.is_dir():
            return
        shutil.rmtree(directory / made.name, ignore_errors=True)
        subprocess.run(["cp", "-a", str(made), str(directory)], check=True)

    def try_to(
        self, command: str, user: str = "root", directory: str = "/", seconds: float = 3600, tell: bool = False
    ) -> Tuple[int, str]:
        """What the shell's command ended with, and all it said; ``tell`` shows that line by line, too."""
        inner = f"cd {shlex.quote(directory)} && {command}"
        environment = _environment(user)
        # The overlay's directory is there only in the namespace.
        whole = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", _INSIDE, "inside"]
        whole += [str(self._own / "root"), self._layers, user]
        whole += [*(f"{name}={value}" for name, value in environment.items()), "sh", "-c", inner]
        said = []
        with subprocess.Popen(
            whole,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as running:
            # All of its processes end with it, and with them the lines.
            late = threading.Timer(seconds, running.kill)
            late.start()
            try:
                assert running.stdout is not None
                for line in running.stdout:
                    said.append(line)
                    if tell:
                        say(f"  {line.rstrip()}")
            except BaseException:
                running.kill()
                raise
            finally:
                is_late = late.finished.is_set()
                late.cancel()
        if is_late:
            raise Failed(f"{command}: not done after {seconds:.0f} s\n{''.join(said)[-4000:]}")
        return running.returncode, "".join(said)

    def run(self, command: str, user: str = "root", directory: str = "/", seconds: float = 3600) -> str:
        """What it said. Raises Failed where it does not end with 0."""
        status, said = self.try_to(command, user, directory, seconds)
        if status != 0:
            raise Failed(f"{command}: status {status}\n{said[-4000:]}")
        return said


def _environment(user: str) -> Dict[str, str]:
    shown = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root" if user == "root" else f"/home/{user}",
        "USER": user,
        "LANG": "C.UTF-8",
        "PIP_CERT": _CERTIFICATES,
        "SSL_CERT_FILE": _CERTIFICATES,
        "CARGO_HTTP_CAINFO": _CERTIFICATES,
        "DEBIAN_FRONTEND": "noninteractive",
    }
    if user == "root":
        shown.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    # CARGO_PROFILE_RELEASE_OPT_LEVEL=0 and the like: for a try in a hurry.
    kept = re.compile(r"(http|https|no)_proxy|PIP_INDEX_URL|CARGO_BUILD_JOBS|CARGO_PROFILE_\w+")
    return {**shown, **{name: value for name, value in os.environ.items() if kept.fullmatch(name)}}


def say(line: str) -> None:
    """A line of progress."""
    print(line, file=sys.stderr, flush=True)
