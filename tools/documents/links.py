"""Links between files of the sources, as they are in the site."""

from __future__ import annotations

import re
from pathlib import Path

#: Files beside docs/ that are pages of the site, too, and what they are called there.
OUTSIDE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "reporting.md",
    "layouts/README.md": "layouts.md",
}

_LINK = re.compile(r"\]\(([^)\s#]*)(#[^)\s]*)?\)")


def inside(text: str, folder: Path) -> str:
    """A text of a folder of the sources, with its links as they are in the site."""

    def link(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        path = _normal(folder / target)
        if path in OUTSIDE:
            return f"]({OUTSIDE[path]}{anchor})"
        return f"]({path.removeprefix('docs/')}{anchor})" if path.startswith("docs/") else match[0]

    return _LINK.sub(link, text)


def _normal(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
