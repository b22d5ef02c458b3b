"""Options that several commands share."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

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


def requested(options: argparse.Namespace, source: str = "auto") -> Request:
    """What the options that name targets say of how these are read; ``source`` is as of ``--source``.

    Raises:
        UserError: where a plug-in that it names is not there.
    """
    kind, plugin = requested_plugin(source, None, _NO_PLUGIN)
    request = Request(source=kind, plugin=plugin, timeout=options.timeout, layouts=options.layouts)
    named = getattr(options, "wrappers", None)
    return request if named is None else replace(request, wrappers=wrappers_in(named))


def _source(text: str) -> str:
    if text in ("auto", "builtin", "plugin", "recorder") or (text.startswith("plugin=") and len(text) > len("plugin=")):
        return text
    raise argparse.ArgumentTypeError(f"{text}: not one of auto, builtin, plugin, plugin=PATH, recorder")
