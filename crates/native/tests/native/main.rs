//! Tests of processes that run programs of their own, and what gdb says of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod jumps;
mod programs;
