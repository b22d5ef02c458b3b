//! What is asked of a process: its code and its memory.

use std::sync::Arc;

use crate::module::Module;

/// The code that a process has.
pub trait Code {
    /// The tables of what is loaded at an address, and what is added to the file's addresses to get those of the process.
    fn module(&self, address: u64) -> Option<(Arc<Module>, u64)>;

    /// Whether the process can execute what lies at an address.
    fn is_code(&self, address: u64) -> bool;
}

/// The memory of a process.
pub trait Memory {
    /// Fills `into` with what lies at an address; `false` where not all of it can be read.
    fn read(&self, address: u64, into: &mut [u8]) -> bool;
}

/// Both, as the walk asks for them.
#[derive(Clone, Copy)]
pub(crate) struct Process<'a> {
    pub code: &'a dyn Code,
    pub memory: &'a dyn Memory,
}

impl Process<'_> {
    /// The bytes at an address.
    pub fn bytes<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        address.checked_add(N as u64)?;
        let mut bytes = [0; N];
        self.memory.read(address, &mut bytes).then_some(bytes)
    }

    /// The eight bytes at an address, as a number.
    pub fn word(&self, address: u64) -> Option<u64> {
        self.bytes(address).map(u64::from_le_bytes)
    }

    /// Whether code of the process may stand there.
    pub fn may_stand(&self, address: u64) -> bool {
        self.code.is_code(address) || self.code.module(address).is_some()
    }
}
