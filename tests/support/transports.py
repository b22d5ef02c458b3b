"""What moves the messages of an MPI, where that is not what it would choose for itself here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Tuple

Settings = Tuple[Tuple[str, str], ...]


@dataclass(frozen=True)
class Transport:
    """A way for messages: ``name`` is what the ids of builds have behind a +."""

    name: str
    #: As ``mpi info`` tells it.
    told: str
    #: MCA parameters (Open MPI).
    mca: Settings = ()
    #: Variables of the environment.
    variables: Settings = ()

    @property
    def options(self) -> List[str]:
        """What the launcher is given."""
        return [part for name, value in self.mca for part in ("--mca", name, value)]

    @property
    def environment(self) -> Dict[str, str]:
        """What the launcher and its ranks find in the environment."""
        return dict(self.variables)


#: Debian 13's Open MPI asks the kernel for routes, and where the machine has addresses of IPv6 it takes all of its own
#: for out of reach by TCP.
REACHABLE = {"OMPI_MCA_reachable": "weighted"}

#: The environment of Open MPI's jobs that other launchers start: the pml whose queues are read whole, as the tests'
#: other jobs have it.
JOB = {
    "OMPI_MCA_pml": "ob1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    **REACHABLE,
}

#: Without a network card the pml refuses what UCX has, unless any is allowed: parameters of 4.1, then of 5.0.
UCX = Transport(
    "ucx",
    "ucx",
    mca=(
        ("pml", "ucx"),
        ("pml_ucx_tls", "any"),
        ("pml_ucx_devices", "any"),
        ("opal_common_ucx_tls", "any"),
        ("opal_common_ucx_devices", "any"),
        # Programs learn from Open MPI's progress that they wait; else the pml asks UCX a hundred times before it.
        ("opal_common_ucx_progress_iterations", "1"),
        ("pml_ucx_progress_iterations", "1"),
    ),
    variables=(("UCX_TLS", "tcp,sm,self"),),
)


def over_libfabric(provider: str) -> Transport:
    """Open MPI's mtl ofi, with one of libfabric's providers."""
    mca = (("pml", "cm"), ("mtl", "ofi"), ("mtl_ofi_provider_include", provider))
    return Transport(_name(provider), "cm", mca=mca)


def mpich_over_libfabric(provider: str) -> Transport:
    """MPICH's ch4:ofi with one of libfabric's providers, also between ranks of one node: without its shared memory."""
    variables = (("MPIR_CVAR_NOLOCAL", "1"), ("MPIR_CVAR_CH4_NETMOD", "ofi"), ("FI_PROVIDER", provider))
    return Transport(_name(provider), "ch4:ucx,ofi", variables=variables)


#: The pml monitoring stands before the one that moves the messages. Not for intercommunicators, for which it crashes
#: (mca_common_monitoring_coll_new, ompi/mca/common/monitoring/common_monitoring_coll.c, v4.1.4 and v5.0.10).
MONITORING = Transport("monitoring", "ob1 behind monitoring", mca=(("pml_monitoring_enable", "2"),))

#: The pml v stands before ob1; in 4.1 its protocol never loads (``pml_v_enable_mpi_thread_multiple``,
#: ompi/mca/pml/v/pml_v_component.c, v4.1.4).
V = Transport("v", "ob1 behind v", mca=(("vprotocol", "pessimist"),))


def monitored(transport: Transport) -> Transport:
    """The same behind the pml monitoring, which has to be named beside the real one."""
    mca = tuple((name, f"{value},monitoring" if name == "pml" else value) for name, value in transport.mca)
    return Transport(
        f"{transport.name}-monitoring",
        f"{transport.told} behind monitoring",
        mca=(*mca, *MONITORING.mca),
        variables=transport.variables,
    )


def _name(provider: str) -> str:
    return f"ofi-{provider.replace(';', '-')}"
