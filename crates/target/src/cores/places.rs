//! What lies where in the memory of a core file, as `/proc/PID/maps` names it.

use std::ffi::{OsStr, OsString};

use super::elf::{EXECUTABLE, READABLE, WRITABLE};
use super::error::shown;
use super::file::{CoreFile, Memory};
use super::notes::{AT_ENTRY, AT_EXECFN, MappedFile};

/// A range of memory that the file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Whether it could be read.
    pub readable: bool,
    /// Whether it could be written to.
    pub writable: bool,
    /// The mapped file, `[heap]`, `[stack]`; empty for other anonymous memory.
    pub name: OsString,
}

enum Place<'core> {
    File(&'core OsStr),
    Stack,
    Heap,
    Anonymous,
}

impl CoreFile {
    /// What lies at an address, in words.
    pub(super) fn part(&self, address: u64) -> String {
        if let Some(mapping) = self.mapping(address) {
            return format!("memory of {}", shown(&mapping.name));
        }
        let Some(memory) = self.memory_at(address) else { return "memory that it does not describe".to_owned() };
        match self.place(&memory) {
            Place::Stack => "the stack",
            Place::Heap => "the heap",
            Place::File(_) | Place::Anonymous => "anonymous memory",
        }
        .to_owned()
    }

    fn place(&self, memory: &Memory) -> Place<'_> {
        if let Some(mapping) = self.mapping(memory.start) {
            return Place::File(&mapping.name);
        }
        // The kernel puts the name of the executable above the environment (create_elf_tables in fs/binfmt_elf.c).
        if (memory.start..memory.end).contains(&self.auxiliary(AT_EXECFN)) {
            return Place::Stack;
        }
        if self.heap.as_ref() == Some(memory) { Place::Heap } else { Place::Anonymous }
    }

    /// Whether the process could execute what lies at an address.
    pub fn is_code(&self, address: u64) -> bool {
        self.memory_at(address).is_some_and(|memory| memory.flags & EXECUTABLE != 0)
    }

    /// The same where the file does not tell: gdb's gcore leaves out the code of files altogether.
    pub fn may_be_code(&self, address: u64) -> bool {
        self.memory_at(address).is_none_or(|memory| memory.flags & EXECUTABLE != 0)
    }

    /// The memory that the file holds, by address.
    pub fn regions(&self) -> Vec<Region> {
        let whole = |memory: &&Memory| {
            let end = memory.offset.checked_add(memory.held);
            memory.held > 0 && end.is_some_and(|end| end <= self.file.len())
        };
        let region = |memory: &Memory| Region {
            start: memory.start,
            end: memory.start.saturating_add(memory.held),
            readable: memory.flags & READABLE != 0,
            writable: memory.flags & WRITABLE != 0,
            name: match self.place(memory) {
                Place::File(name) => name.to_owned(),
                Place::Stack => "[stack]".into(),
                Place::Heap => "[heap]".into(),
                Place::Anonymous => OsString::new(),
            },
        };
        self.memory.iter().filter(whole).map(region).collect()
    }

    /// The last mapping of the executable.
    pub(super) fn program_mapping(&self) -> Option<&MappedFile> {
        let entry = self.mapping(self.auxiliary(AT_ENTRY))?;
        self.mappings().iter().rfind(|mapping| mapping.name == entry.name)
    }

    /// The kernel puts the heap behind the executable, whose .bss adjoins it, and below all libraries.
    pub(super) fn first_behind_program(&self) -> Option<Memory> {
        let program = self.program_mapping()?;
        let mut end = program.end;
        let first = self.memory.partition_point(|memory| memory.start <= program.start);
        for memory in &self.memory[first..] {
            if self.mapping(memory.start).is_some() && memory.start >= end {
                return None;
            }
            if memory.start > end {
                return Some(*memory);
            }
            end = end.max(memory.end);
        }
        None
    }
}
