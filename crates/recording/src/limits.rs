//! How much a recording may be: it may come from a stranger, and a small file can unpack to a thousand times its length.
//!
//! What is written stays far below. Texts of real processes unpack to 8 times what they take in the file, memory to 6
//! times, heaps of zeros to more; so work and memory are bounded by the length of the file, and small files have an allowance.

use std::cell::Cell;

use super::frame::Kind;
use target::Reason;

/// More processes than this are not looked at.
pub const MAX_PROCESSES: usize = 1 << 16;

/// More frames than this are not indexed: 4 Mi frames of a mebibyte are 4 TiB.
pub const MAX_FRAMES: usize = 1 << 22;

/// Everything but memory is not larger than this in any process (128 MiB): it is loaded at once.
pub const MAX_LOADED: u64 = 128 << 20;

/// More ranges (4 Mi), failed reads, symbols or threads than this are not those of a process.
pub const MAX_RANGES: usize = 1 << 22;
pub const MAX_FAULTS: usize = 1 << 16;
pub const MAX_SYMBOLS: usize = 1 << 20;
pub const MAX_THREADS: usize = 1 << 14;

/// Objects in the JSON of a process's stacks: each frame is one, and takes a few bytes in the text, hundreds in memory.
pub const MAX_OBJECTS: usize = 1 << 21;

/// What all processes of a file may unpack to besides memory: this (64 MiB), and so many times the length of the file.
const TEXT: (u64, u64) = (64 << 20, 32);

/// Symbols of all processes of a file: this (2 Mi), and one for so many bytes of it. Real ones have one for 16 bytes.
const SYMBOLS: (u64, u64) = (2 << 20, 12);

/// What is unpacked of memory while a file is read, some of it more than once: this (1 GiB), and so many times its length.
const MEMORY: (u64, u64) = (1 << 30, 64);

/// The most bytes that a frame of this kind has after decompression; the format's own limit is above all.
pub fn most(kind: Kind) -> u64 {
    match kind {
        Kind::Info | Kind::ProcessEnd | Kind::FileEnd => 1 << 20,
        Kind::Process => 4 << 20,
        Kind::Types | Kind::Profile => 16 << 20,
        Kind::Bytes => 2 << 20,
        Kind::Stacks | Kind::Symbols | Kind::Ranges | Kind::Faults => super::frame::MAX_RAW,
    }
}

/// What a file has been unpacked to so far.
#[derive(Debug, Default)]
pub struct Unpacked {
    text: Cell<u64>,
    symbols: Cell<u64>,
    memory: Cell<u64>,
}

impl Unpacked {
    /// Counts texts of `more` bytes of a file of `len` bytes.
    ///
    /// # Errors
    /// Where that is too much: a sentence about the limit.
    pub fn text(&self, more: u64, len: u64) -> Result<(), Reason> {
        count(&self.text, more, len, TEXT, "what it says of its processes")
    }

    /// Counts `more` symbols of a file of `len` bytes.
    ///
    /// # Errors
    /// Where that is too many: a sentence about the limit.
    pub fn symbols(&self, more: u64, len: u64) -> Result<(), Reason> {
        let limit = SYMBOLS.0.saturating_add(len / SYMBOLS.1);
        add(&self.symbols, more, limit).ok_or_else(|| {
            format!("its processes have more than {limit} symbols, the most for a file of {len} bytes").into()
        })
    }

    /// Counts memory of `more` bytes of a file of `len` bytes.
    ///
    /// # Errors
    /// Where that is too much: a sentence about the limit.
    pub fn memory(&self, more: u64, len: u64) -> Result<(), Reason> {
        count(&self.memory, more, len, MEMORY, "the memory in it")
    }
}

fn count(so_far: &Cell<u64>, more: u64, len: u64, (allowance, times): (u64, u64), what: &str) -> Result<(), Reason> {
    let limit = allowance.saturating_add(len.saturating_mul(times));
    add(so_far, more, limit).ok_or_else(|| {
        format!(
            "{what} unpacks to more than {} MiB, the most for a file of {len} bytes: recordings are not like that",
            limit >> 20
        )
        .into()
    })
}

/// Counts where it fits.
fn add(so_far: &Cell<u64>, more: u64, limit: u64) -> Option<()> {
    let all = so_far.get().saturating_add(more);
    (all <= limit).then(|| so_far.set(all))
}
