# A package file for Spack: in a repository of your own (spack repo create), as packages/py_mpi_queues/package.py.

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyMpiQueues(PythonPackage):
    """Why is my MPI job stuck? Names the cause of a hang: ranks, calls, lines, and what to change."""

    pypi = "mpi-queues/mpi_queues-0.1.0.tar.gz"

    license("MIT OR Apache-2.0")

    # `make release` tells the checksum of the archive (sha256), which is added here when it is there.
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-maturin@1.9:1", type="build")
    depends_on("rust@1.88:", type="build")
    # It reads jobs of any MPI, and needs none.

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def explain_a_recording(self):
        """Without an MPI the demo reads a recording."""
        Executable(self.prefix.bin.join("mpi-queues"))("demo")
