//! Tests of recordings: what is in them, what replays, what damage does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod recording_damage;
mod recording_hostile;
mod recording_replay;
mod recording_support;
mod support;
