"""``layouts/debian_sources.py``: the archive and keyring come from the system's own apt, in both of its formats."""

from __future__ import annotations

import importlib.util
import pathlib
from types import ModuleType

import pytest

_PATH = pathlib.Path(__file__).resolve().parents[2] / "layouts" / "debian_sources.py"


@pytest.fixture(name="sources")
def _sources() -> ModuleType:
    spec = importlib.util.spec_from_file_location("debian_sources", _PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _apt(root: pathlib.Path, files: dict[str, str]) -> pathlib.Path:
    (root / "sources.list.d").mkdir()
    for name, text in files.items():
        (root / name).write_text(text)
    return root


_OTHERS = """\
Types: deb
URIs: http://mirror.invalid/debian
Suites: bookworm
Components: main
Enabled: no
Signed-By: /disabled.gpg

# A comment
Types: deb
URIs: http://mirror.invalid/debian-security
Suites: bookworm-security
Components: main
Signed-By: /security.gpg

Types: deb-src
URIs: http://mirror.invalid/debian
Suites: bookworm
Components: main
"""


def test_deb822(sources: ModuleType, tmp_path: pathlib.Path) -> None:
    text = _OTHERS + (
        "\nTypes: deb deb-src\n# between fields\nURIs: http://other.invalid/debian/\n"
        "Suites: bookworm\n bookworm-updates\nComponents: main contrib\nSigned-By: /usr/share/keyrings/some.gpg\n"
    )
    apt = _apt(tmp_path, {"sources.list.d/debian.sources": text})
    assert sources.source_for("trixie", apt) == (
        "Types: deb deb-src\nURIs: http://other.invalid/debian/\nSuites: trixie\nComponents: main\n"
        "Signed-By: /usr/share/keyrings/some.gpg\n"
    )


def test_a_key_that_stands_in_the_file_itself(sources: ModuleType, tmp_path: pathlib.Path) -> None:
    key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n -----END PGP PUBLIC KEY BLOCK-----"
    text = f"Types: deb\nURIs: http://mirror.invalid/debian\nSuites: sid\nComponents: main\nSigned-By:\n {key}\n"
    apt = _apt(tmp_path, {"sources.list.d/debian.sources": text})
    stanza = sources.source_for("trixie", apt)
    [entry] = sources.deb822_entries(stanza)
    [original] = sources.deb822_entries(text)
    assert entry.signed_by == original.signed_by
    assert "mQINBF" in entry.signed_by


@pytest.mark.parametrize(
    ("line", "keyring"),
    [
        (
            "deb [arch=amd64 signed-by=/keys/a.gpg] http://mirror.invalid/debian bookworm main contrib # note",
            "/keys/a.gpg",
        ),
        ("  deb  http://mirror.invalid/debian/ bookworm main", None),
    ],
    ids=["options", "plain"],
)
def test_one_line(sources: ModuleType, tmp_path: pathlib.Path, line: str, keyring: str | None) -> None:
    text = f"# deb http://off.invalid/debian bookworm main\ndeb-src http://src.invalid/debian bookworm main\n{line}\n"
    stanza = sources.source_for("bookworm", _apt(tmp_path, {"sources.list": text}))
    assert "URIs: http://mirror.invalid/debian" in stanza
    assert "Suites: bookworm\n" in stanza
    if keyring is not None:
        assert f"Signed-By: {keyring}\n" in stanza


def test_a_system_without_debian(
    sources: ModuleType, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apt = _apt(
        tmp_path, {"sources.list.d/other.sources": _OTHERS, "sources.list": "deb http://x.invalid/ubuntu noble main\n"}
    )
    with pytest.raises(LookupError, match="no Debian archive"):
        sources.source_for("trixie", apt)
    assert sources.main(["trixie", str(apt)]) == 1
    assert "no Debian archive" in capsys.readouterr().err
    assert sources.main([]) == 2
