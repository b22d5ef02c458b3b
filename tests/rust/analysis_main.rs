//! The steps of a diagnosis, each against a model that follows the definitions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod analysis_garbage;
mod analysis_graph;
mod analysis_identity;
mod analysis_machine;
mod analysis_made;
mod analysis_matching;
mod analysis_messages;
mod analysis_model;
mod analysis_non_blocking;
mod analysis_programs;
mod analysis_snapshot;
mod analysis_support;
mod analysis_told;
mod analysis_waits;
