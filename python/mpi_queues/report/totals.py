"""The line of totals that stands last."""

from __future__ import annotations

from .._native import Communicator
from .operations import queues_of
from .words import WIDTH, columns, counted, shorten


class Totals:
    """What the last line says."""

    def __init__(self) -> None:
        self.communicators = 0
        self.operations = [0, 0, 0]
        self.unknown = [0, 0, 0]

    def add(self, communicator: Communicator) -> None:
        self.communicators += 1
        for kind, (_, queue) in enumerate(queues_of(communicator)):
            self.operations[kind] += len(queue)
            self.unknown[kind] += queue.state != "ok"

    def _count(self, kind: int, one: str) -> str:
        # Nothing seen in queues that cannot be read is no empty queue.
        if self.unknown[kind] and not self.operations[kind]:
            return f"{one}s not known"
        return f"{'at least ' if self.unknown[kind] else ''}{counted(self.operations[kind], one)}"

    def line(self, processes: int, width: int = WIDTH) -> str:
        """What fits one line, whatever the numbers."""
        counts = (
            f"{counted(processes, 'process')}, {counted(self.communicators, 'communicator')}: "
            f"{self._count(0, 'pending send')}, {self._count(1, 'pending receive')}, "
            f"{self._count(2, 'unexpected message')}"
        )
        for long, short in (("pending ", ""), (" messages", ""), (" message", ""), ("communicator", "comm")):
            if columns(counts) <= width:
                break
            counts = counts.replace(long, short)
        return shorten(counts, width)

    def unknown_line(self, problems: int) -> str:
        """What the numbers leave out; empty where they are complete."""
        parts = []
        if any(self.unknown):
            parts.append(f"{counted(sum(self.unknown), 'queue')} not known")
        if problems:
            parts.append(counted(problems, "problem"))
        return f"Not all is known: {', '.join(parts)}" if parts else ""
