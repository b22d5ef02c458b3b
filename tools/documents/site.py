"""What mkdocs asks while it builds the site (mkdocs.yml, ``hooks``): adds the pages that are made of the sources, and
leads links that leave docs/ to these."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Callable, Dict

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "python")]

from documents import pages, schema  # noqa: E402
from documents.links import OUTSIDE, inside  # noqa: E402

#: Pages that are made.
MADE: Dict[str, Callable[[], str]] = {
    "commands.md": pages.command_line,
    "debugger-commands.md": pages.debuggers,
    "json.md": lambda: schema.page(ROOT / "docs" / "schema.json"),
}


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
