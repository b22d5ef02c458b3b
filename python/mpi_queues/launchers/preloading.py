"""A launcher's command with a library that its ranks are to have preloaded, by that launcher's own options.

The library stands first: behind it what the user wants preloaded, in the options of the launcher or in the environment.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from ..system import commands
from .environment import shortened

NAME = "LD_PRELOAD"

OPEN_MPI, PRTE, HYDRA, SLURM, FLUX = "Open MPI", "PRRTE", "Hydra", "Slurm", "Flux"

#: Launchers by their names alone. Those of Debian have the MPI behind the name (mpirun.openmpi, mpiexec.hydra).
_NAMES = (
    (re.compile(r"^(?:orterun|oshrun|shmemrun|(?:mpirun|mpiexec)[.-]openmpi)(?:[-.].*)?$"), OPEN_MPI),
    (re.compile(r"^(?:prterun|prun)(?:[-.].*)?$"), PRTE),
    (re.compile(r"^(?:mpirun|mpiexec)[.-](?:hydra|mpich)(?:[-.].*)?$"), HYDRA),
    (re.compile(r"^srun$"), SLURM),
    (re.compile(r"^flux$"), FLUX),
)
#: Launchers of several MPIs have these names.
_SHARED = re.compile(r"^(?:mpirun|mpiexec)(?:[-.].*)?$")

#: What launchers say of themselves with ``--version``: open-mpi/ompi 4 and 5; openpmix/prrte; pmodels/mpich
#: src/pm/hydra, which MVAPICH has too; Intel's, whose mpirun is a script around that.
_VERSIONS = (
    (re.compile(r"Open ?MPI|OpenRTE"), OPEN_MPI),
    (re.compile(r"PRRTE|prte", re.IGNORECASE), PRTE),
    (re.compile(r"HYDRA|Intel\(R\) MPI"), HYDRA),
)
#: Seconds in which a launcher says its version, and bytes of that which are looked at.
_VERSION_TIMEOUT, _VERSION_LENGTH = 15.0, 4096

#: Commands of flux that start a job (flux-framework/flux-core, flux-run(1)).
_FLUX_COMMANDS = ("run", "submit", "bulksubmit", "alloc", "batch")

#: With this parameter, or its variable, Open MPI 4 takes no ``-x`` (orte/mca/schizo/base/schizo_base_stubs.c).
_ENV_LIST = "mca_base_env_list"


@dataclass(frozen=True)
class Preloaded:
    """How the job is started."""

    command: List[str]
    #: The environment of the launcher.
    environment: Dict[str, str]
    #: Whose options were used; None where the launcher is not known, and the whole command gets the library.
    launcher: Optional[str]


def with_library(
    command: Sequence[str],
    library: str,
    environment: Mapping[str, str],
    version_of: Optional[Callable[[str], str]] = None,
) -> Preloaded:
    """The command of a job whose ranks have the library first among those that are preloaded.

    ``version_of`` says what a launcher tells with ``--version``; it is asked where the name alone does not tell.
    """
    launcher = launcher_of(command[0], version_of or _version)
    already = environment.get(NAME, "")
    words, variables = list(command), dict(environment)
    if launcher in (OPEN_MPI, PRTE):
        words, variables = _open_mpi(words, library, variables)
    elif launcher == HYDRA:
        words = _hydra(words, library, already)
    elif launcher == SLURM:
        words = _slurm(words, library, variables)
    elif launcher == FLUX and _flux_place(words) is not None:
        words = _flux(words, library, already)
    else:
        launcher = None
        variables[NAME] = _first(library, already)
    return Preloaded(words, variables, launcher)


def launcher_of(program: str, version_of: Callable[[str], str]) -> Optional[str]:
    """Whose launcher a program is; None where that is not known."""
    found = shutil.which(program) or program
    # An alternative of Debian is a link to the launcher's own name; a link to a script that starts many is none.
    names = [os.path.basename(program), os.path.basename(os.path.realpath(found))]
    for pattern, launcher in _NAMES:
        if any(pattern.match(name) for name in names):
            return launcher
    if not _SHARED.match(names[0]):
        return None
    said = version_of(found)
    return next((launcher for pattern, launcher in _VERSIONS if pattern.search(said)), None)


def _version(program: str) -> str:
    """What a program says of its version; empty where it does not in time."""
    try:
        told = commands.said([program, "--version"], _VERSION_TIMEOUT, _VERSION_LENGTH)
    except (OSError, subprocess.SubprocessError):
        return ""
    return (told.out + told.errors).decode(errors="replace")


def _first(library: str, others: str) -> str:
    """The value of LD_PRELOAD that has the library first, and once."""
    rest = [one for one in re.split(r"[:\s]+", others) if one and one != library]
    return ":".join([library, *rest])


def _open_mpi(words: List[str], library: str, variables: Dict[str, str]) -> Tuple[List[str], Dict[str, str]]:
    """``-x NAME=VALUE``, for each program of ``mpirun … : …`` (Open MPI 4 takes it for one of them alone)."""
    already = variables.get(NAME, "")
    at = next((at for at, word in enumerate(words[:-1]) if word == _ENV_LIST), None)
    if at is not None:
        words[at + 1] = _in_list(words[at + 1], library, already)
        return words, variables
    variable = f"OMPI_MCA_{_ENV_LIST}"
    if variables.get(variable):
        return words, {**variables, variable: _in_list(variables[variable], library, already)}
    option = ["-x", f"{NAME}={_first(library, already)}"]
    made: List[str] = []
    for number, context in enumerate(_contexts(words)):
        start = [":"] if number else context[:1]
        own, found = _options(context[0 if number else 1 :], library, already)
        made += [*start, *([] if found else option), *own]
    return made, variables


def _contexts(words: Sequence[str]) -> List[List[str]]:
    """The parts of a command that are separated by a colon of its own."""
    contexts: List[List[str]] = [[]]
    for word in words:
        if word == ":":
            contexts.append([])
        else:
            contexts[-1].append(word)
    return contexts


def _options(words: Sequence[str], library: str, already: str) -> Tuple[List[str], bool]:
    """With the library before what the user's own option preloads; and whether there is such an option."""
    made = list(words)
    found = False
    for at, word in enumerate(words[:-1]):
        name, separator, value = words[at + 1].partition("=")
        if word in ("-x", "--x") and name == NAME:
            made[at + 1] = f"{NAME}={_first(library, value if separator else already)}"
            found = True
    return made, found


