//! The steps of a diagnosis, each against a model that follows the definitions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod causes;
mod circles;
mod counted;
mod doubt;
mod exceptions;
mod garbage;
mod given;
mod graph;
mod held;
mod identity;
mod initialising;
mod machine;
mod made;
mod made_stacks;
mod matching;
mod messages;
mod model_of_mpi;
mod named;
mod non_blocking;
mod odd_rank;
mod programs;
mod recorded;
mod sentences;
mod snapshot;
mod stacks;
mod started_collectives;
mod stopped;
mod support;
mod threads;
mod told;
mod waits;
mod worked;
