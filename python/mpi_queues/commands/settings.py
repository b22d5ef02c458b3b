"""The settings of the commands: what they mean, what they may be, and how they are told. Debuggers keep the values."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Tuple

from ..report.text import DEFAULT_LIMIT
from ..request import WRAPPERS

DEFAULT_TIMEOUT = 60


@dataclass(frozen=True)
class Setting:
    """One setting."""

    name: str
    #: Continues "Set" and "Show".
    what: str
    #: The rest of the help; ``{set}`` stands for how a setting is typed.
    details: str
    example: str
    default: Any
    #: The value that a text stands for; ValueError with what is allowed.
    parse: Callable[[str], Any]
    #: The sentence that shows a value.
    tell: Callable[[Any], str]
    choices: Tuple[str, ...] = ()


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"not one of {', '.join(choices)}")
        return text

    return parse


def _switch(text: str) -> bool:
    words = {"on": True, "yes": True, "true": True, "1": True, "off": False, "no": False, "false": False, "0": False}
    if text.lower() not in words:
        raise ValueError("neither on nor off")
    return words[text.lower()]


def _rows(text: str) -> Any:
    if text == "unlimited":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("neither a number of rows nor 'unlimited'")
    return int(text)


def _seconds(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise ValueError("not a time of 1 to 1000000 seconds")
    return int(text)


SOURCES = ("auto", "builtin", "plugin", "recorder")

SETTINGS = (
    Setting(
        "source",
        "what reads the message queues: auto, builtin, plugin or recorder.",
        "builtin: the built-in reader.\n"
        "recorder: what the flight recorder has seen.\n"
        "auto: the built-in reader, or the flight recorder if that one cannot read them.\n"
        "plugin: the one that 'mpi plugin load' or '{set} plugin-path' names, or else the one that the MPI library "
        "names.",
        "plugin",
        "auto",
        _one_of(*SOURCES),
        lambda value: f'The source of message queues is "{value}".',
        SOURCES,
    ),
    Setting(
        "plugin-path",
        "where message-queue plug-ins are looked for.",
        "Files and directories, separated by colons; the first plug-in found is used if a plug-in is asked for.\n"
        "Naming a plug-in here allows it to be loaded. Empty: the plug-in that the MPI library names.",
        "/opt/openmpi/lib/openmpi",
        "",
        str,
        lambda value: f'Message-queue plug-ins are looked for in "{value}".' if value else "No plug-in path is set.",
    ),
    Setting(
        "internal",
        "whether 'mpi queues' shows operations of MPI itself.",
        "Operations of MPI itself have negative tags: collectives, one-sided communication.",
        "on",
        False,
        _switch,
        lambda value: f"Showing operations of MPI itself is {'on' if value else 'off'}.",
        ("on", "off"),
    ),
    Setting(
        "limit",
        "how many operations of a queue are shown as text.",
        "A number of rows of each queue, or 'unlimited'. JSON is always complete.",
        "1000",
        DEFAULT_LIMIT,
        _rows,
        lambda value: f"At most {'unlimited' if value is None else value} operations of a queue are shown.",
        ("unlimited",),
    ),
    Setting(
        "timeout",
        "how long a plug-in may take to read a process, in seconds.",
        "In seconds, at least 1. A plug-in that takes longer is ended; what it said before is shown.",
        "10",
        DEFAULT_TIMEOUT,
        _seconds,
        lambda value: f"A plug-in may take {value} seconds to read a process.",
    ),
    Setting(
        "layouts",
        "a layout profile to use instead of the shipped ones.",
        "A file that 'mpi-queues layouts make' wrote, for an MPI without a shipped one. It is verified against the "
        "process, as the shipped ones are. Empty: the shipped ones.",
        "site-4.1.6.json",
        "",
        str,
        lambda value: f'Layouts are read from "{value}".' if value else "The shipped layouts are used.",
    ),
    Setting(
        "wrappers",
        "what wraps MPI for the application.",
        "Libraries (libhalo.so) and functions (halo::, comm_*), separated by commas: a call of MPI is shown where\n"
        "they are called. mpi4py, Boost.MPI and the like are known.",
        "libhalo.so,comm_*",
        os.environ.get(WRAPPERS, ""),
        str,
        lambda value: f'MPI is wrapped by "{value}".' if value else "No wrappers of MPI are named.",
    ),
)

#: All settings by name, in the order of the help.
BY_NAME = {setting.name: setting for setting in SETTINGS}


class Values:
    """The values of all settings, for a debugger that keeps none itself."""

    def __init__(self) -> None:
        self._values = {setting.name: setting.default for setting in SETTINGS}

    def get(self, name: str) -> Any:
        """The value of one; KeyError where there is none of that name."""
        return self._values[name]

    def change(self, name: str, text: str) -> None:
        """Gives one the value that ``text`` stands for.

        Raises:
            ValueError: where it is no value of that setting, which keeps the one that it had; the text says what is.
        """
        self._values[name] = BY_NAME[name].parse(text)
