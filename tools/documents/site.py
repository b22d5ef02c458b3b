"""What mkdocs asks while it builds the site (mkdocs.yml, ``hooks``): adds the pages that are made of the sources, and
leads links that leave docs/ to these."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Callable, Dict

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "python")]

from mkdocs.structure.files import File  # noqa: E402

from documents import pages, schema  # noqa: E402

#: Files beside docs/ that are pages of the site, too, and what they are called there.
OUTSIDE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "reporting.md",
    "layouts/README.md": "layouts.md",
}

#: Pages that are made.
MADE: Dict[str, Callable[[], str]] = {
    "commands.md": pages.command_line,
    "debugger-commands.md": pages.debuggers,
    "json.md": lambda: schema.page(ROOT / "docs" / "schema.json"),
}

_LINK = re.compile(r"\]\(([^)\s#]*)(#[^)\s]*)?\)")


def on_files(files: Any, *, config: Any) -> Any:
    """Adds the pages."""
    for source, name in OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=inside(text, Path(source).parent)))
    for name, make in MADE.items():
        files.append(File.generated(config, name, content=make()))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Links of docs/ to files beside it."""
    return markdown if page.file.src_uri in OUTSIDE.values() else inside(markdown, Path("docs"))


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
