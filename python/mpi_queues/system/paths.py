"""Paths of files in words. The kernel takes any bytes for a name; Python has those that are no UTF-8 as surrogates."""

from __future__ import annotations


def shown(path: str) -> str:
    """A path as text that can be printed and written to JSON: bytes that are no UTF-8, and what would not be seen or
    would do something to a terminal, are ``\\xNN``, as the core has them in names of the target."""
    if path.isprintable():
        return path
    return "".join(char if char.isprintable() else _escaped(char) for char in path)


def _escaped(char: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))
