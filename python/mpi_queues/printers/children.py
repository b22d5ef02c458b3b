"""What debuggers show below a handle that is opened: its facts, each as a name and a line."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Tuple

from ..handle_types import HandleDict
from ..report.handles import fact_text, is_listed, is_reference
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
    unknown = handle["unknown"]
    for key, value in handle["facts"].items():
        yield from _parts(key, key, value, unknown)
        if not isinstance(value, dict):
            # Some of what belongs to the fact.
            inside = (name for name in unknown if name.startswith(f"{key}."))
            yield from ((name, clean(f"not known: {unknown[name]}")) for name in inside)
    for number, problem in enumerate(handle["problems"]):
        yield f"problem[{number}]", clean(problem)


def _parts(name: str, key: str, value: Any, unknown: Mapping[str, str]) -> Iterator[Row]:
    if value is None and name in unknown:
        yield name, clean(f"not known: {unknown[name]}")
    elif isinstance(value, dict) and not is_reference(value):
        for inner, part in value.items():
            yield from _parts(f"{name}.{inner}", inner, part, unknown)
    elif is_listed(key, value):
        for number, part in enumerate(value):
            yield f"{name}[{number}]", clean(fact_text("", part))
    else:
        yield name, clean(fact_text(key, value))
