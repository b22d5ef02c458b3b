//! The targets. What makes their processes and files is what the tests of each crate make them with.

pub mod cores;
pub mod digest;
pub mod dwarf;
pub mod elf;
pub mod history;
pub mod layouts;
pub mod mpi2dd;
pub mod mpich;
pub mod networks;
pub mod openmpi;
pub mod python;
pub mod recording;
pub mod session;
pub mod snapshot;
pub mod sources;
pub mod tables;
pub mod unwind;
pub mod variables;
