"""The whole page in one file: its parts in a template, its style and its script, and a policy that forbids the rest."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Dict, List, Mapping

from .._native import __version__
from .elements import Child, Element, element, text_of
from .inside import MARK, Packed

#: Templates, styles and scripts.
DATA = Path(__file__).resolve().parents[1] / "data" / "page"

#: A line that is a comment or empty, and blanks before one that is not.
_COMMENT = re.compile(r"^[ \t]*(?:(?://.*|/\*(?:[^*]|\*(?!/))*\*/)?\n)|^[ \t]+", re.MULTILINE)

#: Blanks of a style that say nothing: around braces, and after a semicolon, a comma and the colon of a declaration.
_BLANKS = re.compile(r" ?([{}]) ?|(?<=[;,:]) ")

_SLOT = re.compile(r"<!-- slot: ([a-z-]+) -->")

#: The scripts of a page, in the order in which they run.
SCRIPTS = (
    *("data", "ranks-lit", "search", "details", "scrolling", "rows"),
    *("messages", "ranks", "matrix", "stacks", "graph", "time-line", "start"),
)


def document(template: str, title: str, parts: Mapping[str, Child], *, scripts: bool, mark: bool) -> str:
    """A page: the template with the parts in its slots. ``mark``: it holds data that is read again."""
    style = _BLANKS.sub(r"\1", "".join(_short(f"{name}.css") for name in ("colours", "style", "graph")))
    script = "".join(_short(f"{name}.js") for name in SCRIPTS) if scripts else ""
    policy = f"default-src 'none'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"
    if script:
        policy += f"; script-src '{_hash(script)}'"
    head: List[Element] = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name_="color-scheme", content="light dark"),
        element("meta", name_="referrer", content="no-referrer"),
        element("meta", name_="generator", content=f"mpi-queues {__version__}"),
        element("title", title),
    ]
    slots: Dict[str, str] = {name: text_of(part) for name, part in parts.items()}
    slots["head"] = text_of(head)
    slots["style"] = style
    slots["script"] = script
    slots["version"] = text_of(f"mpi-queues {__version__}")
    body = filled(_file(template), slots)
    return (MARK if mark else "<!DOCTYPE html>\n") + body


def filled(template: str, slots: Mapping[str, str]) -> str:
    """The template with what belongs into its slots. What is put into one is not looked through for others.

    Raises:
        KeyError: where a slot has nothing to be put into it.
    """
    return _SLOT.sub(lambda found: slots[found[1]], template)


def drawing_alone(drawing: Element) -> str:
    """A file of SVG: the drawing with its style."""
    style = element("style", _file("colours.css"), _file("graph.css"))
    whole = Element(drawing.name, drawing.attributes, (style, *drawing.children))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text_of(whole)}\n'


def style_of(*names: str) -> Element:
    """Styles, for where there is no page of ours around."""
    return Style("".join(_file(name) for name in names))


class Style(Element):
    """Our own styles, which stand in HTML as they are."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        super().__init__("style", {}, ())
        self.text = text


class Data(Element):
    """Data for programs and scripts: its text stands there as it is, and has no character that begins a tag."""

    __slots__ = ("text",)

    def __init__(self, name: str, packed: Packed) -> None:
        if "<" in packed.text:
            raise ValueError("text that is not escaped")
        form = {"data-form": packed.form, "data-without": "processes" if packed.without else None}
        super().__init__("script", {"type": "application/json", "id": name, **form}, ())
        self.text = packed.text


def _short(name: str) -> str:
    """A style or a script without the lines that are comments, and without what stands before lines."""
    return _COMMENT.sub("", _file(name))


def _file(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """As a content security policy names what may stand within the page."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
