//! Synthetic processes for tests of the readers: C layouts that are made up, memory that is built from them, and a
//! small imitation of Open MPI that fills it.
//!
//! Nothing here comes from the shipped layout profiles: only the names of types, fields and constants are the MPI's.

pub mod cells;
pub mod core_file;
pub mod layout;
pub mod memory;
pub mod mpich;
pub mod nemesis;
pub mod openmpi_types;
pub mod over_cm;
pub mod over_ucx;
pub mod process;
pub mod rich;
pub mod rng;
pub mod share;
pub mod shared_memory;
pub mod traffic;
