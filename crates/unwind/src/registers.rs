//! The registers of one frame.

use crate::machine::Machine;

/// The most registers that a machine has.
const MOST: usize = 33;

/// What is known of a frame's registers, by DWARF's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registers {
    machine: Machine,
    values: [Option<u64>; MOST],
}

impl Registers {
    /// With nothing known.
    pub const fn new(machine: Machine) -> Self {
        Self { machine, values: [None; MOST] }
    }

    /// Whose they are.
    pub const fn machine(&self) -> Machine {
        self.machine
    }

    /// The value of a register; `None` where it is not known, and for numbers that no register here has.
    pub fn get(&self, number: u16) -> Option<u64> {
        self.values.get(usize::from(number)).copied().flatten()
    }

    /// Makes a value known. Numbers that no register here has are passed over.
    pub fn set(&mut self, number: u16, value: u64) {
        let count = self.machine.names().len();
        if let Some(place) = self.values.iter_mut().take(count).nth(usize::from(number)) {
            *place = Some(value);
        }
    }

    /// Makes a register unknown.
    pub fn remove(&mut self, number: u16) {
        if let Some(place) = self.values.get_mut(usize::from(number)) {
            *place = None;
        }
    }

    /// Those that are known, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> {
        (0..).zip(&self.values).filter_map(|(number, value)| Some((number, (*value)?)))
    }

    /// The address of the next instruction.
    pub fn pc(&self) -> Option<u64> {
        self.get(self.machine.program_counter())
    }

    /// The stack pointer.
    pub fn sp(&self) -> Option<u64> {
        self.get(self.machine.stack_pointer())
    }

    /// The frame pointer.
    pub(crate) fn fp(&self) -> Option<u64> {
        self.get(self.machine.frame_pointer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_known_until_it_is_removed() {
        let mut registers = Registers::new(Machine::X86_64);
        registers.set(16, 1);
        registers.set(7, 2);
        registers.set(17, 3);
        registers.set(u16::MAX, 3);
        assert_eq!((registers.pc(), registers.sp(), registers.fp()), (Some(1), Some(2), None));
        assert_eq!(registers.iter().collect::<Vec<_>>(), [(7, 2), (16, 1)]);
        registers.remove(7);
        registers.remove(u16::MAX);
        assert_eq!(registers.iter().count(), 1);
        assert_eq!(registers.machine(), Machine::X86_64);
    }
}
