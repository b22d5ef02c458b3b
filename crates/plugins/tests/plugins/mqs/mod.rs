//! The host of vendor plug-ins: life cycle, hostile plug-ins, the ABI, Open MPI's own plug-in.

mod abi;
mod good;
mod hostile;
mod job;
mod mpich;
mod mpich_memory;
mod toy;
mod vendor;
