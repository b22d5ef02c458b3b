//! What follows from snapshots alone: never touches memory.

pub mod compare;
pub mod universe;
