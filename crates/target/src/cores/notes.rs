//! What the notes of a core file tell of its process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::elf::{u16_at, u32_at, u64_at};
use crate::registers::{MOST_WORDS, Machine, Registers};

/// More notes than this (64 MiB) are of no process that we read.
pub(super) const MAX_NOTES: u64 = 1 << 26;
/// Nor are so many threads, or entries of an auxiliary vector, which has some twenty.
const MAX_THREADS: usize = 1 << 16;
const MAX_VECTOR: usize = 16 * 256;

const NT_PRSTATUS: u32 = 1;
const NT_PRPSINFO: u32 = 3;
const NT_AUXV: u32 = 6;
const NT_FILE: u32 = 0x4649_4c45;

/// Bytes before a note's name.
const NOTE: usize = 12;
/// Where `pr_cursig`, `pr_sighold` and `pr_pid` lie in `struct elf_prstatus` of a 64-bit Linux, and `pr_uid` and `pr_pid` in
/// `struct elf_prpsinfo` (include/uapi/linux/elfcore.h, include/linux/elfcore.h).
const PRSTATUS_SIGNAL: usize = 12;
const PRSTATUS_BLOCKED: usize = 24;
const PRSTATUS_PID: usize = 32;
/// Where registers begin in `struct elf_prstatus`.
const PRSTATUS_REGISTERS: usize = 112;
const PRPSINFO_UID: usize = 16;
const PRPSINFO_PID: usize = 24;

/// Entries of the auxiliary vector (include/uapi/linux/auxvec.h).
pub(super) const AT_PHDR: u64 = 3;
pub(super) const AT_PHNUM: u64 = 5;
pub(super) const AT_ENTRY: u64 = 9;
pub(super) const AT_EXECFN: u64 = 31;
pub(super) const AT_SYSINFO_EHDR: u64 = 33;

/// A thread as it stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The kernel's number of it.
    pub id: u32,
    /// The signal that it took, 0 for none.
    pub signal: u16,
    /// The signals that it has blocked, a bit each from 1 on.
    pub blocked: Option<u64>,
    /// Its registers.
    pub registers: Registers,
}

/// A file that was mapped, whether its memory is in the core or not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MappedFile {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Where that begins in the file, in bytes.
    pub offset: u64,
    /// Its path, as the kernel knew it.
    pub name: OsString,
}

#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Process id on its host, and its user.
    pub pid: Option<u32>,
    pub user: Option<u32>,
    /// AT_… numbers to values.
    pub auxiliary: BTreeMap<u64, u64>,
    /// The same as it lies in memory; empty for one that is too long.
    pub vector: Vec<u8>,
    /// The one first that took the signal, as the kernel writes them.
    pub threads: Vec<Thread>,
    /// Whether there were more threads than are told.
    pub more_threads: bool,
    /// By address.
    pub mappings: Vec<MappedFile>,
}

impl Notes {
    pub fn parse(machine: Machine, notes: &[u8]) -> Self {
        let mut found = Self::default();
        let mut rest = notes;
        while let Some((kind, content, after)) = next(rest) {
            found.take(machine, kind, content);
            rest = after;
        }
        found
    }

    fn take(&mut self, machine: Machine, kind: u32, content: &[u8]) {
        match kind {
            NT_AUXV => {
                let vector = if content.len() <= MAX_VECTOR { content } else { &[] };
                let pair = |pair: &[u8]| Some((u64_at(pair, 0)?, u64_at(pair, 8)?));
                self.vector = vector.to_vec();
                self.auxiliary = vector.chunks_exact(16).filter_map(pair).collect();
            }
            NT_PRPSINFO => {
                if let (Some(user), Some(pid)) = (u32_at(content, PRPSINFO_UID), u32_at(content, PRPSINFO_PID)) {
                    self.user = Some(user);
                    self.pid = (pid != 0).then_some(pid);
                }
            }
            NT_PRSTATUS if self.threads.len() >= MAX_THREADS => self.more_threads = true,
            NT_PRSTATUS => {
                if let Some(registers) = registers(machine, content) {
                    let id = u32_at(content, PRSTATUS_PID).unwrap_or_default();
                    let signal = u16_at(content, PRSTATUS_SIGNAL).unwrap_or_default();
                    let blocked = u64_at(content, PRSTATUS_BLOCKED);
                    self.threads.push(Thread { id, signal, blocked, registers });
                }
            }
            NT_FILE => self.mappings = mappings(content),
            _ => {}
        }
    }
}

fn registers(machine: Machine, status: &[u8]) -> Option<Registers> {
    let words: Vec<u64> = (0..MOST_WORDS).map_while(|index| u64_at(status, PRSTATUS_REGISTERS + 8 * index)).collect();
    Registers::of_words(machine, &words)
}

/// The first note: its type, its content, and what follows it.
fn next(notes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let aligned = |size: u32| usize::try_from(size).ok()?.checked_next_multiple_of(4);
    let (name, size, kind) = (u32_at(notes, 0)?, u32_at(notes, 4)?, u32_at(notes, 8)?);
    let rest = notes.get(NOTE.checked_add(aligned(name)?)?..)?;
    let content = rest.get(..usize::try_from(size).ok()?)?;
    Some((kind, content, rest.get(aligned(size)?..).unwrap_or_default()))
}

/// The files of an NT_FILE note: their number, the page size, the addresses, the names.
fn mappings(note: &[u8]) -> Vec<MappedFile> {
    let (Some(count), Some(page)) = (u64_at(note, 0), u64_at(note, 8)) else { return Vec::new() };
    let addresses = usize::try_from(count).ok().and_then(|count| count.checked_mul(24)).and_then(|len| {
        let end = len.checked_add(16)?;
        Some((note.get(16..end)?, note.get(end..)?))
    });
    let Some((addresses, names)) = addresses else { return Vec::new() };
    let mapping = |(place, name): (&[u8], &[u8])| {
        let offset = u64_at(place, 16)?.saturating_mul(page);
        let name = OsString::from_vec(name.to_vec());
        Some(MappedFile { start: u64_at(place, 0)?, end: u64_at(place, 8)?, offset, name })
    };
    let names = names.split(|byte| *byte == 0);
    let mut found: Vec<MappedFile> = addresses.chunks_exact(24).zip(names).filter_map(mapping).collect();
    found.sort();
    found
}
