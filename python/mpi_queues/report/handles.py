"""Handles as text of at most 100 columns, for people: one line each, or all facts of one."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .._native import Process, Snapshot
from ..handle_types import KINDS, NOUNS, HandleDict, HandleListDict
from .started import fact_words
from .text import Options, process_head, write_problems
from .words import WIDTH, clean, columns, counted, pad, ranks, shorten, wrapped

Write = Callable[[str], object]

#: Facts that are world ranks in rank order.
RANK_LISTS = {"group", "remote_group", "ranks", "started", "posted"}

#: Facts that are bytes, whatever the kind.
_BYTES = {"bytes", "extent", "lb", "true_lb", "true_extent", "displacement", "transferred"}

#: Elements of a list that the text shows; the JSON has all.
_SHOWN = 200


def write_handles(snapshot: Snapshot, write: Write, options: Optional[Options] = None, *, full: bool = False) -> None:
    """The handles of every process: a line each, or with ``full`` all that is known of each."""
    options = options or Options()
    total = 0
    for number, process in enumerate(snapshot.processes):
        if number:
            write("\n")
        write(process_head(process, options))
        for found in process.handles:
            total += len(found["handles"])
            _write_list(process, found, write, options, full)
        for note in process.notes:
            write(wrapped(f"Note: {note}", "  ", "    "))
    write("\n")
    write_problems(snapshot, write, options)
    write(f"{counted(len(snapshot.processes), 'process')}, {counted(total, 'handle')}\n")


def _write_list(process: Process, found: HandleListDict, write: Write, options: Options, full: bool) -> None:
    handles = found["handles"]
    groups: Dict[str, List[HandleDict]] = {"created by the program": []}
    for handle in handles:
        groups.setdefault(_group_of(handle), []).append(handle)
    # A status is no object of the library, but a structure of the program.
    noun = KINDS["status"] if found["kind"] == "status" else NOUNS.get(found["kind"], found["kind"])
    if not handles and not found["complete"]:
        # Nothing found in a list that cannot be read is no empty list.
        write("\n" + wrapped(f"{noun}s: not known: {found['detail'] or 'no reason given'}", "  ", "    "))
        return
    write("\n" + wrapped(f"{counted(len(handles), noun)}{'' if found['complete'] else ' (not all)'}", "  "))
    if found["detail"]:
        write(wrapped(found["detail"], "  not all: ", "    "))
    for title, group in groups.items():
        if group and len(group) < len(handles):
            write(f"  {title}:\n")
        shown = group if options.limit is None else group[: max(0, options.limit)]
        for handle in shown:
            if full:
                write_handle(handle, write, indent="    ")
            else:
                write("    " + one_line(handle, WIDTH - 4) + "\n")
        if len(shown) < len(group):
            hint = f" (to see them: {options.show_more})" if options.show_more else ""
            write(f"    … and {len(group) - len(shown):,} more{hint}\n")


def _group_of(handle: HandleDict) -> str:
    """Under which title it is listed: what a program has forgotten to free stands under the first."""
    if handle["predefined"]:
        return "predefined"
    if handle["facts"].get("internal"):
        return "of the library itself"
    return "freed, and still in use" if handle["freed"] else "created by the program"


def problems_of(found: HandleListDict) -> List[str]:
    """What could not be read of the handles of a list."""
    problems: List[str] = []
    for handle in found["handles"]:
        name = f"{KINDS.get(handle['kind'], handle['kind'])} {handle['handle'] or ''}".rstrip()
        problems += [f"{name}: {problem}" for problem in handle["problems"]]
        if handle["state"] == "unknown":
            problems.append(f"{name}: {handle['detail'] or 'not known'}")
    return problems


def one_line(handle: HandleDict, width: int = WIDTH) -> str:
    """Value, Fortran integer and summary."""
    value = handle["handle"] or ""
    fortran = "" if handle["fortran"] is None else f"({handle['fortran']})"
    return shorten(f"{pad(value, 14)} {pad(fortran, 6)} {clean(handle['summary'])}", width)


def write_handle(handle: HandleDict, write: Write, *, title: str = "", indent: str = "") -> None:
    """All that is known of one handle."""
    name = title or KINDS.get(handle["kind"], handle["kind"])
    write(wrapped(f"{name}: {handle['summary']}", indent, indent + "  "))
    inner = indent + "  "
    rows: Dict[str, Any] = {}
    if handle["handle"] is not None:
        rows["handle"] = handle["handle"]
    if handle["fortran"] is not None:
        rows["Fortran"] = handle["fortran"]
    if handle["state"] not in ("live", "null"):
        rows["state"] = handle["state"]
    if handle["state"] == "live":
        for key in ("name", "predefined", "freed"):
            value = handle[key]
            if value is not None:
                rows[key] = value
    rows.update(handle["facts"])
    width = max([12, *(columns(_label(key)) for key in rows)])
    for key, value in rows.items():
        _write_fact(key, value, handle["unknown"], write, inner, width)
    for problem in handle["problems"]:
        write(wrapped(f"Problem: {problem}", inner, inner + "  "))


def _label(key: str) -> str:
    return key.replace("_", " ")


def _write_fact(key: str, value: Any, unknown: Mapping[str, str], write: Write, indent: str, width: int) -> None:
    """unknown: why a fact is not known, by its name; ``name.member``: why that member of it is not."""
    head = f"{indent}{pad(_label(key), width)}  "
    further = " " * columns(head)
    members = {name[len(key) + 1 :]: reason for name, reason in unknown.items() if name.startswith(f"{key}.")}
    if value is None and key in unknown:
        write(wrapped(f"not known: {unknown[key]}", head, further))
    elif key == "started_by":
        write(wrapped(fact_words(value), head, further))
    elif isinstance(value, dict) and not is_reference(value):
        write(f"{indent}{_label(key)}\n")
        inner_width = max([8, *(columns(_label(name)) for name in value)])
        for name, inner in value.items():
            _write_fact(name, inner, members, write, indent + "  ", inner_width)
        members = {}
    elif is_listed(key, value):
        write(f"{indent}{_label(key)}\n")
        for element in value[:_SHOWN]:
            _write_element(element, write, indent + "  ")
        if len(value) > _SHOWN:
            write(f"{indent}  … and {len(value) - _SHOWN:,} more\n")
    else:
        write(wrapped(fact_text(key, value), head, further))
    for name, reason in members.items():
        write(wrapped(f"{_label(name)}: not known: {reason}", indent + "  ", indent + "    "))


def _write_element(element: Any, write: Write, indent: str) -> None:
    if isinstance(element, str):
        # Lines of a sketch keep their indentation.
        blanks = len(element) - len(element.lstrip(" "))
        write(wrapped(element, indent + " " * blanks, indent + " " * blanks + "    ") if element.strip() else "\n")
    elif isinstance(element, dict) and not is_reference(element):
        parts = [f"{_label(name)} {fact_text(name, value)}" for name, value in element.items() if value is not None]
        write(wrapped(", ".join(parts), indent, indent + "  "))
    else:
        write(wrapped(fact_text("", element), indent, indent + "  "))


def is_reference(value: Dict[str, Any]) -> bool:
    """Whether a fact names another object."""
    return set(value) == {"kind", "handle", "summary"}


def is_listed(key: str, value: Any) -> bool:
    """Whether a fact is a list of which each element has a place of its own; ``key`` is its name."""
    return isinstance(value, list) and key not in RANK_LISTS and not all(isinstance(one, int) for one in value)


def fact_text(key: str, value: Any) -> str:
    """A fact in a line; ``key`` is its name."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value} bytes" if key in _BYTES else str(value)
    if isinstance(value, list):
        return _list_text(key, value)
    if isinstance(value, dict):
        if is_reference(value):
            return f"{value['summary']} ({value['handle']})"
        return ", ".join(f"{_label(name)} {fact_text(name, inner)}" for name, inner in value.items())
    return str(value)


def _list_text(key: str, values: Sequence[Any]) -> str:
    if key in RANK_LISTS:
        return ranks(values)
    if not values:
        return "none"
    shown: List[str] = [fact_text("", value) for value in values[:_SHOWN]]
    more = len(values) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
