"""Debug information for a stripped MPI: a library with nothing but the MPI's structures, to be preloaded into a rank.

Distributions do not ship their Open MPI with debug information. The structures of a shipped profile, written as C
and compiled with ``-g``, give a debugger what an unstripped MPI would.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Dict, List

from .paths import PROJECT


def profile(series: str) -> Dict[str, Any]:
    """The shipped profile of a release series, such as 4.1."""
    found: Dict[str, Any] = json.loads((PROJECT / "layouts" / f"openmpi-{series}.json").read_text())
    return found


def _tree(fields: Dict[str, Dict[str, Any]]) -> Dict[str, Any]:
    """Members by name; those of nested structures below them, which are as large as what a profile has of them."""
    root: Dict[str, Any] = {}
    for name in sorted(fields, key=lambda name: name.count(".")):
        *outer, last = name.split(".")
        level = root
        for part in outer:
            level = level.setdefault(part, {"field": None, "inner": {}})["inner"]
        level[last] = {"field": fields[name], "inner": {}}
    for node in root.values():
        _span(node)
    return root


def _span(node: Dict[str, Any]) -> None:
    for inner in node["inner"].values():
        _span(inner)
    if node["field"] is None:
        fields = [inner["field"] for inner in node["inner"].values()]
        start = min(field["offset"] for field in fields)
        end = max(field["offset"] + field["size"] for field in fields)
        node["field"] = {"offset": start, "size": end - start, "kind": "struct"}


def _declaration(name: str, node: Dict[str, Any]) -> str:
    field, inner = node["field"], node["inner"]
    size = field["size"]
    if inner:
        return f"struct {{ union {{ {_members(inner, field['offset'])} char whole_[{size}]; }}; }} {name};"
    if field["kind"] == "pointer":
        return f"void *{name};"
    if field["kind"] in ("signed", "unsigned") and size in (1, 2, 4, 8):
        return f"{'u' if field['kind'] == 'unsigned' else ''}int{8 * size}_t {name};"
    return f"char {name}[{size}];"


def _members(level: Dict[str, Any], base: int) -> str:
    out: List[str] = []
    for name, node in level.items():
        field = node["field"]
        if field["size"] == 0:
            continue
        # Each member stands alone in a packed structure of a union, so that nothing depends on the compiler's layout.
        offset = field["offset"] - base
        padding = f"char before_{name}[{offset}]; " if offset else ""
        out.append(f"struct {{ {padding}{_declaration(name, node)} }} __attribute__((packed));")
    return " ".join(out)


def source(types: Dict[str, Dict[str, Any]]) -> str:
    """C that defines every type at the offsets given."""
    lines = ["#include <stdint.h>"]
    for name, layout in sorted(types.items()):
        members = _members(_tree(layout["fields"]), 0)
        lines.append(f"typedef struct {name} {{ union {{ {members} char whole_[{layout['size']}]; }}; }} {name};")
        lines.append(f'_Static_assert(sizeof({name}) == {layout["size"]}, "{name}");')
    return "\n".join(lines) + "\n"


def library(types: Dict[str, Dict[str, Any]], directory: Path) -> Path:
    """Compiles the types into a shared library with debug information."""
    text = directory / "types.c"
    text.write_text(source(types))
    out = directory / "libtypes.so"
    flags = ["-g", "-shared", "-fPIC", "-fno-eliminate-unused-debug-types"]
    subprocess.run(["gcc", *flags, "-o", str(out), str(text)], check=True)
    return out
