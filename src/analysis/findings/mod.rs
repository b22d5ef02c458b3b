//! What to tell of what was found: one file a family of kinds.

pub mod messages;
