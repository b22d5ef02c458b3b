//! What reports show of jobs that never ran.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod graphs;
mod layouts;
mod tables;
