"""The cells of docs/jupyter.md in a kernel of Jupyter, with a cluster of ipyparallel whose engines are ranks."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Dict

import pytest
from support import builds, installs, output, pages, python_jobs
from support.paths import PROJECT

#: What notebooks run with; mpi4py is found in an environment of its own.
PACKAGES = ("ipyparallel==9.2.0", "ipykernel==7.4.0", "ipython==9.18.1")

#: Seconds for all cells.
GUARD = 240.0


@pytest.mark.slow
@pytest.mark.mpi
def test_a_hung_cell_is_explained(debian_mpi: builds.MpiBuild, environment: Dict[str, str], tmp_path: Path) -> None:
    python = installs.packages("jupyter", *PACKAGES)
    blocks = list(pages.blocks(PROJECT / "docs" / "jupyter.md"))
    cells = [block.text for block in blocks if block.language == "ipython"]
    (expected,) = [block.text for block in blocks if block.language == "text"]
    made = {**environment, **python_jobs.with_mpi4py(debian_mpi)}
    made["PYTHONPATH"] = f"{PROJECT / 'python'}{os.pathsep}{made['PYTHONPATH']}"
    made["PATH"] = f"{python.parent}{os.pathsep}{debian_mpi.mpirun.parent}{os.pathsep}{made['PATH']}"
    # Nothing of the user's own notebooks.
    made.update(HOME=str(tmp_path), JUPYTER_DATA_DIR=str(tmp_path / "data"), JUPYTER_RUNTIME_DIR=str(tmp_path / "run"))
    kernel = subprocess.run(
        [str(python), str(PROJECT / "tests" / "support" / "kernel.py")],
        input=json.dumps([*cells, "cluster.stop_cluster_sync()"]),
        cwd=tmp_path,
        env=made,
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    assert kernel.returncode == 0, kernel.stderr
    shown = json.loads(kernel.stdout)
    (answer,) = shown[-2]["results"]
    assert output.fits(f"{expected}\n{output.LEFT_OUT}\n", answer["text/plain"]), answer["text/plain"]
    assert '<iframe sandbox="allow-scripts"' in answer["text/html"]
