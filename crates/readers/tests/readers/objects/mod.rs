//! Tests of what handles mean, on objects in made-up memory: what is damaged is told, and never believed.

mod comms;
mod damage;
mod datatypes;
mod messages;
mod requests;
mod statuses;
mod support;
mod windows;
#[allow(dead_code)]
use made_up::rng;
