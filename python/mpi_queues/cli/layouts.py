"""``mpi-queues layouts``: the profiles that say where the fields of MPI's structures lie."""

from __future__ import annotations

import argparse
import json
import pathlib
import shlex
import sys
from typing import Any

from .. import _native
from .._native import printable_json
from ..errors import UsageError, UserError, as_user_error
from ..report import facts
from ..system.paths import shown
from ..system.written import new_file
from .answers import write_facts
from .options import add_actions, add_targets, request_of, requested

# The pooled types whose sizes tell builds of MPICH apart.
_TOLD_SIZES = ("MPIR_Comm", "MPIR_Request", "MPIR_Group", "MPIR_Win")


def add_commands(commands: Any) -> None:
    """Adds ``layouts`` and its own commands to the command line."""
    parser = commands.add_parser(
        "layouts",
        help="structure layouts: list the shipped ones, check which one fits, make new ones",
        description="Layout profiles say where the fields of an MPI library's structures are.",
        epilog="example:\n  mpi-queues layouts list",
    )
    actions = add_actions(parser)
    action = actions.add_parser(
        "list",
        help="the shipped profiles",
        description="Lists the shipped profiles.",
        epilog="example:\n  mpi-queues layouts list",
    )
    action.set_defaults(run=_list)
    action = actions.add_parser(
        "show",
        help="one profile as JSON",
        description="Prints a shipped profile.",
        epilog="example:\n  mpi-queues layouts show openmpi-4.1",
    )
    action.add_argument("name", metavar="NAME")
    action.set_defaults(run=_show)
    action = actions.add_parser(
        "check",
        help="which profile fits a process",
        description="Says which profile fits the MPI library of a process, and what differs if none does.",
        epilog="example:\n  mpi-queues layouts check --pid 4242",
    )
    add_targets(action, words=False)
    action.set_defaults(run=_check)
    _add_make(actions)


def _add_make(actions: Any) -> None:
    action = actions.add_parser(
        "make",
        help="make a profile from compiled headers or any DWARF",
        description="Makes a profile from the debug information of object files, executables or libraries.",
        epilog="example:\n"
        "  mpi-queues layouts make layout.o --name openmpi-4.1 --implementation 'Open MPI' \\\n"
        "      --mpi-version 4.1.4 --fits 4.1 --source 'openmpi 4.1.4-3' -o openmpi-4.1.json\n\n"
        "For an MPICH without debug information, a script in mpi-queues' repository makes one from its source:\n"
        "  layouts/make-mpich.sh --source mpich-4.2.3 --device ch4:ofi -o mine.json\n\n"
        "To use your own profile:\n"
        "  mpi-queues show --pid 4242 --layouts mine.json",
    )
    action.add_argument("objects", metavar="OBJECT", nargs="+", help="object file, executable or library with DWARF")
    action.add_argument("--name", required=True, help="the profile's name, such as openmpi-4.1")
    action.add_argument("--implementation", required=True, help="the MPI implementation, such as 'Open MPI'")
    action.add_argument(
        "--mpi-version", "--version", required=True, metavar="VERSION", help="the version it is made from"
    )
    action.add_argument(
        "--device", metavar="DEVICE", help="the device it was configured with, such as ch4:ofi,ucx (MPICH)"
    )
    action.add_argument(
        "--fits",
        action="append",
        default=[],
        metavar="PREFIX",
        help="versions it may fit, such as 4.1; repeatable",
    )
    action.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="TEXT",
        help="package or file it was made from; repeatable",
    )
    action.add_argument("--command", metavar="TEXT", help="the command to record as the one that made it")
    action.add_argument(
        "--type",
        action="append",
        default=[],
        metavar="NAME",
        help="a type to include (default: all that readers use)",
    )
    action.add_argument("--build-id", action="append", default=[], metavar="HEX", help="a build it was made for")
    action.add_argument("-o", "--output", metavar="FILE", help="where to write it (default: standard output)")
    action.set_defaults(run=_make)


def _list(options: argparse.Namespace) -> int:
    profiles = _native.layouts_list()
    width = max((len(str(profile["name"])) for profile in profiles), default=0)
    for profile in profiles:
        fits = ", ".join(f"{prefix}.x" for prefix in profile["fits"])
        device = f" {profile['device']}" if profile["device"] else ""
        print(
            f"{profile['name']:<{width}}  {profile['implementation']} {profile['version']}{device}, for {fits}; "
            f"{profile['types']} types"
        )
        if profile["sizes"]:
            sizes = [f"{name} {profile['sizes'][name]}" for name in _TOLD_SIZES if name in profile["sizes"]]
            print(f"{'':<{width}}  bytes: {', '.join(sizes)}")
    return 0


def _show(options: argparse.Namespace) -> int:
    try:
        text = _native.layouts_show(options.name)
    except KeyError:
        names = ", ".join(str(profile["name"]) for profile in _native.layouts_list())
        raise UsageError(f"no profile is named {options.name!r}; there are {names}") from None
    sys.stdout.write(printable_json(text if text.endswith("\n") else text + "\n"))
    return 0


def _check(options: argparse.Namespace) -> int:
    return write_facts(
        requested(options),
        request_of(options, action="layouts"),
        lambda label, told: facts.write_facts(label, told, sys.stdout.write),
    )


def _make(options: argparse.Namespace) -> int:
    for name in options.objects:
        if not pathlib.Path(name).is_file():
            raise UserError(f"{shown(name)}: no such file", kind="no_file")
    command = options.command or "mpi-queues " + shlex.join(sys.argv[1:])
    try:
        text = _native.layouts_make(
            objects=options.objects,
            name=options.name,
            implementation=options.implementation,
            version=options.mpi_version,
            fits=options.fits or [options.mpi_version],
            sources=options.source,
            command=command,
            types=options.type,
            build_ids=options.build_id,
            device=options.device,
        )
    except _native.NativeError as error:
        raise as_user_error(error) from None
    missing = json.loads(text)["producer"]["missing"]
    if missing:
        print(f"mpi-queues: not in these files (no release has everything): {', '.join(missing)}", file=sys.stderr)
    if options.output is None:
        sys.stdout.write(printable_json(text))
        return 0
    with new_file(options.output, "the profile", for_all=True) as file:
        file.write(text.encode())
    return 0