def _in_list(text: str, library: str, already: str) -> str:
    """The same in the list of Open MPI's parameter, whose entries a semicolon separates."""
    entries = [entry for entry in text.split(";") if entry]
    for at, entry in enumerate(entries):
        name, separator, value = entry.partition("=")
        if name == NAME:
            entries[at] = f"{NAME}={_first(library, value if separator else already)}"
            return ";".join(entries)
    return ";".join([*entries, f"{NAME}={_first(library, already)}"])


def _hydra(words: List[str], library: str, already: str) -> List[str]:
    """``-genv NAME VALUE``, which is for all programs; ``-env`` of one of them goes before it."""
    found = False
    at = 1
    while at < len(words) - 1:
        option = words[at].lstrip("-") if words[at].startswith("-") else ""
        name, separator, value = words[at + 1].partition("=")
        if option in ("genv", "env") and name == NAME:
            found = found or option == "genv"
            if separator:
                words[at + 1] = f"{NAME}={_first(library, value)}"
            elif at + 2 < len(words):
                words[at + 2] = _first(library, words[at + 2])
        at += 1
    return words if found else [words[0], "-genv", NAME, _first(library, already), *words[1:]]


def _slurm(words: List[str], library: str, variables: Mapping[str, str]) -> List[str]:
    """``--export``, with what the user's own, or the batch job's, hands on."""
    at, value = _value_of(words, "--export")
    exported = value if value is not None else variables.get("SLURM_EXPORT_ENV") or "ALL"
    kept: List[str] = []
    others = variables.get(NAME, "") if exported.startswith("ALL") else ""
    for entry in exported.split(","):
        name, separator, own = entry.partition("=")
        if name == NAME:
            others = own if separator else variables.get(NAME, "")
        elif entry not in ("NONE", "NIL", ""):
            kept.append(entry)
    option = f"--export={','.join([*kept, f'{NAME}={_first(library, others)}'])}"
    if at is None:
        return [words[0], option, *words[1:]]
    return [*words[:at], option, *words[at + (1 if words[at] != "--export" else 2) :]]


def _value_of(words: Sequence[str], option: str) -> Tuple[Optional[int], Optional[str]]:
    """Where an option with a value is, and its value."""
    for at, word in enumerate(words):
        if word == option and at + 1 < len(words):
            return at, words[at + 1]
        if word.startswith(f"{option}="):
            return at, word[len(option) + 1 :]
    return None, None


def _flux_place(words: Sequence[str]) -> Optional[int]:
    """Behind which word options of a job may stand; None where flux starts none."""
    command = words[2:3] if words[1:2] == ["mini"] else words[1:2]
    if not command or command[0] not in _FLUX_COMMANDS:
        return None
    return 2 if words[1] == "mini" else 1


def _flux(words: List[str], library: str, already: str) -> List[str]:
    """``--env=NAME=VALUE``, behind the user's own rules, which are applied one after the other (flux-run(1))."""
    place = (_flux_place(words) or 0) + 1
    others = already
    for at in range(place, len(words)):
        joined = words[at].startswith("--env=")
        if joined or (words[at] == "--env" and at + 1 < len(words)):
            rule = words[at][len("--env=") :] if joined else words[at + 1]
            place = at + (1 if joined else 2)
            name, separator, value = rule.partition("=")
            others = value if separator and name == NAME else others
    return [*words[:place], f"--env={NAME}={_first(library, others)}", *words[place:]]


def described(program: str) -> str:
    """A program that is no known launcher, for messages."""
    return shortened(os.path.basename(program))
