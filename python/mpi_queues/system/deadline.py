"""Limits on what cannot be interrupted: reads of other processes' memory and of files may take as long as they like."""

from __future__ import annotations

import threading
from typing import Callable, Generic, List, Optional, TypeVar

from ..errors import UserError

Result = TypeVar("Result")


class _Call(threading.Thread, Generic[Result]):
    def __init__(self, call: Callable[[], Result]) -> None:
        # What still runs when the command is over must not hold it up.
        super().__init__(daemon=True, name="within")
        self._call = call
        self.result: List[Result] = []
        self.error: Optional[BaseException] = None

    def run(self) -> None:
        try:
            self.result.append(self._call())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self.error = error


def within(seconds: float, what: str, call: Callable[[], Result]) -> Result:
    """Calls a function that touches nothing which this thread uses meanwhile. Ctrl-C ends the waiting at once, and so
    does the limit; what was called is left alone then and ends with the command.

    Raises:
        UserError: where it takes longer; ``what`` says what was done, such as ``finding the ranks of mpirun``.
    """
    running = _Call(call)
    running.start()
    running.join(seconds)
    if running.is_alive():
        raise UserError(
            f"{what}: not finished within {seconds:g} seconds",
            help="allow more time with --timeout SECONDS",
            kind="timeout",
        )
    if running.error is not None:
        raise running.error
    return running.result[0]
