//! Writes one process.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::described::{ProcessDescription, ProcessEnd};
use super::frame::{Kind, write_frame};
use super::ranges::{Range, RangeSet};
use super::recorder::Recorder;
use layouts::TypeLayout;
use model::Stack;
use target::address::TargetAddr;
use target::{Symbol, Target};

/// Bytes of memory in one frame: what a replay decompresses at once.
const BYTES_AT_ONCE: u64 = 1 << 20;

const PAGE: u64 = 4096;

/// Ranges of one frame.
const RANGES_AT_ONCE: usize = 1 << 16;

/// Stacks of one frame: at most 256 frames each.
const STACKS_AT_ONCE: usize = 64;

/// Bytes of symbol names in one frame.
const SYMBOLS_AT_ONCE: usize = 4 << 20;

/// What is written of a process besides what the recorder noted.
pub struct Parts<'a> {
    /// The description; its facts have the stacks.
    pub description: ProcessDescription,
    /// The debugger's structure layouts by name, `None` for those that it was asked for and does not have.
    pub types: BTreeMap<String, Option<TypeLayout>>,
    /// The text of the layout profile that was used.
    pub profile: Option<String>,
    /// All symbols that could be listed.
    pub symbols: Vec<(String, Symbol)>,
    /// Further memory to record, for a full recording.
    pub more: Vec<Range>,
    /// What was asked for and cannot be recorded, in sentences.
    pub left_out: Vec<String>,
    /// Told how many bytes of memory are done, of how many; an error ends the writing.
    pub progress: &'a mut dyn FnMut(u64, u64) -> io::Result<()>,
}

/// Writes everything to `out`.
///
/// # Errors
/// Those of `out` and of the progress.
pub fn write_process(out: &mut dyn Write, recorder: Recorder<'_>, parts: Parts<'_>) -> io::Result<()> {
    let Parts { mut description, types, profile, symbols, more, mut left_out, progress } = parts;
    let stacks = std::mem::take(&mut description.facts.stacks);
    write_frame(out, Kind::Process, &serde_json::to_vec(&description)?)?;
    write_stacks(out, &stacks)?;
    write_symbols(out, symbols, recorder.symbols.take())?;
    write_frame(out, Kind::Types, &serde_json::to_vec(&types)?)?;
    if let Some(profile) = profile {
        write_frame(out, Kind::Profile, profile.as_bytes())?;
    }
    let faults: Vec<Range> = recorder.faults.take();
    for some in faults.chunks(RANGES_AT_ONCE) {
        write_frame(out, Kind::Faults, &packed(some))?;
    }
    let mut set: RangeSet = recorder.read.take();
    more.into_iter().for_each(|range| set.add(range));
    let mut memory =
        Memory { target: recorder.inner(), out, ranges: Vec::new(), bytes: Vec::new(), written: 0, lost: 0 };
    let ranges = set.into_sorted();
    let total = ranges.iter().map(|range| range.bytes()).sum();
    let mut done = 0;
    for range in ranges {
        let mut at = range.start;
        while at < range.end {
            let piece = Range { start: at, end: range.end.min(at.saturating_add(BYTES_AT_ONCE)) };
            memory.add(piece)?;
            at = piece.end;
            done += piece.bytes();
            progress(done, total)?;
        }
    }
    memory.flush()?;
    if memory.lost > 0 {
        left_out.push(format!("{} bytes could not be read and are not in the recording", memory.lost));
    }
    let pointers = recorder.stack_pointers.take();
    let stack_pointers = pointers.map(|all| all.into_iter().map(TargetAddr::get).collect());
    let places = recorder.places.take();
    let end = ProcessEnd { memory: memory.written, left_out, stack_pointers, places };
    write_frame(out, Kind::ProcessEnd, &serde_json::to_vec(&end)?)
}

/// Memory on its way into the file.
struct Memory<'a> {
    target: &'a dyn Target,
    out: &'a mut dyn Write,
    ranges: Vec<Range>,
    bytes: Vec<u8>,
    written: u64,
    lost: u64,
}

impl Memory<'_> {
    /// Adds a range of at most [`BYTES_AT_ONCE`]; of one that cannot be read whole, what can be.
    fn add(&mut self, range: Range) -> io::Result<()> {
        if self.bytes.len() as u64 + range.bytes() > BYTES_AT_ONCE || self.ranges.len() >= RANGES_AT_ONCE {
            self.flush()?;
        }
        let start = self.bytes.len();
        self.bytes.resize(start + range.bytes() as usize, 0);
        if self.target.read_once(TargetAddr::new(range.start), &mut self.bytes[start..]).is_ok() {
            self.ranges.push(range);
            return Ok(());
        }
        self.bytes.truncate(start);
        // Readable or not, a page is so as a whole.
        let first_end = (range.start / PAGE * PAGE).saturating_add(PAGE);
        if first_end >= range.end {
            self.lost += range.bytes();
            return Ok(());
        }
        let middle = ((range.start + range.bytes() / 2) / PAGE * PAGE).max(first_end);
        self.add(Range { start: range.start, end: middle })?;
        self.add(Range { start: middle, end: range.end })
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.ranges.is_empty() {
            return Ok(());
        }
        write_frame(self.out, Kind::Ranges, &packed(&self.ranges))?;
        write_frame(self.out, Kind::Bytes, &self.bytes)?;
        self.written += self.bytes.len() as u64;
        self.ranges.clear();
        self.bytes.clear();
        Ok(())
    }
}

fn packed(ranges: &[Range]) -> Vec<u8> {
    ranges.iter().flat_map(|range| [range.start.to_le_bytes(), range.bytes().to_le_bytes()].concat()).collect()
}

fn write_stacks(out: &mut dyn Write, stacks: &[Stack]) -> io::Result<()> {
    stacks.chunks(STACKS_AT_ONCE).try_for_each(|some| write_frame(out, Kind::Stacks, &serde_json::to_vec(some)?))
}

/// One symbol a line: `ADDRESS SIZE NAME` in hexadecimal, with `-` for a size that is not known, `absent - NAME` for a
/// name that was looked for in vain.
fn write_symbols(
    out: &mut dyn Write,
    listed: Vec<(String, Symbol)>,
    asked: BTreeMap<String, Option<Symbol>>,
) -> io::Result<()> {
    let mut all: BTreeMap<String, Option<Symbol>> =
        listed.into_iter().map(|(name, symbol)| (name, Some(symbol))).collect();
    // What a reader was told counts.
    all.extend(asked);
    let mut text = String::new();
    for (name, symbol) in all.iter().filter(|(name, _)| !name.contains('\n')) {
        let (addr, size) = match symbol {
            Some(symbol) => (format!("{:x}", symbol.addr.get()), symbol.size.map(|size| format!("{size:x}"))),
            None => ("absent".to_owned(), None),
        };
        text.push_str(&format!("{addr} {} {name}\n", size.as_deref().unwrap_or("-")));
        if text.len() >= SYMBOLS_AT_ONCE {
            write_frame(out, Kind::Symbols, text.as_bytes())?;
            text.clear();
        }
    }
    write_frame(out, Kind::Symbols, text.as_bytes())
}
