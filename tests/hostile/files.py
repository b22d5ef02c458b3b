"""Files that a target or an argument names, and that are none, or lie: devices, FIFOs, damaged ELF files, odd names.

Of each seed follow who opens it (``file_places.py``), what it is and what it is called. Nobody waits for it; what is
no file is refused, in words that name it.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import Iterator, List, Optional, Sequence, Tuple

from .elf_damage import damaged_elf, damaged_text
from .file_places import PLACES, Place, prepare
from .guarded import Run, guarded
from .irregular import IRREGULAR, make_irregular
from .recordings import NASTY
from .typed import typed

SHORT = range(8)
LONG = range(500)
MPIS: Tuple[str, ...] = ()

#: Files, though odd ones.
REGULAR = ("an empty file", "a file of 1 TiB")

#: What it is called; each begins alike, so that it can be found in what is told.
NAMES = (
    b"odd",
    b"odd" + NASTY.encode(),
    b"odd\n\xe9\xff\x1b]0;x",
    b"odd" + b"n" * 252,
    b"odd $(id) `id` '\"; x",
    b"odd.f90",
)

NOBODY = 65534
#: Every so often all of a command is run.
WHOLE = 12


def runs(seeds: Sequence[int], mpi: Optional[str] = None) -> Iterator[Run]:
    """One run a seed."""
    made = prepare()
    for seed in seeds:
        yield _whole(seed, made["core"]) if seed % WHOLE == 7 else _run(seed)


def _run(seed: int) -> Run:
    chance = random.Random(seed)
    place = PLACES[seed % len(PLACES)]
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        name = place.only_name.encode() or chance.choice(NAMES)
        what, path = _made(os.fsencode(directory) + b"/" + name, place, chance)
        who = _nobody if what == "nobody's" else lambda: None

        def ask() -> Tuple[bool, str]:
            who()
            return place.ask(path, chance)

        outcome = guarded(ask)
        problems = list(outcome.problems)
        if outcome.value is None:
            return Run(f"{seed}: {place.name}: {what}", tuple(problems), outcome.seconds, "ended")
        answered, told = outcome.value
        problems += _wrong(place, what, path, answered, told)
    told_as = f"{seed}: {place.name}: {what}, called {name[:20]!r}"
    return Run(told_as, tuple(problems), outcome.seconds, "read" if answered else "refused")


def _wrong(place: Place, what: str, path: str, answered: bool, told: str) -> List[str]:
    """What is not as it must be, in sentences."""
    if what == "nobody's":
        return ["what nobody may read was read"] if answered and os.geteuid() == 0 else []
    if what not in IRREGULAR or what in REGULAR:
        return []
    # A loop of links leads nowhere, and nobody waits there.
    if answered and not place.writes and what != "a loop of links":
        return ["it was read"]
    # Beginnings of names; a start-up file may be called what the link to it leads to.
    wanted = {os.path.basename(path)[:3], place.only_name or path}
    if not answered and place.names and not any(name in told for name in wanted):
        return [f"what is told does not name it: {told[:500]!r}"]
    return []


def _made(place: bytes, who: Place, chance: random.Random) -> Tuple[str, str]:
    """Something at a place: in words, and its path."""
    # Damage has many kinds of its own.
    kind = chance.choice((*sorted(IRREGULAR), "nobody's", *["damaged"] * 10))
    path = Path(os.fsdecode(place))
    if kind in IRREGULAR:
        # The socket of a name that is too long is another one's.
        made = make_irregular(kind, path if kind != "a socket" else path.with_name("odd"))
        if who.only_name and made != str(path):
            path.symlink_to(made)
        return kind, made
    content = chance.choice(who.contents())
    if kind == "damaged":
        what, content = (damaged_elf if content.startswith(b"\x7fELF") else damaged_text)(content, chance)
        kind = f"damaged, {what}"
    path.write_bytes(content)
    if kind == "nobody's":
        path.chmod(0)
    return kind, str(path)


def _nobody() -> None:
    """Rights of nobody, for whom root is somebody else."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def _whole(seed: int, core: Path) -> Run:
    """The same by the command line, whatever else it reads then."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as directory:
        name = chance.choice(NAMES)
        option = chance.choice(("--core", "--exe", "--layouts"))
        place = next(
            one
            for one in PLACES
            if one.name
            == {"--core": "a core file", "--exe": "the program of a core file", "--layouts": "a layout profile"}[option]
        )
        what, path = _made(os.fsencode(directory) + b"/" + name, place, chance)
        words = {"--core": ["--core", path], "--exe": ["--core", str(core), "--exe", path]}
        given = words.get(option, ["--core", str(core), "--layouts", path])
        look = chance.choice((["show"], ["diagnose", "--format", "json"], ["record", "-o", f"{directory}/x.mpirec"]))
        result = typed([*look, "--timeout", "15", *given])
        problems = list(result.problems)
        if what != "nobody's":
            # Root may read everything.
            problems += _wrong(place, what, path, result.status in (0, 1), result.err)
    told_as = f"{seed}: {option} of {look[0]}: {what}, called {name[:20]!r}"
    return Run(told_as, tuple(problems), result.seconds, result.outcome)
