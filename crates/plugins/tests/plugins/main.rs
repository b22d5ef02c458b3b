//! Hosting plug-ins: those for message queues, and those for handles.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod compiled;
mod mpidbg;
mod mqs;
