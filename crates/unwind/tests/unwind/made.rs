//! Processes that are made up: their tables, code and memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use unwind::{Code, Machine, Memory, Module, Registers, Sections, Stack};

/// Where made-up modules are loaded: what is added to the addresses of the file.
pub const BIAS: u64 = 0x10_0000;

/// Instructions of tables (DWARF 5, 7.24).
pub const DEF_CFA: u8 = 0x0c;
pub const DEF_CFA_EXPRESSION: u8 = 0x0f;
pub const UNDEFINED: u8 = 0x07;
pub const SAME_VALUE: u8 = 0x08;
pub const REGISTER: u8 = 0x09;
pub const EXPRESSION: u8 = 0x10;
pub const VAL_OFFSET: u8 = 0x14;
pub const VAL_EXPRESSION: u8 = 0x16;
pub const NEGATE_RA_STATE: u8 = 0x2d;

/// Advances by so many instructions.
pub const fn advance(instructions: u8) -> u8 {
    0x40 | instructions
}

/// A register is so many words below the canonical frame address.
pub fn saved(register: u8, words: u8) -> Vec<u8> {
    vec![0x80 | register, words]
}

/// An entry: where its code begins in the file, how long that is, and its instructions.
pub struct Entry<'a>(pub u64, pub u64, pub &'a [u8]);

/// Which section is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    EhFrame,
    DebugFrame,
}

/// A section with one common entry, whose instructions come first.
pub fn table(kind: Kind, return_address: u8, augmentation: &str, common: &[u8], entries: &[Entry<'_>]) -> Vec<u8> {
    let mut section = Vec::new();
    let mut cie = if kind == Kind::EhFrame { vec![0; 4] } else { vec![0xff; 4] };
    cie.push(1);
    cie.extend(augmentation.as_bytes());
    // Factors of 1 and -8; the data of the augmentation: addresses are absolute.
    cie.extend([0, 1, 0x78, return_address]);
    if kind == Kind::EhFrame {
        cie.extend([1, 0]);
    }
    cie.extend(common);
    add(&mut section, &cie);
    for Entry(begin, len, instructions) in entries {
        let back = if kind == Kind::EhFrame { section.len() as u32 + 4 } else { 0 };
        let mut fde = back.to_le_bytes().to_vec();
        fde.extend(begin.to_le_bytes());
        fde.extend(len.to_le_bytes());
        if kind == Kind::EhFrame {
            fde.push(0);
        }
        fde.extend(*instructions);
        add(&mut section, &fde);
    }
    section
}

fn add(section: &mut Vec<u8>, entry: &[u8]) {
    let len = entry.len().next_multiple_of(8) + 4;
    section.extend((len as u32).to_le_bytes());
    section.extend(entry);
    section.resize(section.len() + len - entry.len(), 0);
}

/// A process with some modules.
pub struct Made {
    pub machine: Machine,
    modules: Vec<Arc<Module>>,
    pub memory: BTreeMap<u64, u8>,
    /// Code that has no tables.
    pub code: Vec<std::ops::Range<u64>>,
}

impl Made {
    pub fn new(machine: Machine) -> Self {
        Self { machine, modules: Vec::new(), memory: BTreeMap::new(), code: Vec::new() }
    }

    /// With a table for the addresses 0x1000 to 0x2000 of a file.
    pub fn with(machine: Machine, table: &[u8]) -> Self {
        let mut made = Self::new(machine);
        let eh_frame = Some((0x5000, unwind::section(table)));
        made.add(Sections { eh_frame, ..Sections::default() });
        made
    }

    pub fn add(&mut self, sections: Sections) {
        self.modules.push(Arc::new(Module::new(self.machine, sections)));
    }

    pub fn words(&mut self, address: u64, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.bytes(address, &bytes);
    }

    pub fn bytes(&mut self, address: u64, bytes: &[u8]) {
        self.memory.extend((address..).zip(bytes.iter().copied()));
    }

    /// Frames of a thread with these registers.
    pub fn stack(&self, registers: &[(&str, u64)]) -> Stack {
        let mut known = Registers::new(self.machine);
        for (name, value) in registers {
            known.set(self.machine.number(name).unwrap(), *value);
        }
        unwind::unwind(known, self.machine, self, self, 64)
    }
}

/// The value of a register in a frame.
pub fn value(stack: &Stack, frame: usize, name: &str) -> Option<u64> {
    let registers = &stack.frames[frame].registers;
    registers.get(registers.machine().number(name).unwrap())
}

pub fn pcs(stack: &Stack) -> Vec<u64> {
    stack.frames.iter().map(|frame| frame.pc()).collect()
}

impl Code for Made {
    /// One after the other, each as long as 0x1000 bytes.
    fn module(&self, address: u64) -> Option<(Arc<Module>, u64)> {
        let number = address.checked_sub(BIAS + 0x1000)? / 0x1000;
        let module = self.modules.get(usize::try_from(number).ok()?)?;
        Some((Arc::clone(module), BIAS + 0x1000 * number))
    }

    fn is_code(&self, address: u64) -> bool {
        self.module(address).is_some() || self.code.iter().any(|range| range.contains(&address))
    }
}

impl Memory for Made {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        for (at, byte) in (address..).zip(into) {
            match self.memory.get(&at) {
                Some(known) => *byte = *known,
                None => return false,
            }
        }
        true
    }
}
