//! Interfaces that were only drafted, and that no MPI is known to have: MPI2DD, by which the processes of a job tell of one
//! another, and MPIDBG, by which a plug-in tells what handles mean. Nothing but the Python module knows them.

pub mod mpi2dd;
pub mod mpidbg;

use plugins::host::candidate::Others;

/// What these say of plug-ins for message queues.
pub static OTHERS: Others = Others { named: mpi2dd::named_plugin, is_theirs: mpidbg::is_for_handles_only };
