//! The initial environment of the process of a core file.
//!
//! The kernel lays out, upwards: argc, argv, NULL, envp, NULL, the auxiliary vector, …, the strings of argv and those of
//! envp, the name of the executable (create_elf_tables in fs/binfmt_elf.c). The vector is found by its contents. Programs
//! change the array envp (setenv), and the order of argv (getopt), but not where their strings lie.

use super::elf::u64_at;
use super::file::CoreFile;
use super::notes::AT_EXECFN;
use crate::budget::zeroed;

/// Arguments and environment larger than this are not searched.
const MAX_ENVIRONMENT: u64 = 4 << 20;

/// The auxiliary vector of every process is longer than this.
const SHORTEST_VECTOR: usize = 64;

const WORD: usize = 8;

impl CoreFile {
    /// A variable of the initial environment; `None` where it was not set, or the file does not hold it.
    pub fn environment(&self, name: &[u8]) -> Option<&[u8]> {
        let strings = self.environment.get_or_init(|| self.environment_strings().unwrap_or_default());
        strings.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(name)?.strip_prefix(b"="))
    }

    /// What stands behind the arguments: `NAME=VALUE`, each with a NUL.
    fn environment_strings(&self) -> Option<Vec<u8>> {
        let end = self.auxiliary(AT_EXECFN);
        let memory = self.memory_at(end)?;
        let vector = self.notes.vector.as_slice();
        if vector.len() < SHORTEST_VECTOR {
            return None;
        }
        let start = memory.start.max(end.saturating_sub(MAX_ENVIRONMENT));
        let mut stack = zeroed(usize::try_from(end - start).ok()?).ok()?;
        self.read_held(start, &mut stack).ok()?;
        // Stacks are aligned to 16 bytes, so the vector lies at a multiple of its words.
        let skip = start.next_multiple_of(WORD as u64).checked_sub(start)? as usize;
        let places = (skip..stack.len().checked_sub(vector.len())?.checked_add(1)?).step_by(WORD);
        let at = places.rev().find(|at| stack[*at..].starts_with(vector))?;
        // Below the vector are pointers and NULL, until argc.
        let words: Vec<u64> = stack[skip..at].chunks_exact(WORD).filter_map(|word| u64_at(word, 0)).collect();
        let argc_at = words.iter().rposition(|word| (1..MAX_ENVIRONMENT).contains(word))?;
        let arguments = words[argc_at + 1..].iter().take(usize::try_from(words[argc_at]).ok()?);
        let within = |pointer: &u64| usize::try_from(pointer.checked_sub(start)?).ok();
        let last = arguments.filter_map(within).filter(|place| *place > at && *place < stack.len()).max()?;
        let strings = last + stack[last..].iter().position(|byte| *byte == 0)? + 1;
        Some(stack.split_off(strings))
    }
}
