//! The agent as a program: what it prints, what it writes, how it ends.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod aside;
mod command_line;
mod corpus;
mod files;
mod live;
mod pack;
mod recordings;
mod support;
