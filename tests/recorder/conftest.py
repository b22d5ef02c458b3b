"""The MPIs under the flight recorder."""

from __future__ import annotations

import pytest
from support import builds

INTEL = "intel"
#: The distribution's two by default; with ``--all`` the newest of each family, both ABIs
#: of MPICH 5, and Intel MPI.
USUAL = (builds.DEBIAN, builds.DEBIAN_MPICH)
MORE = (*USUAL, builds.WHEEL, builds.MPICH_WHEEL, "mpich-abi-wheel-5.0.2", INTEL)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    config = metafunc.config
    all_ = config.getoption("--all") or config.getoption("--all-mpis")
    if "any_mpi" in metafunc.fixturenames:
        metafunc.parametrize("any_mpi", MORE if all_ else USUAL, indirect=True, scope="session")
    if "fortran_mpi" in metafunc.fixturenames:
        # The wheels have no Fortran modules for the compiler that is here.
        metafunc.parametrize("fortran_mpi", USUAL, indirect=True, scope="session")


def _made(name: str) -> builds.MpiBuild:
    try:
        return builds.intel() if name == INTEL else builds.BUILDS[name]()
    except builds.Missing as missing:
        pytest.fail(str(missing))


@pytest.fixture(scope="session")
def any_mpi(request: pytest.FixtureRequest, preflight: None) -> builds.MpiBuild:
    """Each MPI under the recorder."""
    return _made(request.param)


@pytest.fixture(scope="session")
def fortran_mpi(request: pytest.FixtureRequest, preflight: None) -> builds.MpiBuild:
    """Each MPI with Fortran under the recorder."""
    return _made(request.param)
