"""A file system that does not answer: what it is asked is told, until it is told to stand in some operations.

    with HungMount(place, {"a.c": b"int main(void) { return 0; }"}) as mount:
        mount.stand("open", "read")
        ...
        mount.answer()

It is one of a program in user space (FUSE), without a library: the kernel's messages are read from ``/dev/fuse``
(Linux, include/uapi/linux/fuse.h). The kernel keeps nothing of it, so each look at a file asks it anew. At the end its
connection is aborted, so that whoever waits for it goes on, whatever becomes of the test.

As a program: ``python hung_mount.py DIRECTORY FILE...`` serves copies of files, and stands in what it reads on standard
input, a line for the names of operations; an empty line has it answer.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import stat
import struct
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Mapping, Optional, Tuple, Union

#: What it may stand in, by the kernel's numbers of operations.
OPERATIONS = {"lookup": 1, "getattr": 3, "readlink": 5, "open": 14, "read": 15, "statfs": 17, "flush": 25}

_INIT, _FORGET, _RELEASE, _INTERRUPT, _BATCH_FORGET = 26, 2, 18, 36, 42
_OPENDIR, _READDIR, _RELEASEDIR = 27, 28, 29

_IN = struct.Struct("=IIQQIIII")
_ATTRIBUTES = struct.Struct("=QQQQQQIIIIIIIIII")
_ROOT = 1

#: Bytes of a file, the target of a link (text), or the names of a directory's entries.
Node = Union[bytes, str, Dict[str, int]]


class Missing(Exception):
    """What this machine lacks, in a sentence."""


def missing() -> Optional[str]:
    """Why no such file system can be mounted here; None where it can."""
    if os.geteuid() != 0:
        return "to mount a file system takes root"
    if not os.path.exists("/dev/fuse"):
        return "/dev/fuse is not there: modprobe fuse, and mknod /dev/fuse c 10 229 in a container"
    return None


class HungMount:
    """A mounted file system, which is gone after the ``with``."""

    def __init__(self, point: Path, files: Mapping[str, Union[bytes, str]]) -> None:
        """``files``: contents by their paths; text is the target of a symbolic link."""
        why = missing()
        if why is not None:
            raise Missing(why)
        self.point = point
        point.mkdir(parents=True, exist_ok=True)
        self._files = files

    def __enter__(self) -> HungMount:
        read, self._control = os.pipe()
        told, tell = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(self._control)
                os.setsid()
                _Server(self.point, self._files, read, tell).run()
                status = 0
            finally:
                os._exit(status)
        self._child = child
        os.close(read)
        os.close(tell)
        with os.fdopen(told, "rb") as pipe:
            number = pipe.readline()
        if not number:
            os.waitpid(child, 0)
            raise Missing("the file system could not be mounted")
        self.connection = int(number)
        return self

    def stand(self, *operations: str) -> None:
        """From now on it does not answer these."""
        self._say(" ".join(str(OPERATIONS[one]) for one in operations))

    def answer(self) -> None:
        """It answers again, also what it was asked before."""
        self._say("")

    def _say(self, text: str) -> None:
        os.write(self._control, f"{text}\n".encode())
        # It is done as soon as the next question is answered, or not: the server reads orders first.

    def __exit__(self, *_: object) -> None:
        abort(self.connection)
        subprocess.run(["umount", "-l", str(self.point)], check=False)
        os.close(self._control)
        os.waitpid(self._child, 0)


def abort(connection: int) -> None:
    """Whoever waits for the file system is told an error."""
    with contextlib.suppress(OSError):
        Path(f"/sys/fs/fuse/connections/{connection}/abort").write_text("1")


class _Server:
    def __init__(self, point: Path, files: Mapping[str, Union[bytes, str]], orders: int, tell: int) -> None:
        self._nodes: Dict[int, Node] = {_ROOT: {}}
        for path, content in files.items():
            self._add(path, content)
        self._orders, self._tell = orders, tell
        self._standing: Tuple[int, ...] = ()
        #: What was asked and not answered.
        self._waiting: List[bytes] = []
        self._rest = b""
        self._device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self._device},rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions"
        library = ctypes.CDLL(None, use_errno=True)
        nosuid = 2
        done = library.mount(b"hung", os.fsencode(point), b"fuse.hung", nosuid, options.encode())
        if done != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(point))
        self._point = point

    def _add(self, path: str, content: Union[bytes, str]) -> None:
        above = self._nodes[_ROOT]
        *directories, name = path.split("/")
        for one in directories:
            assert isinstance(above, dict)
            if one not in above:
                above[one] = self._new({})
            above = self._nodes[above[one]]
        assert isinstance(above, dict)
        above[name] = self._new(content)

    def _new(self, node: Node) -> int:
        number = len(self._nodes) + 1
        self._nodes[number] = node
        return number

    def run(self) -> None:
        """Until it is unmounted, or nobody is there to tell it anything."""
        known = False
        while True:
            for ready in select.select([self._orders, self._device], [], [])[0]:
                if ready == self._orders:
                    if not self._heard():
                        return
                    continue
                try:
                    message = os.read(self._device, 1 << 18)
                except OSError as error:
                    if error.errno in (errno.ENOENT, errno.EINTR, errno.EAGAIN):
                        continue
                    # It was unmounted, or its connection was aborted.
                    return
                # An order that was given before a question counts for it.
                while select.select([self._orders], [], [], 0)[0]:
                    if not self._heard():
                        return
                self._asked(message)
                if not known and _IN.unpack_from(message)[1] == _INIT:
                    known = True
                    os.write(self._tell, b"%d\n" % _connection(self._point))
                    os.close(self._tell)

    def _heard(self) -> bool:
        piece = os.read(self._orders, 4096)
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self._standing = tuple(int(word) for word in line.split())
            waiting, self._waiting = self._waiting, []
            for message in waiting:
                self._asked(message)
        return bool(piece)

    def _asked(self, message: bytes) -> None:
        operation = _IN.unpack_from(message)[1]
        if operation in (_FORGET, _BATCH_FORGET, _INTERRUPT):
            return
        if operation in self._standing:
            self._waiting.append(message)
            return
        unique, node = _IN.unpack_from(message)[2:4]
        try:
            body = self._answer(operation, node, message[_IN.size :])
            number = 0
        except OSError as error:
            body, number = b"", -(error.errno or errno.EIO)
        with contextlib.suppress(OSError):
            os.write(self._device, struct.pack("=IiQ", 16 + len(body), number, unique) + body)

    def _answer(self, operation: int, number: int, body: bytes) -> bytes:
        if operation == _INIT:
            return struct.pack("=IIIIHHIIHH8I", 7, 31, 1 << 17, 0, 12, 10, 1 << 16, 1, 0, 0, *[0] * 8)
        if operation == OPERATIONS["statfs"]:
            return struct.pack("=5Q4I6I", 1, 0, 0, 1, 0, 4096, 255, 4096, 0, *[0] * 6)
        if operation in (OPERATIONS["open"], _OPENDIR):
            return struct.pack("=QII", 0, 0, 0)
        if operation in (_RELEASE, _RELEASEDIR, OPERATIONS["flush"]):
            return b""
        node = self._nodes.get(number)
        if node is None:
            raise OSError(errno.ENOENT, "")
        if operation == OPERATIONS["getattr"]:
            # Nothing of it is kept.
            return struct.pack("=QII", 0, 0, 0) + self._attributes(number)
        if operation == OPERATIONS["lookup"] and isinstance(node, dict):
            below = node.get(os.fsdecode(body.split(b"\0", 1)[0]))
            if below is None:
                raise OSError(errno.ENOENT, "")
            return struct.pack("=QQQQII", below, 0, 0, 0, 0, 0) + self._attributes(below)
        if operation == OPERATIONS["readlink"] and isinstance(node, str):
            return os.fsencode(node)
        if operation == OPERATIONS["read"] and isinstance(node, bytes):
            offset, size = struct.unpack_from("=QI", body, 8)
            return node[offset : offset + size]
        if operation == _READDIR and isinstance(node, dict):
            offset = struct.unpack_from("=Q", body, 8)[0]
            return b"".join(
                _entry(name, below, at + 1) for at, (name, below) in enumerate(node.items()) if at >= offset
            )
        raise OSError(errno.ENOSYS, "")

    def _attributes(self, number: int) -> bytes:
        node = self._nodes[number]
        kind = stat.S_IFDIR | 0o755 if isinstance(node, dict) else stat.S_IFREG | 0o755
        if isinstance(node, str):
            kind = stat.S_IFLNK | 0o777
        size = len(node)
        # Written long ago: before whatever was built from it.
        then = 1_000_000_000
        return _ATTRIBUTES.pack(number, size, (size + 511) // 512, then, then, then, 0, 0, 0, kind, 1, 0, 0, 0, 4096, 0)


def _entry(name: str, number: int, offset: int) -> bytes:
    plain = os.fsencode(name)
    head = struct.pack("=QQII", number, offset, len(plain), 0)
    return head + plain + b"\0" * (-len(plain) % 8)


def _connection(point: Path) -> int:
    """The number of its connection: the minor one of its device (Linux, Documentation/filesystems/fuse.rst)."""
    found = 0
    for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
        words = line.split(" ")
        if words[4] == os.fspath(point).replace(" ", "\\040"):
            major, minor = words[2].split(":")
            # Above 255 the major number of an unnamed device is 0 all the same.
            assert major == "0"
            found = int(minor)
    return found


def main() -> None:
    point, *paths = sys.argv[1:]
    with HungMount(Path(point), {os.path.basename(path): Path(path).read_bytes() for path in paths}) as mount:
        print(f"mounted at {point}, connection {mount.connection}", flush=True)
        for line in sys.stdin:
            words = line.split()
            mount.stand(*words) if words else mount.answer()


if __name__ == "__main__":
    main()
