//! Process tables of launchers, and the tables of the draft MPI2DD, in made-up memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod mpi2dd;
mod mpir;
