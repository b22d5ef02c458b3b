"""Options that several commands share."""

from __future__ import annotations

import argparse


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
        help="who reads: auto, builtin, plugin or plugin=PATH (default: auto, the built-in reader)",
    )


def _source(text: str) -> str:
    if text in ("auto", "builtin", "plugin") or (text.startswith("plugin=") and len(text) > len("plugin=")):
        return text
    raise argparse.ArgumentTypeError(f"{text}: not one of auto, builtin, plugin, plugin=PATH")
