//! Interfaces that were only drafted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "../../../plugins/tests/plugins/compiled.rs"]
#[allow(dead_code)]
mod compiled;
mod mpi2dd;
mod mpidbg;
