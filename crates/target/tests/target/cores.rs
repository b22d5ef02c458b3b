//! Core files that are made up, and one of this very process.

mod checks;
mod damage;
mod memory;
mod mine;
mod notes;
mod opening;
mod packed;
