"""Correct scripts of which one rank leaves a part out by an exception (``tests/programs/python/scripted.py``)."""

from __future__ import annotations

import random
from typing import List, NamedTuple

from .mpi_rules import outcome
from .script_ends import Truth
from .script_maker import LONG, Maker
from .scripts import Script, step

#: What becomes of an exception, as the program has it.
UNHANDLED, FINALIZES, SLEEPS, GOES_ON = range(4)


class Raising(NamedTuple):
    """What ranks run, and what that comes to without words for exceptions."""

    scripts: List[Script]
    done: List[Script]
    #: Who raises the exception that leaves a part out, and what becomes of it.
    rank: int
    how: int


def raising_scripts(seed: int) -> Raising:
    """Scripts in which some rank is stuck, or waits, because of an exception of another or of its own."""
    choose = random.Random(seed)
    while True:
        made = Maker(choose, choose.choice((2, 2, 3, 3, 4)), choose.random() < 0.3).make(choose.randint(2, 6))
        if outcome(made, seed) is None:
            continue
        found = _raise(choose, made)
        end = outcome(found.done, seed)
        if end is not None and set(Truth(end).needs) - {found.rank}:
            return found


def _raise(choose: random.Random, made: List[Script]) -> Raising:
    rank, how = choose.randrange(len(made)), choose.choice((UNHANDLED, FINALIZES, SLEEPS, GOES_ON))
    own = made[rank]
    # A request that is made and not started would be waited for.
    places = [at for at in range(len(own) + 1) if at == len(own) or own[at].name != "start"]
    begin = choose.choice(places)
    end = choose.choice([at for at in places if at >= begin]) if how == GOES_ON else len(own)
    done, scripts = list(made), [list(script) for script in made]
    done[rank] = [*own[:begin], *([step("sleep", LONG)] if how == SLEEPS else own[end:])]
    scripts[rank].insert(begin, step("raise", how, end - begin))
    for script in scripts:
        if choose.random() < 0.3:
            script.insert(choose.randint(0, begin if script is scripts[rank] else len(script)), step("stumble"))
    return Raising(scripts, done, rank, how)
