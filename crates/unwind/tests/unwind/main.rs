//! Stacks of real programs, compared with gdb's; made-up ones of both machines; and damage.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod aarch64;
#[cfg(target_arch = "x86_64")]
mod damage;
mod ends;
mod guesses;
#[cfg(target_arch = "x86_64")]
mod live;
mod made;
#[cfg(target_arch = "x86_64")]
mod recorded;
mod rules;
mod signals;
mod tables;
