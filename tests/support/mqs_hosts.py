"""Our library for other debuggers, and a host of it in C that refuses what the document does not have."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from .builds import compile_with
from .paths import PACKAGE, PROGRAMS

LIBRARY = PACKAGE / "lib" / "libmpi_queues_mqs.so"


def strict_host() -> Path:
    """The host, compiled."""
    source = PROGRAMS / "plugins" / "strict_host.c"
    language = ("-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-I", str(source.parent))
    return compile_with(["cc"], "plain", [source], [], language=language)


def symbols(pid: int, path: Path) -> Path:
    """All that the strict host knows of symbols: where the dynamic linker's list begins."""
    maps = Path(f"/proc/{pid}/maps").read_text()
    linker = re.search(r"^([0-9a-f]+)-\S+ r\S* 0+ .* (\S*/ld-[-a-z0-9_.]*\.so[.\d]*)$", maps, re.MULTILINE)
    assert linker is not None, maps
    listed = subprocess.run(["nm", "-D", linker[2]], capture_output=True, text=True, check=True).stdout
    value = re.search(r"^([0-9a-f]+) \S _r_debug", listed, re.MULTILINE)
    assert value is not None
    path.write_text(f"_r_debug {int(linker[1], 16) + int(value[1], 16):x}\n")
    return path
