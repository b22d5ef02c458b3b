//! Process tables of launchers, by the MPIR interface, in made-up memory.

mod damage;
mod launcher;
mod search;
mod symbols;
