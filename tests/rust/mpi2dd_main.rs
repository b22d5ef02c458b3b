//! Tests of the MPI2DD interface on jobs that are made up: both widths, both byte orders, and anything as tables.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod mpi2dd_hostile;
mod mpi2dd_job;
mod mpi2dd_support;
