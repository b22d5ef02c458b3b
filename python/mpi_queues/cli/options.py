"""Options that several commands share."""

from __future__ import annotations

import argparse
from typing import Any, Optional

from ..commands.plugins import requested_plugin
from ..request import WRAPPERS, Request, wrappers_in

#: What to do where a plug-in that was named is not there.
_NO_PLUGIN = "the built-in reader needs none: leave out --source"


def add_format(parser: argparse.ArgumentParser) -> None:
    """Adds ``--format``."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people or for programs")


def add_source(parser: argparse.ArgumentParser) -> None:
    """Adds ``--source``: who reads, or tells what handles mean."""
    parser.add_argument(
        "--source",
        type=_source,
        default="auto",
        metavar="SOURCE",
        help="who reads: auto, builtin, recorder, plugin or plugin=PATH (default: auto, the built-in reader, and the "
        "flight recorder where it reads no queues)",
    )


def add_wrappers(parser: argparse.ArgumentParser) -> None:
    """Adds ``--wrappers``: what to look through on the way from MPI to the application."""
    parser.add_argument(
        "--wrappers",
        metavar="NAMES",
        help="libraries (libhalo.so) and functions (halo::, comm_*) that wrap MPI, separated by commas: a call is "
        f"shown where they are called (default: ${WRAPPERS}; mpi4py, Boost.MPI and the like are known)",
    )


def add_actions(parser: argparse.ArgumentParser) -> Any:
    """Makes it a command with commands of its own, which are added to what this returns."""
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=type(parser))


def request_of(options: argparse.Namespace, source: Optional[str] = None, **asked: Any) -> Request:
    """What the options say of how targets are read, and what is ``asked`` of them; ``source`` is as of ``--source``, in
    place of that.

    Raises:
        UserError: where a plug-in that it names is not there.
    """
    kind, plugin = requested_plugin(str(source or getattr(options, "source", "auto")), None, _NO_PLUGIN)
    named = getattr(options, "wrappers", None)
    if named is not None:
        asked["wrappers"] = wrappers_in(named)
    return Request(source=kind, plugin=plugin, timeout=options.timeout, layouts=options.layouts, **asked)


def row_limit(text: str) -> Optional[int]:
    """Rows of text; None for all."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: neither a number nor 'all'")
    return int(text)


def _source(text: str) -> str:
    if text in ("auto", "builtin", "plugin", "recorder") or (text.startswith("plugin=") and len(text) > len("plugin=")):
        return text
    raise argparse.ArgumentTypeError(f"{text}: not one of auto, builtin, plugin, plugin=PATH, recorder")
