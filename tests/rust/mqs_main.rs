//! The host of vendor plug-ins: life cycle, hostile plug-ins, the ABI, Open MPI's own plug-in.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod mqs_abi;
mod mqs_good;
mod mqs_hostile;
mod mqs_job;
mod mqs_mpich;
mod mqs_mpich_memory;
mod mqs_toy;
mod mqs_vendor;
