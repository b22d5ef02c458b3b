//! Tests of the layout profiles.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod layouts_dwarf;
mod layouts_made_up;
mod layouts_pooled;
mod layouts_profile;
mod layouts_schema;
mod layouts_verify;
