"""What a person reads when something cannot be done: a sentence that names the thing, and the next thing to type."""

from __future__ import annotations


class UserError(Exception):
    """Something that cannot be done.

    Attributes:
        help: the next thing to type, may be empty.
        kind: a stable word for tests and scripts.
    """

    def __init__(self, message: str, *, help: str = "", kind: str = "error") -> None:
        super().__init__(message)
        self.help = help
        self.kind = kind

    @property
    def in_a_line(self) -> str:
        """All of it, for a list of problems."""
        return str(self).replace("\n", "; ")

    def __str__(self) -> str:
        message = str(self.args[0])
        return f"{message}\n{self.help}" if self.help else message


class UsageError(UserError):
    """A command was given something that it does not take."""

    def __init__(self, message: str, *, help: str = "") -> None:
        super().__init__(message, help=help, kind="usage")


def as_user_error(error: BaseException) -> UserError:
    """The error of the core (a ``NativeError``) or of a debugger as one that is shown."""
    if isinstance(error, UserError):
        return error
    if isinstance(error, OSError):
        return UserError(str(error))
    help_text = getattr(error, "help", "")
    kind = getattr(error, "kind", "error")
    return UserError(
        str(error.args[0]) if error.args else type(error).__name__,
        help=help_text if isinstance(help_text, str) else "",
        kind=kind if isinstance(kind, str) else "error",
    )
