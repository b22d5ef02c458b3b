"""Made-up processes: a directory like /proc, with which trees of processes are tried that nobody wants to start."""

from __future__ import annotations

import pathlib
from typing import Mapping, Optional, Sequence, Union

Text = Union[str, bytes]


def _bytes(text: Text) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


class MadeUpProc:
    """Processes start one clock tick after the other, in the order in which they are added."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self._ticks = 1000
        self.add(1, 0, ["init"])

    def add(
        self,
        pid: int,
        parent: int,
        command: Sequence[Text],
        environment: Optional[Mapping[str, str]] = None,
        *,
        maps: Sequence[str] = (),
        letter: str = "S",
        raw_environment: Optional[bytes] = None,
        name: Optional[bytes] = None,
        tracer: int = 0,
        users: Sequence[int] = (0, 0, 0),
        threads: Optional[Mapping[int, str]] = None,
    ) -> int:
        """A process; ``maps`` are paths that it executes code of, ``users`` its real, effective and saved one,
        ``threads`` the letters of its other threads by their numbers: where its main thread has ended, what it has is
        listed under theirs alone. Returns its id."""
        place = self.root / str(pid)
        place.mkdir(parents=True)
        self._ticks += 1
        words = [_bytes(word) for word in command]
        short = name if name is not None else words[0].rpartition(b"/")[2][:15] if words else b"x"
        fields = [letter, parent, *[0] * 17, self._ticks, *[0] * 30]
        (place / "stat").write_bytes(b"%d (%s) %s\n" % (pid, short, " ".join(map(str, fields)).encode()))
        of = "\t".join(map(str, [*users, users[1]]))
        (place / "status").write_text(f"Name:\tx\nTracerPid:\t{tracer}\nUid:\t{of}\nGid:\t{of}\n")
        content = b"".join(f"{key}={value}\0".encode() for key, value in (environment or {}).items())
        lines = [f"7f00-7f01 r-xp 00000000 00:00 1    {path}\n" for path in maps]
        others = threads or {}
        for one, is_there in [(place, not others or letter not in "ZX")] + [
            (place / "task" / str(thread), state not in "ZX") for thread, state in others.items()
        ]:
            one.mkdir(parents=True, exist_ok=True)
            (one / "cmdline").write_bytes(b"".join(word + b"\0" for word in words) if is_there else b"")
            environ = content if raw_environment is None else raw_environment
            (one / "environ").write_bytes(environ if is_there else b"")
            (one / "maps").write_text("".join(lines) if is_there else "")
        for thread, state in others.items():
            stat = b"%d (%s) %s\n" % (thread, short, " ".join(map(str, [state, *fields[1:]])).encode())
            (place / "task" / str(thread) / "stat").write_bytes(stat)
        return pid
