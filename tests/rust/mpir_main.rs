//! Process tables of launchers, by the MPIR interface, in made-up memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod mpir_damage;
mod mpir_launcher;
mod mpir_search;
mod mpir_symbols;
mod support;
