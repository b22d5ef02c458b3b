//! The built-in readers on made-up processes: no layout is a real one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod mpich;
mod mpich_handles;
mod objects;
mod openmpi;
mod pools;
