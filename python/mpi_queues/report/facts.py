"""Nested facts (``mpi info``, ``mpi plugin info``) as indented lines."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from .words import clean, wrapped

#: Facts are small; deeper nesting is shown as it is written.
_MAX_DEPTH = 4

#: Facts that are good news when they are missing.
_ONLY_WHERE_THERE = ("problem", "help", "reason")


def write_facts(title: str, facts: Mapping[str, Any], write: Callable[[str], object]) -> None:
    """The facts under their title."""
    write(wrapped(title, "", "  "))
    _write_mapping(facts, "  ", write, 0)


def _write_mapping(facts: Mapping[str, Any], indent: str, write: Callable[[str], object], depth: int) -> None:
    for key, value in facts.items():
        label = clean(str(key)).replace("_", " ")
        if depth < _MAX_DEPTH and isinstance(value, Mapping) and value:
            write(f"{indent}{label}:\n")
            _write_mapping(value, indent + "  ", write, depth + 1)
        elif isinstance(value, (list, tuple)) and any(isinstance(item, (Mapping, list, tuple)) for item in value):
            write(f"{indent}{label}:\n")
            for item in value:
                _write_item(item, indent + "  ", write, depth + 1)
        elif value is None and key in _ONLY_WHERE_THERE:
            continue
        elif isinstance(value, (list, tuple)) and any(" " in str(item) for item in value) and len(value) > 1:
            write(f"{indent}{label}:\n")
            for item in value:
                write(wrapped(_plain(item), indent + "  - ", indent + "    "))
        else:
            write(wrapped(f"{label}: {_plain(value)}", indent, indent + "  "))


def _write_item(item: Any, indent: str, write: Callable[[str], object], depth: int) -> None:
    if isinstance(item, Mapping):
        there = {key: value for key, value in item.items() if value is not None or key not in _ONLY_WHERE_THERE}
        write(
            wrapped("; ".join(f"{key}: {_plain(value)}" for key, value in there.items()), indent + "- ", indent + "  ")
        )
    else:
        write(wrapped(_plain(item), indent + "- ", indent + "  "))


def _plain(value: Any) -> str:
    if value is None:
        return "not known"
    if value is True:
        return "yes"
    if value is False:
        return "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(item) for item in value) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(item)}" for key, item in value.items()) or "none"
    return str(value)
