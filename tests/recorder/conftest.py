"""The MPIs under the flight recorder."""

from __future__ import annotations

import pytest
from support import builds

#: The distribution's two by default; with ``--all`` the newest of each family, and both ABIs of MPICH 5.
USUAL = (builds.DEBIAN, builds.DEBIAN_MPICH)
MORE = (*USUAL, builds.WHEEL, builds.MPICH_WHEEL, "mpich-abi-wheel-5.0.2")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "any_mpi" in metafunc.fixturenames:
        config = metafunc.config
        names = MORE if config.getoption("--all") or config.getoption("--all-mpis") else USUAL
        metafunc.parametrize("any_mpi", names, indirect=True, scope="session")


@pytest.fixture(scope="session")
def any_mpi(request: pytest.FixtureRequest, preflight: None) -> builds.MpiBuild:
    """Each MPI under the recorder."""
    try:
        return builds.BUILDS[request.param]()
    except builds.Missing as missing:
        pytest.fail(str(missing))
