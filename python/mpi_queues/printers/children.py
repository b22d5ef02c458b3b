"""What debuggers show below a handle that is opened: its facts, each as a name and a line."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Tuple

from ..handle_types import HandleDict
from ..report.handles import RANK_LISTS, fact_text, is_reference
from ..report.words import clean

#: So many are shown; nobody reads more in a tree of variables, and ``mpi print`` has all.
MOST = 200
#: So much of the text of each.
LONGEST = 1000

Row = Tuple[str, str]


def rows(handle: HandleDict) -> List[Row]:
    """The facts of a handle in the order of the full form, with what they have inside under names of their own."""
    found: List[Row] = []
    for name, text in _rows(handle):
        if len(found) == MOST:
            found.append(("more", "type: mpi print"))
            break
        found.append((name, text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"))
    return found


def _rows(handle: HandleDict) -> Iterator[Row]:
    own: Dict[str, Any] = {"handle": handle["handle"], "fortran": handle["fortran"]}
    if handle["state"] not in ("live", "null"):
        own.update(state=handle["state"], detail=handle["detail"])
    if handle["state"] == "live":
        own.update(name=handle["name"], predefined=handle["predefined"], freed=handle["freed"])
    for key, value in own.items():
        if value is not None:
            yield key, clean(fact_text(key, value))
    for key, value in handle["facts"].items():
        reason = handle["unknown"].get(key)
        if value is None and reason is not None:
            yield key, clean(f"not known: {reason}")
        else:
            yield from _parts(key, key, value)
    for number, problem in enumerate(handle["problems"]):
        yield f"problem[{number}]", clean(problem)


def _parts(name: str, key: str, value: Any) -> Iterator[Row]:
    if isinstance(value, dict) and not is_reference(value):
        for inner, part in value.items():
            yield from _parts(f"{name}.{inner}", inner, part)
    elif isinstance(value, list) and value and key not in RANK_LISTS and not all(isinstance(one, int) for one in value):
        for number, part in enumerate(value):
            yield f"{name}[{number}]", clean(fact_text("", part))
    else:
        yield name, clean(fact_text(key, value))
