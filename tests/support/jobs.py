"""MPI jobs of the test programs, which write down what they post before they hang."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Sequence

from . import priority, processes, transports
from .builds import MpiBuild, compile_program

#: Only keeps a broken job from hanging the tests; a job is ready when its ranks have written down their truth.
READY_TIMEOUT = 180.0

Truth = Dict[str, Any]


#: Another transport than ob1, over TCP: Debian 13's Open MPI leaves that out where it is not named.
PML_CM = {"pml": "cm", "mtl": "ofi", "mtl_ofi_provider_include": "tcp"}
#: How the wrapper monitoring is put before ob1.
PML_MONITORING = dict(transports.MONITORING.mca)


class TruthfulJob(priority.Job):
    """A job whose ranks write down what they do, each in a file, and are ready then."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.truth: Dict[int, Truth] = {}
        # The MPI chooses for itself, whatever is set here: what it chooses is a part of what is tested.
        ours = [
            name for name in os.environ if name.startswith(("OMPI_", "PMIX_", "PRTE_", "MPIR_CVAR_", "UCX_", "FI_"))
        ]
        options["env"] = {**dict.fromkeys(ours), **options["env"]}
        super().__init__(*arguments, timeout=READY_TIMEOUT, **options)

    def _environment(self, asked: Mapping[str, Optional[str]]) -> Dict[str, str]:
        return {**super()._environment(asked), "MPIQ_TRUTH": str(self.directory / "truth.%d.json")}

    def _is_ready(self, rank: int, lines: object) -> bool:
        path = Path(self.directory, f"truth.{rank}.json")
        if path.exists():
            self.truth[rank] = json.loads(path.read_bytes())
        return rank in self.truth


class Job(TruthfulJob):
    """An MPI job whose ranks have all reached the place where they hang."""

    def __init__(
        self,
        build: MpiBuild,
        program: str,
        *arguments: str,
        ranks: int = 2,
        mca: Optional[Mapping[str, str]] = None,
        env: Optional[Mapping[str, str]] = None,
        options: Sequence[str] = (),
    ) -> None:
        self.build = build
        assert not (mca and build.is_mpich), "MPICH has no MCA parameters: env={'MPIR_CVAR_...': ...}"
        settings = [part for name, value in (mca or {}).items() for part in ("--mca", name, value)]
        super().__init__(
            compile_program(build, program),
            ranks=ranks,
            args=arguments,
            env={"OMPI_MCA_pml": None, **build.environment, **(env or {})},
            launcher=build.mpirun,
            options=[*build.options, *settings, *options],
        )

    def assert_running(self) -> None:
        """All ranks run as before, and nobody traces them."""
        for pid in self.pids:
            processes.assert_running(pid)
