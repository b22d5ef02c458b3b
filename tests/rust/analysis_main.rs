//! The steps of a diagnosis, each against a model that follows the definitions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod analysis_graph;
mod analysis_waits;
