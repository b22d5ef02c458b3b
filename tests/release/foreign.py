"""The wheel for AArch64, in that architecture's Debian 12 by an emulator: no kernel of another machine is needed."""

from __future__ import annotations

import pathlib
import shlex
import subprocess
import zipfile
from typing import List, Sequence

from release.contents import check_contents
from release.elf import check_needs
from release.roots import Failed, make
from release.wheels import expect

#: What it is tried with. It is only unpacked: what packages do when they are installed would need the kernel.
_PACKAGES = ["python3-minimal", "libpython3-stdlib"]
_SUITE = "bookworm"
MACHINE = "aarch64"


def check(wheel: pathlib.Path, directory: pathlib.Path) -> List[str]:
    """Lines of what holds. Raises Failed where something does not."""
    directory.mkdir()
    package = directory / "package"
    root = make(_SUITE, _PACKAGES, directory, "--variant=extract", "--architectures=arm64")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(package)
    needs = [*check_needs(package, "AArch64"), *check_contents(package)]
    inside = package / "mpi_queues"
    (inside / "bin" / "mpi-queues-agent").chmod(0o755)
    python = next(root.glob("usr/bin/python3.[0-9]*"))
    emulated = ["qemu-aarch64-static", "-L", root, "-E", f"PYTHONPATH={package}", "-E", "LANG=C.UTF-8"]
    mpi_queues = [*emulated, python, "-c", "import sys; from mpi_queues.cli import main; sys.exit(main())"]
    version = _run([*mpi_queues, "--version"])
    expect(version, r"^core: \d", "--version")
    agent = _run(["qemu-aarch64-static", inside / "bin" / "mpi-queues-agent", "--version"])
    expect(agent, r"^mpi-queues-agent \d", "mpi-queues-agent --version")
    recording = _run([*mpi_queues, "diagnose", "--recording", inside / "data" / "demo.mpirec"])
    told = expect(recording, r"^Deadlock: rank 2 sends tag 21", "diagnose --recording")
    library = inside / "lib" / "libmpi_queues_recorder.so"
    # Its constructor hides its names where there is no MPI.
    loaded = f"import ctypes; print('recorder:', hasattr(ctypes.CDLL({str(library)!r}), 'MPI_Send'))"
    recorder = expect(_run([*emulated, python, "-c", loaded]), "^recorder: False$", "the recorder without an MPI")
    return [*needs, *version.splitlines(), agent.strip(), told, recorder]


def _run(command: Sequence[object]) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=1200)
    if done.returncode != 0:
        raise Failed(f"{shlex.join(words)}: status {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout
