//! Hosting plug-ins for message queues.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod compiled;
mod mqs;
