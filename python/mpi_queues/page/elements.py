"""Elements of HTML and SVG as a tree. Whatever is put into one is text: nothing of it becomes markup.

Strangers name communicators, files and hosts: characters that would hide or turn what follows become escapes here, as
they do on a terminal (``system/output.py``).
"""

from __future__ import annotations

import re
from typing import Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .._native import printable

#: What an element holds: text, elements, several of these, nothing.
Child = Union[str, "Element", None, Iterable["Child"]]

Value = Union[str, int, float, bool, None]

#: Elements of HTML that hold nothing and have no end.
_VOID = frozenset(("br", "img", "input", "link", "meta", "wbr"))

_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;", ord("'"): "&#39;"}

#: Not in XML, and no character of a text.
_NO_CHARACTERS = re.compile("[\ud800-\udfff\ufffe\uffff]")

#: What code names elements and attributes.
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9:-]*")


def escaped(text: str) -> str:
    """Text between tags, and between the quotes of an attribute."""
    clean = _NO_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return printable(clean, lines=True).translate(_ESCAPES)


class Element:
    """An element with what it holds."""

    __slots__ = ("attributes", "children", "name")

    #: What stands in it as it is; only styles and data of our own have that (``document.py``).
    text = ""

    def __init__(self, name: str, attributes: Mapping[str, Value], children: Tuple[Child, ...]) -> None:
        for one in (name, *attributes):
            if _NAME.fullmatch(one) is None:
                raise ValueError(f"no name of an element or an attribute: {one!r}")
        self.name = name
        self.attributes = attributes
        self.children = children

    def __str__(self) -> str:
        pieces: List[str] = []
        write(self, pieces)
        return "".join(pieces)


def element(name: str, *children: Child, **attributes: Value) -> Element:
    """An element. ``class_`` is the attribute ``class``, ``data_rank`` is ``data-rank``, ``viewBox`` stays as it is. An
    attribute that is None or False is left out, one that is True has no value."""
    return Element(name, {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}, children)


def table(caption: str, heads: Sequence[str], rows: Iterable[Child], kind: Optional[str] = None) -> Element:
    """A table with a caption for those who do not see it; ``rows`` are elements ``tr``."""
    return element(
        "table",
        element("caption", caption, class_="unseen"),
        element(
            "thead", element("tr", [element("th", head, scope="col") if head else element("td") for head in heads])
        ),
        element("tbody", rows),
        class_=kind,
    )


def row(*cells: Child) -> Element:
    """A row of a table."""
    return element("tr", [element("td", cell) for cell in cells])


def breakable(path: str) -> List[Child]:
    """A path, which may go on in the next line behind a slash."""
    first, *rest = re.split(r"(?<=/)(?=[^/])", path)
    return [first, *((element("wbr"), piece) for piece in rest)]


def text_of(*children: Child) -> str:
    """The markup of elements and texts."""
    pieces: List[str] = []
    for child in _flat(children):
        write(child, pieces)
    return "".join(pieces)


def write(child: Union[str, Element], pieces: List[str]) -> None:
    """Adds the markup of one."""
    if isinstance(child, str):
        pieces.append(escaped(child))
        return
    pieces.append(f"<{child.name}")
    for name, value in child.attributes.items():
        if value is None or value is False:
            continue
        pieces.append(f' {name}="{"" if value is True else escaped(_shown(value))}"')
    pieces.append(">")
    if child.name in _VOID:
        return
    pieces.append(child.text)
    for inner in _flat(child.children):
        write(inner, pieces)
    pieces.append(f"</{child.name}>")


def _shown(value: Union[str, int, float]) -> str:
    """Numbers with as many digits as a drawing needs."""
    return f"{value:.1f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _flat(children: Iterable[Child]) -> Iterator[Union[str, Element]]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, (str, Element)):
            yield child
        else:
            yield from _flat(child)
