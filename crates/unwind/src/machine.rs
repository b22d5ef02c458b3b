//! The machines whose stacks are walked, and their registers by DWARF's numbers.

/// A kind of processor, as a 64-bit little-endian Linux uses it.
///
/// The numbers of registers are those of the System V ABI's AMD64 supplement, figure 3.36, and of "DWARF for the Arm 64-bit
/// Architecture". The latter has no number for the program counter: here it is 32, as in that document's newer releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Machine {
    /// AMD64.
    X86_64,
    /// The 64-bit Arm.
    Aarch64,
}

const X86_64_NAMES: [&str; 17] = [
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
];

const AARCH64_NAMES: [&str; 33] = [
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
    "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp", "pc",
];

/// Addresses of a process have no more bits than these on AArch64; those above hold what signs a pointer.
const AARCH64_ADDRESS: u64 = (1 << 48) - 1;

impl Machine {
    /// The register of the stack.
    pub const fn stack_pointer(self) -> u16 {
        match self {
            Self::X86_64 => 7,
            Self::Aarch64 => 31,
        }
    }

    /// The number under which the address of the next instruction is kept.
    pub const fn program_counter(self) -> u16 {
        match self {
            Self::X86_64 => 16,
            Self::Aarch64 => 32,
        }
    }

    /// The register of the frame, in code that has one.
    pub const fn frame_pointer(self) -> u16 {
        match self {
            Self::X86_64 => 6,
            Self::Aarch64 => 29,
        }
    }

    /// The register to which a call writes where it returns to; `None` where that is on the stack.
    pub const fn link(self) -> Option<u16> {
        match self {
            Self::X86_64 => None,
            Self::Aarch64 => Some(30),
        }
    }

    /// The registers that a function leaves as they were, with that of the stack.
    pub const fn kept(self) -> &'static [u16] {
        match self {
            Self::X86_64 => &[3, 6, 7, 12, 13, 14, 15],
            Self::Aarch64 => &[19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31],
        }
    }

    /// gdb's names of the registers, in the order of their numbers.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => &X86_64_NAMES,
            Self::Aarch64 => &AARCH64_NAMES,
        }
    }

    /// gdb's name of a register.
    pub fn name(self, number: u16) -> Option<&'static str> {
        self.names().get(usize::from(number)).copied()
    }

    /// The number of the register with this name.
    pub fn number(self, name: &str) -> Option<u16> {
        self.names().iter().position(|known| *known == name).and_then(|at| u16::try_from(at).ok())
    }

    /// A return address without its signature (`paciasp`).
    pub(crate) const fn without_signature(self, address: u64) -> u64 {
        match self {
            Self::X86_64 => address,
            Self::Aarch64 => address & AARCH64_ADDRESS,
        }
    }

    /// How many bytes a stack's words are aligned to.
    pub(crate) const fn alignment(self) -> u64 {
        8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_the_names_of_gdb() {
        let names = |machine: Machine| machine.kept().iter().filter_map(|n| machine.name(*n)).collect::<Vec<_>>();
        assert_eq!(names(Machine::X86_64), ["rbx", "rbp", "rsp", "r12", "r13", "r14", "r15"]);
        assert_eq!(names(Machine::Aarch64).first(), Some(&"x19"));
        assert_eq!(names(Machine::Aarch64).last(), Some(&"sp"));
        for machine in [Machine::X86_64, Machine::Aarch64] {
            assert_eq!(machine.number("x30").or(machine.number("rip")), machine.link().or(Some(16)));
            assert_eq!(machine.number("eax"), None);
            assert_eq!(machine.name(33), None);
        }
    }
}
