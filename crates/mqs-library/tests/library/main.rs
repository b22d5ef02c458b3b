//! The library against hosts: good ones, whose answers are compared with the built-in reader's, and hostile ones.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unsafe_code)]

mod corpus;
mod host;
mod hostile;
#[path = "../../../agent/tests/agent/pack.rs"]
mod pack;
mod words;
