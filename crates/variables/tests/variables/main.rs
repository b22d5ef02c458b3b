//! The crate's tests: what it says of stopped programs is compared with what gdb says of them, and with what their sources say.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod compared;
mod damage;
mod hostile;
mod programs;
mod stopped;
