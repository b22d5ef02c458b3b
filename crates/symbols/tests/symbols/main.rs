//! Tests of names and places: programs that are compiled, and what gdb says of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod compiled;
mod damage;
mod debug_files;
mod gdb;
mod like_gdb;
