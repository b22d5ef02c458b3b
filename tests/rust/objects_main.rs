//! Tests of what handles mean, on objects in made-up memory: what is damaged is told, and never believed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod objects_comms;
mod objects_damage;
mod objects_datatypes;
mod objects_messages;
mod objects_requests;
mod objects_statuses;
mod objects_support;
mod objects_windows;
#[allow(dead_code)]
#[path = "support/rng.rs"]
mod rng;
