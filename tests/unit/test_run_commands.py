"""The commands that ``mpi-queues run`` makes of a launcher's: where the library to be preloaded goes."""

from __future__ import annotations

import pathlib
import shutil
from typing import Dict, List, Optional

import pytest
from mpi_queues.errors import UserError
from mpi_queues.launchers import preloading
from mpi_queues.system import recorder

OURS = "/opt/r.so"
NAME = "LD_PRELOAD"

#: What launchers say of themselves: open-mpi/ompi 4.1.4 and 5.0.11, openpmix/prrte 3, pmodels/mpich 4.0.2, Intel 2021.
SAID = {
    "ompi4": "mpiexec (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n",
    "ompi5": "mpirun (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/community/help/\n",
    "prte": "prterun (PRRTE) 3.0.13\n",
    "hydra": "HYDRA build details:\n    Version:                                 4.0.2\n",
    "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.18\n",
    "other": "mpiexec from somebody\n",
}


@pytest.fixture
def no_launchers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is installed here, no launcher is found by its name."""
    monkeypatch.setenv("PATH", "")


def made(command: str, said: str = "", environment: Optional[Dict[str, str]] = None) -> preloading.Preloaded:
    return preloading.with_library(command.split(" "), OURS, environment or {}, lambda program: SAID.get(said, said))


@pytest.mark.usefixtures("no_launchers")
@pytest.mark.parametrize(
    ("command", "said", "wanted"),
    [
        # Open MPI: by its version, or by its name alone.
        ("mpirun -n 4 ./a", "ompi5", "mpirun -x LD_PRELOAD=/opt/r.so -n 4 ./a"),
        ("mpiexec -n 4 ./a", "ompi4", "mpiexec -x LD_PRELOAD=/opt/r.so -n 4 ./a"),
        ("/nowhere/orterun -n 4 ./a", "", "/nowhere/orterun -x LD_PRELOAD=/opt/r.so -n 4 ./a"),
        ("/nowhere/mpirun.openmpi ./a", "", "/nowhere/mpirun.openmpi -x LD_PRELOAD=/opt/r.so ./a"),
        ("mpirun", "ompi5", "mpirun -x LD_PRELOAD=/opt/r.so"),
        # What the user preloads stays, behind ours.
        ("mpirun -x LD_PRELOAD=/u.so -n 4 ./a", "ompi4", "mpirun -x LD_PRELOAD=/opt/r.so:/u.so -n 4 ./a"),
        ("mpirun -n 4 -x LD_PRELOAD=/u.so:/v.so ./a", "ompi5", "mpirun -n 4 -x LD_PRELOAD=/opt/r.so:/u.so:/v.so ./a"),
        ("mpirun -x OMP_NUM_THREADS=2 ./a", "ompi4", "mpirun -x LD_PRELOAD=/opt/r.so -x OMP_NUM_THREADS=2 ./a"),
        # Each program of several.
        (
            "mpirun -n 1 ./a : -n 2 ./b",
            "ompi4",
            "mpirun -x LD_PRELOAD=/opt/r.so -n 1 ./a : -x LD_PRELOAD=/opt/r.so -n 2 ./b",
        ),
        (
            "mpirun -n 1 ./a : -x LD_PRELOAD=/u.so -n 2 ./b",
            "ompi4",
            "mpirun -x LD_PRELOAD=/opt/r.so -n 1 ./a : -x LD_PRELOAD=/opt/r.so:/u.so -n 2 ./b",
        ),
        # It takes no -x beside this.
        (
            "mpirun --mca mca_base_env_list A=1;B -n 1 ./a",
            "ompi4",
            "mpirun --mca mca_base_env_list A=1;B;LD_PRELOAD=/opt/r.so -n 1 ./a",
        ),
        (
            "mpirun --mca mca_base_env_list LD_PRELOAD=/u.so;B ./a",
            "ompi4",
            "mpirun --mca mca_base_env_list LD_PRELOAD=/opt/r.so:/u.so;B ./a",
        ),
        # PRRTE.
        ("prterun -n 2 ./a", "", "prterun -x LD_PRELOAD=/opt/r.so -n 2 ./a"),
        ("prun --x LD_PRELOAD=/u.so -n 2 ./a", "", "prun --x LD_PRELOAD=/opt/r.so:/u.so -n 2 ./a"),
        ("mpirun -n 2 ./a", "prte", "mpirun -x LD_PRELOAD=/opt/r.so -n 2 ./a"),
        # Hydra.
        ("mpiexec -n 4 ./a", "hydra", "mpiexec -genv LD_PRELOAD /opt/r.so -n 4 ./a"),
        ("/nowhere/mpiexec.hydra -n 4 ./a", "", "/nowhere/mpiexec.hydra -genv LD_PRELOAD /opt/r.so -n 4 ./a"),
        ("mpirun -n 4 ./a : -n 1 ./b", "intel", "mpirun -genv LD_PRELOAD /opt/r.so -n 4 ./a : -n 1 ./b"),
        ("mpiexec -genv LD_PRELOAD /u.so ./a", "hydra", "mpiexec -genv LD_PRELOAD /opt/r.so:/u.so ./a"),
        ("mpiexec --genv LD_PRELOAD=/u.so ./a", "hydra", "mpiexec --genv LD_PRELOAD=/opt/r.so:/u.so ./a"),
        (
            "mpiexec -env LD_PRELOAD /u.so ./a",
            "hydra",
            "mpiexec -genv LD_PRELOAD /opt/r.so -env LD_PRELOAD /opt/r.so:/u.so ./a",
        ),
        # Slurm.
        ("srun -n 4 ./a", "", "srun --export=ALL,LD_PRELOAD=/opt/r.so -n 4 ./a"),
        ("srun --export=A,B=2 ./a", "", "srun --export=A,B=2,LD_PRELOAD=/opt/r.so ./a"),
        ("srun -n 2 --export ALL,B=2 ./a", "", "srun -n 2 --export=ALL,B=2,LD_PRELOAD=/opt/r.so ./a"),
        ("srun --export=NONE ./a", "", "srun --export=LD_PRELOAD=/opt/r.so ./a"),
        ("srun --export=ALL,LD_PRELOAD=/u.so ./a", "", "srun --export=ALL,LD_PRELOAD=/opt/r.so:/u.so ./a"),
        # flux.
        ("flux run -n 4 ./a", "", "flux run --env=LD_PRELOAD=/opt/r.so -n 4 ./a"),
        ("flux mini run -n 4 ./a", "", "flux mini run --env=LD_PRELOAD=/opt/r.so -n 4 ./a"),
        (
            "flux submit --env=-* --env LD_PRELOAD=/u.so ./a",
            "",
            "flux submit --env=-* --env LD_PRELOAD=/u.so --env=LD_PRELOAD=/opt/r.so:/u.so ./a",
        ),
    ],
)
def test_the_library_goes_to_the_ranks_by_the_launchers_own_option(command: str, said: str, wanted: str) -> None:
    found = made(command, said)
    assert " ".join(found.command) == wanted
    assert found.launcher is not None
    assert NAME not in found.environment


@pytest.mark.usefixtures("no_launchers")
@pytest.mark.parametrize(
    ("command", "said", "wanted"),
    [
        ("mpirun ./a", "ompi4", "mpirun -x LD_PRELOAD=/opt/r.so:/e.so ./a"),
        ("mpirun -x LD_PRELOAD ./a", "ompi4", "mpirun -x LD_PRELOAD=/opt/r.so:/e.so ./a"),
        ("mpiexec ./a", "hydra", "mpiexec -genv LD_PRELOAD /opt/r.so:/e.so ./a"),
        ("srun ./a", "", "srun --export=ALL,LD_PRELOAD=/opt/r.so:/e.so ./a"),
        ("srun --export=LD_PRELOAD ./a", "", "srun --export=LD_PRELOAD=/opt/r.so:/e.so ./a"),
        ("srun --export=NONE ./a", "", "srun --export=LD_PRELOAD=/opt/r.so ./a"),
        ("flux run ./a", "", "flux run --env=LD_PRELOAD=/opt/r.so:/e.so ./a"),
    ],
)
def test_what_the_environment_preloads_stays_behind_it(command: str, said: str, wanted: str) -> None:
    found = made(command, said, {NAME: "/e.so"})
    assert " ".join(found.command) == wanted
    assert found.environment[NAME] == "/e.so"


def test_what_a_batch_job_exports_is_exported() -> None:
    assert made("srun ./a", "", {"SLURM_EXPORT_ENV": "NONE"}).command[1] == "--export=LD_PRELOAD=/opt/r.so"
    assert made("srun ./a", "", {"SLURM_EXPORT_ENV": "A,B"}).command[1] == "--export=A,B,LD_PRELOAD=/opt/r.so"


def test_the_list_of_open_mpi_in_the_environment() -> None:
    variable = "OMPI_MCA_mca_base_env_list"
    found = made("mpirun ./a", "ompi4", {variable: "A=1"})
    assert found.command == ["mpirun", "./a"]
    assert found.environment[variable] == "A=1;LD_PRELOAD=/opt/r.so"


@pytest.mark.usefixtures("no_launchers")
@pytest.mark.parametrize(
    "command", ["./job.sh 4", "mpiexec -n 2 ./a", "flux jobs", "env A=1 mpirun ./a", "mpirun_rsh ./a"]
)
def test_a_launcher_that_is_not_known(command: str) -> None:
    found = made(command, "other", {NAME: "/e.so /f.so"})
    assert found.launcher is None
    assert found.command == command.split(" ")
    assert found.environment[NAME] == "/opt/r.so:/e.so:/f.so"


def test_it_is_there_once() -> None:
    assert made("./job.sh", "", {NAME: f"/e.so:{OURS}"}).environment[NAME] == f"{OURS}:/e.so"


def test_a_link_is_what_it_leads_to(tmp_path: pathlib.Path) -> None:
    (tmp_path / "mpirun.mpich").touch(mode=0o755)
    (tmp_path / "mpirun").symlink_to("mpirun.mpich")
    asked: List[str] = []
    assert preloading.launcher_of(str(tmp_path / "mpirun"), lambda program: asked.append(program) or "") == "Hydra"
    assert asked == []


@pytest.mark.parametrize("script", ["exec sleep 600", "exit 1", "kill -SEGV $$", "head -c 100000 /dev/zero"])
def test_a_launcher_that_does_not_tell_its_version(
    script: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preloading, "_VERSION_TIMEOUT", 0.5)
    program = tmp_path / "mpiexec"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    assert preloading.with_library([str(program)], OURS, {}).launcher is None


def test_it_is_asked_once(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "mpiexec"
    program.write_text(f"#!/bin/sh\necho asked >>{tmp_path}/log\necho 'mpiexec (OpenRTE) 4.1.4'\n")
    program.chmod(0o755)
    assert preloading.with_library([str(program), "./a"], OURS, {}).launcher == preloading.OPEN_MPI
    assert (tmp_path / "log").read_text() == "asked\n"


def test_a_recorder_that_is_not_there(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_PLACE", tmp_path / "none.so")
    with pytest.raises(UserError, match=r"none\.so\n.*type: make recorder") as found:
        recorder.path()
    assert found.value.kind == "no_recorder"
    with pytest.raises(UserError, match="no such file"):
        recorder.path(str(tmp_path / "other.so"))
    blank = tmp_path / "a b.so"
    shutil.copyfile("/bin/true", blank)
    with pytest.raises(UserError, match="a space or a colon"):
        recorder.path(str(blank))
