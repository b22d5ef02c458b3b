//! Walks the stack of a thread without a debugger: by the unwinding tables of its code (DWARF 5, 6.4; System V ABI for
//! AMD64, `.eh_frame`), by what the kernel writes for a signal's handler, and, where neither is there, by guesses that are
//! marked as such.
//!
//! What is read can be anything. Every frame costs a bounded number of reads, and the walk ends.

mod expression;
mod guess;
mod index;
mod instructions;
mod machine;
mod module;
mod process;
mod registers;
mod row;
mod rules;
mod search_table;
mod signal;
mod stack;
mod tables;
mod walk;

pub use machine::Machine;
pub use module::{Module, Sections, Unusable};
pub use process::{Code, Memory};
pub use registers::Registers;
pub use stack::{End, Found, Frame, Stack};
pub use walk::unwind;

/// The bytes of a section. Modules share them between threads.
pub type Section = gimli::EndianArcSlice<gimli::RunTimeEndian>;

/// A section of little-endian bytes.
pub fn section(bytes: &[u8]) -> Section {
    Section::new(bytes.into(), gimli::RunTimeEndian::Little)
}
