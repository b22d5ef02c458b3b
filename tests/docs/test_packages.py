"""The files for other package managers as these read them: modulefiles by Lmod and by Environment Modules, the
easyconfig by EasyBuild. docs/installing.md says how the directory of a module is made."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Dict, List

import mpi_queues
import pytest
from support import installs, pages
from support.paths import MPI_QUEUES, PROJECT

pytestmark = pytest.mark.slow

PAGE = PROJECT / "docs" / "installing.md"
PREFIX, MODULES = "/opt/mpi-queues", "/opt/modulefiles"

#: Asks EasyBuild what it understands of the file that is named.
EASYBUILD = """
import json, sys
from easybuild.tools.options import set_up_configuration
options = ["allow-use-as-root-and-accept-consequences", "modules-tool=EnvironmentModules", "module-syntax=Tcl"]
set_up_configuration(args=[f"--{one}" for one in (*options, "allow-modules-tool-mismatch")], silent=True)
from easybuild.framework.easyconfig.easyconfig import EasyConfig, get_easyblock_class
read = EasyConfig(sys.argv[1])
read.validate(check_osdeps=False)
block = get_easyblock_class(read["easyblock"]).__name__
print(json.dumps([read.full_mod_name, block, read["sources"], read["sanity_check_paths"]]))
"""


def blocks() -> List[str]:
    """What the page has typed for the directory and for the modulefiles."""
    found = [block.text for block in pages.blocks(PAGE) if block.language == "sh"]
    assert len(found) == 2 and PREFIX in found[0] and MODULES in found[1]
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """What is typed on the page, below a directory of its own in place of /opt; what pip installs is a link to ours."""
    directory, modules = (block.replace("/opt/", f"{tmp_path}/") for block in blocks())
    directory = re.sub(
        r'^"\$prefix/venv/bin/pip" install mpi-queues$', "install_stand_in", directory, flags=re.MULTILINE
    )
    commands = f'ln -s {MPI_QUEUES} "$prefix/venv/bin/mpi-queues"; mkdir -p "$prefix/venv/share/man"'
    stand_in = f"install_stand_in() {{ {commands}; }}\n"
    for text in (stand_in + directory, modules):
        subprocess.run(["sh", "-eu", "-c", text], cwd=PROJECT, check=True)
    for file in (tmp_path / "modulefiles" / "mpi-queues").iterdir():
        file.write_text(file.read_text().replace(PREFIX, str(tmp_path / "mpi-queues")))
    return tmp_path


def loaded(command: List[str], modules: Path, environment: Dict[str, str]) -> str:
    """What the shell finds once a program has said how the module is loaded."""
    # Each of both programs would take the other one's file.
    made = {"PATH": "/usr/bin:/bin", "HOME": str(modules), "MODULEPATH": str(modules), **environment}
    said = subprocess.run(
        [*command, "bash", "load", "mpi-queues"], env=made, capture_output=True, text=True, check=True
    )
    typed = f"{said.stdout}\ncommand -v mpi-queues; command -v python3; mpi-queues --version; manpath -q"
    return subprocess.run(["bash", "-c", typed], env=made, capture_output=True, text=True, check=True).stdout


def holds(said: str, place: Path) -> None:
    prefix = place / "mpi-queues" / mpi_queues.__version__
    lines = said.splitlines()
    # Nobody's Python is another one.
    assert lines[0] == str(prefix / "bin" / "mpi-queues") and lines[1].startswith("/usr/bin/"), said
    assert lines[2].startswith(f"mpi-queues {mpi_queues.__version__}"), said
    assert f"{prefix}/share/man" in lines[-1] and "/usr/share/man" in lines[-1], said


def only(modules: Path, name: str) -> None:
    for file in (modules / "mpi-queues").iterdir():
        if file.name != name:
            file.unlink()


def test_environment_modules(place: Path) -> None:
    root = installs.unpacked("environment-modules", "environment-modules", "tcl8.6", "libtcl8.6")
    only(place / "modulefiles", mpi_queues.__version__)
    library = {"LD_LIBRARY_PATH": str(root / "usr" / "lib" / "x86_64-linux-gnu")}
    command = [str(root / "usr/bin/tclsh8.6"), str(root / "usr/lib/x86_64-linux-gnu/modulecmd.tcl")]
    holds(loaded(command, place / "modulefiles", library), place)


def test_lmod(place: Path) -> None:
    root = installs.unpacked(
        "lmod", "lmod", "lua5.3", "lua-posix", "lua-term", "lua-filesystem", "lua-json", "lua-lpeg"
    )
    only(place / "modulefiles", f"{mpi_queues.__version__}.lua")
    # Its paths stand in its program.
    program = (root / "usr/share/lmod/lmod/libexec/lmod").resolve()
    here = place / "lmod"
    shutil.copytree(program.parents[1], here)
    moved = re.sub(r"(?<![\w/])/usr/(share|lib)/", rf"{root}/usr/\1/", program.read_text())
    (here / "libexec" / "lmod").write_text(moved)
    holds(loaded([str(root / "usr/bin/lua5.3"), str(here / "libexec" / "lmod")], place / "modulefiles", {}), place)


def test_easybuild(tmp_path: Path) -> None:
    modules = installs.unpacked("environment-modules", "environment-modules", "tcl8.6", "libtcl8.6")
    python = installs.packages("easybuild", "easybuild-framework==5.4.1", "easybuild-easyblocks==5.4.1")
    # It wants a program for modules, and looks for this one there.
    (tmp_path / "libexec").mkdir()
    (tmp_path / "libexec" / "modulecmd.tcl").symlink_to(modules / "usr/lib/x86_64-linux-gnu/modulecmd.tcl")
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    read = subprocess.run(
        [str(python), "-c", EASYBUILD, str(PROJECT / "packaging" / "easybuild" / "mpi-queues.eb")],
        env={**os.environ, "PATH": path, "MODULESHOME": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert read.returncode == 0, read.stderr
    name = f"mpi-queues/{mpi_queues.__version__}-GCCcore-"
    assert read.stdout.splitlines()[-1].startswith(f'["{name}') and '"PythonPackage"' in read.stdout, read.stdout
