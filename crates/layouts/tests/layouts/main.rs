//! Tests of the layout profiles.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod dwarf;
mod made_up;
mod pooled;
mod profile;
mod schema;
