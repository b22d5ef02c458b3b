//! Stacks of real programs, compared with gdb's; made-up ones of both machines; and damage.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod live;
mod recorded;
