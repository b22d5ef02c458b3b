"""Prints an apt source (deb822) for one Debian suite, from the system's own apt configuration.

usage: debian_sources.py SUITE [/etc/apt]

The address of the archive and the keyring are those that the system already uses and trusts for Debian; only the
suite differs. Reads both forms of apt's configuration: `*.sources` (deb822) and `*.list` (one line an entry).
"""

from __future__ import annotations

import pathlib
import re
import sys
from typing import Dict, Iterator, List, NamedTuple

# Debian's archive ends so in every mirror's address; its security archive does not.
_ARCHIVE = re.compile(r"/debian/?$")
_DEFAULT_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Entry(NamedTuple):
    """One archive of the system's configuration."""

    uri: str
    suites: List[str]
    components: List[str]
    signed_by: str


def deb822_entries(text: str) -> Iterator[Entry]:
    """The enabled archives of a ``.sources`` file."""
    for stanza in re.split(r"\n\s*\n", text):
        fields: Dict[str, str] = {}
        name = ""
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            if line[:1] in " \t" and name:
                fields[name] += "\n" + line.strip()
            elif ":" in line:
                name, value = line.split(":", 1)
                name = name.strip().lower()
                fields[name] = value.strip()
        if fields.get("enabled", "yes").lower() in ("no", "false", "0") or "deb" not in fields.get("types", "").split():
            continue
        for uri in fields.get("uris", "").split():
            yield Entry(
                uri, fields.get("suites", "").split(), fields.get("components", "").split(), fields.get("signed-by", "")
            )


def one_line_entries(text: str) -> Iterator[Entry]:
    """The archives of a ``.list`` file."""
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*([^#]*)", line)
        if match:
            options = dict(option.split("=", 1) for option in (match[1] or "").split() if "=" in option)
            yield Entry(match[2], [match[3]], match[4].split(), options.get("signed-by", ""))


def entries(apt: pathlib.Path) -> Iterator[Entry]:
    """All archives of the system, in apt's own order of files."""
    parts = apt / "sources.list.d"
    for path in [apt / "sources.list", *sorted(parts.glob("*.list")), *sorted(parts.glob("*.sources"))]:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        yield from (deb822_entries(text) if path.suffix == ".sources" else one_line_entries(text))


def source_for(suite: str, apt: pathlib.Path) -> str:
    """A stanza with packages and sources of ``suite``; raises LookupError where the system has no Debian archive."""
    for entry in entries(apt):
        if not _ARCHIVE.search(entry.uri) or "main" not in entry.components:
            continue
        lines = ["Types: deb deb-src", f"URIs: {entry.uri}", f"Suites: {suite}", "Components: main"]
        keyring = entry.signed_by or (_DEFAULT_KEYRING if pathlib.Path(_DEFAULT_KEYRING).exists() else "")
        if keyring:
            # A key may stand there as text of several lines; deb822 indents those that follow.
            lines.append("Signed-By: " + "\n ".join(keyring.splitlines()))
        return "\n".join(lines) + "\n"
    raise LookupError(
        f"no Debian archive with the component main in {apt}/sources.list or {apt}/sources.list.d; add one to apt first"
    )


def main(arguments: List[str]) -> int:
    """Prints the stanza."""
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        sys.stdout.write(source_for(arguments[0], pathlib.Path(arguments[1] if len(arguments) > 1 else "/etc/apt")))
    except LookupError as error:
        print(f"debian_sources.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
