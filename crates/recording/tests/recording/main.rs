//! Tests of recordings: what is in them, what replays, what damage does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod damage;
mod hostile;
mod replay;
mod support;
