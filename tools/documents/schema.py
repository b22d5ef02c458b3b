"""The page of the JSON: docs/schema.json as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Iterator, List

_HEAD = """# JSON

What `--format json` prints, `Snapshot.to_json` gives and `mpi-queues-agent` sends: the schema `mpi-queues/1`. Members
are added; none is removed, and none gets another meaning. A program that reads it must not mind members that it does
not know.

[schema.json](schema.json) is the same as a JSON Schema (draft 2020-12). Both are made from the types of `crates/model`.
A member that is not *always* there is left out where there is nothing to say. Lengths are bytes; addresses are those
in the process.
"""


def page(path: Path) -> str:
    """The page of a schema."""
    schema = json.loads(path.read_text(encoding="utf-8"))
    lines = [_HEAD, *_section(str(schema["title"]), schema)]
    for name, definition in schema["$defs"].items():
        lines += _section(name, definition)
    return "\n".join(lines) + "\n"


def _section(name: str, definition: Dict[str, Any]) -> Iterator[str]:
    yield from (f"## {name}", "")
    if definition.get("description"):
        yield from (_text(definition["description"]), "")
    properties = definition.get("properties")
    if properties is not None:
        yield from ("| Member | Type | |", "|---|---|---|")
        always = definition.get("required", ())
        for member, said in properties.items():
            there = "Always. " if member in always else ""
            yield f"| `{member}` | {_type(said)} | {there}{_cell(said.get('description', ''))} |"
        yield ""
    values = list(_values(definition))
    if values:
        yield from ("| Value | |", "|---|---|")
        yield from (f"| `{json.dumps(value)}` | {_cell(said)} |" for value, said in values)
        yield ""
    if properties is None and not values:
        yield from (f"{_type(definition)}", "")


def _values(definition: Dict[str, Any]) -> Iterator[Any]:
    for value in definition.get("enum", ()):
        yield value, ""
    for one in definition.get("oneOf", ()):
        if "const" in one:
            yield one["const"], one.get("description", "")
        for value in one.get("enum", ()):
            yield value, one.get("description", "")


def _type(said: Dict[str, Any]) -> str:
    """The type in words, with links to those that have a section."""
    if "$ref" in said:
        name = said["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in said:
            return " or ".join(_type(one) for one in said[several])
    kinds: List[str] = said["type"] if isinstance(said.get("type"), list) else [said.get("type", "anything")]
    words = []
    for kind in kinds:
        if kind == "array" and "items" in said:
            words.append(f"list of {_type(said['items'])}")
        elif kind == "array" and "prefixItems" in said:
            words.append(f"list of {', '.join(_type(one) for one in said['prefixItems'])}")
        elif kind == "object" and isinstance(said.get("additionalProperties"), dict):
            words.append(f"object of {_type(said['additionalProperties'])}")
        elif "const" in said:
            words.append(f"`{json.dumps(said['const'])}`")
        else:
            words.append(str(kind))
    return " or ".join(words)


def _text(text: str) -> str:
    """Documentation of the types is Markdown already; what it calls by Rust's links is plain here."""
    return text.replace("[`", "`").replace("`]", "`")


def _cell(text: str) -> str:
    return " ".join(_text(text).split()).replace("|", "\\|")
