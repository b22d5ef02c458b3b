//! Registers of a thread as the kernel writes them, by the numbers that DWARF has for them.

/// The machines whose threads are read without a debugger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// AArch64.
    Aarch64,
}

/// `struct user_regs_struct` of x86-64 (arch/x86/include/asm/user_64.h) in the numbers of the System V ABI's AMD64
/// supplement, figure 3.36: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi, orig_rax (no number), rip (the
/// return address's), cs eflags rsp ss fs_base gs_base ds es fs gs.
const X86_64: [Option<u16>; 27] = {
    const fn is(number: u16) -> Option<u16> {
        Some(number)
    }
    [
        is(15),
        is(14),
        is(13),
        is(12),
        is(6),
        is(3),
        is(11),
        is(10),
        is(9),
        is(8),
        is(0),
        is(2),
        is(1),
        is(4),
        is(5),
        None,
        is(16),
        is(51),
        is(49),
        is(7),
        is(52),
        is(58),
        is(59),
        is(53),
        is(50),
        is(54),
        is(55),
    ]
};
/// Where `orig_rax` is among them: the number of the system call.
const ORIG_RAX: usize = 15;
const SYSTEM_CALL: &str = "orig_rax";

/// What debuggers call those of x86-64 that tell where a thread stands and what its callers have, with DWARF's numbers.
const X86_64_NAMES: [(&str, u16); 19] = [
    ("rax", 0),
    ("rdx", 1),
    ("rcx", 2),
    ("rbx", 3),
    ("rsi", 4),
    ("rdi", 5),
    ("rbp", 6),
    ("rsp", 7),
    ("r8", 8),
    ("r9", 9),
    ("r10", 10),
    ("r11", 11),
    ("r12", 12),
    ("r13", 13),
    ("r14", 14),
    ("r15", 15),
    ("rip", 16),
    ("fs_base", 58),
    ("gs_base", 59),
];

/// AArch64's `struct user_pt_regs` is x0 to x30, sp, pc, pstate; DWARF's numbers are in that order, pstate has none
/// (DWARF for the Arm 64-bit Architecture, "DWARF register names").
const AARCH64: usize = 33;

/// The most words that a machine has of them.
pub const MOST_WORDS: usize = 34;

impl Machine {
    /// The machine that this program runs on; `None` for others.
    pub const fn ours() -> Option<Self> {
        if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
            Some(Self::X86_64)
        } else if cfg!(target_arch = "aarch64") {
            Some(Self::Aarch64)
        } else {
            None
        }
    }

    /// By `e_machine`.
    pub fn of_elf(number: u16) -> Option<Self> {
        match number {
            62 => Some(Self::X86_64),
            183 => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// How many words the kernel has for its general registers.
    pub const fn words(self) -> usize {
        match self {
            Self::X86_64 => X86_64.len(),
            Self::Aarch64 => AARCH64 + 1,
        }
    }

    /// What a debugger is asked for of each thread, by its names.
    pub fn register_names(self) -> Vec<String> {
        match self {
            Self::X86_64 => {
                X86_64_NAMES.iter().map(|(name, _)| *name).chain([SYSTEM_CALL]).map(str::to_owned).collect()
            }
            Self::Aarch64 => (0..31).map(|number| format!("x{number}")).chain(["sp".into(), "pc".into()]).collect(),
        }
    }

    /// DWARF's number of the register that a debugger calls so.
    fn number(self, name: &str) -> Option<u16> {
        match self {
            Self::X86_64 => X86_64_NAMES.iter().find(|(known, _)| *known == name).map(|(_, number)| *number),
            Self::Aarch64 => match name {
                "sp" => Some(31),
                "pc" => Some(32),
                _ => name.strip_prefix('x')?.parse().ok().filter(|number| *number < 31),
            },
        }
    }

    /// By the name that uname has for it.
    pub fn named(name: &str) -> Option<Self> {
        [Self::X86_64, Self::Aarch64].into_iter().find(|machine| machine.name() == name)
    }

    /// As uname calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// DWARF's number of the stack pointer.
    pub const fn stack_pointer(self) -> u16 {
        match self {
            Self::X86_64 => 7,
            Self::Aarch64 => 31,
        }
    }

    /// Where the signals that were blocked before (`uc_sigmask`) lie above the stack pointer of the kernel's call of a handler, in
    /// bytes: behind `uc_mcontext` on x86-64 (arch/x86/include/asm/sigframe.h), behind `siginfo_t` and before it on AArch64
    /// (arch/arm64/include/uapi/asm/ucontext.h).
    pub const fn blocked_before(self) -> u64 {
        match self {
            Self::X86_64 => 40 + 256,
            Self::Aarch64 => 128 + 40,
        }
    }

    /// DWARF's number of the program counter.
    pub const fn program_counter(self) -> u16 {
        match self {
            Self::X86_64 => 16,
            Self::Aarch64 => 32,
        }
    }
}

/// The registers of a thread where it stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registers {
    machine: Machine,
    /// DWARF's numbers and the values, in the order of the numbers.
    values: Vec<(u16, u64)>,
    system_call: Option<u64>,
}

impl Registers {
    /// Those in the order of the kernel's `struct user_regs_struct` (x86-64) or `struct user_pt_regs` (AArch64); `None` where there
    /// are too few for the stack pointer.
    pub fn of_words(machine: Machine, words: &[u64]) -> Option<Self> {
        let number = |index: usize| match machine {
            Machine::X86_64 => X86_64.get(index).copied().flatten(),
            Machine::Aarch64 => (index < AARCH64).then_some(index as u16),
        };
        let mut values: Vec<(u16, u64)> =
            words.iter().enumerate().filter_map(|(index, word)| Some((number(index)?, *word))).collect();
        values.sort_unstable();
        let system_call = if machine == Machine::X86_64 { words.get(ORIG_RAX).copied() } else { None };
        let found = Self { machine, values, system_call };
        found.get(machine.stack_pointer()).is_some().then_some(found)
    }

    /// Those that a debugger names, as gdb and lldb do: by their names in the machine's manual, `rip`, `fs_base`, `orig_rax`, `pc`.
    /// `None` without the stack pointer. Other names are left out.
    pub fn of_names<'n>(machine: Machine, named: impl IntoIterator<Item = (&'n str, u64)>) -> Option<Self> {
        let mut found = Self { machine, values: Vec::new(), system_call: None };
        for (name, value) in named {
            match machine.number(name) {
                Some(number) => found.values.push((number, value)),
                None if name == SYSTEM_CALL => found.system_call = Some(value),
                None => {}
            }
        }
        found.values.sort_unstable();
        found.get(machine.stack_pointer()).is_some().then_some(found)
    }

    /// These two alone: what is known of a thread that was not stopped.
    pub fn of_place(machine: Machine, stack_pointer: u64, program_counter: u64) -> Self {
        let mut values = vec![(machine.stack_pointer(), stack_pointer), (machine.program_counter(), program_counter)];
        values.sort_unstable();
        Self { machine, values, system_call: None }
    }

    /// With one more, of that number in DWARF.
    #[must_use]
    pub fn with(mut self, number: u16, value: u64) -> Self {
        self.values.retain(|(known, _)| *known != number);
        self.values.push((number, value));
        self.values.sort_unstable();
        self
    }

    /// The machine whose they are.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// The value of the register to which DWARF gives this number on this machine.
    pub fn get(&self, number: u16) -> Option<u64> {
        let index = self.values.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(self.values[index].1)
    }

    /// All of them by DWARF's numbers.
    pub fn all(&self) -> &[(u16, u64)] {
        &self.values
    }

    /// The stack pointer.
    pub fn stack_pointer(&self) -> u64 {
        self.get(self.machine.stack_pointer()).unwrap_or_default()
    }

    /// The address of the next instruction; `None` where the note ends before it.
    pub fn program_counter(&self) -> Option<u64> {
        self.get(self.machine.program_counter())
    }

    /// What tells of the thread's system call, by the kernel's names of registers; on x86-64 only.
    pub fn of_system_call(&self) -> Option<[(&'static str, u64); 5]> {
        let named = |name, number| Some((name, self.get(number)?));
        Some([("orig_rax", self.system_call?), named("rax", 0)?, named("rdi", 5)?, named("rsi", 4)?, named("r10", 10)?])
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_debuggers_names_mean_what_the_kernels_words_mean() {
        for machine in [Machine::X86_64, Machine::Aarch64] {
            let words: Vec<u64> = (0..machine.words() as u64).map(|word| 1000 + word).collect();
            let known = Registers::of_words(machine, &words).unwrap();
            let names = machine.register_names();
            let value = |name: &str| match machine.number(name) {
                Some(number) => known.get(number),
                None => known.system_call,
            };
            let named = names.iter().map(|name| (name.as_str(), value(name).unwrap()));
            let found = Registers::of_names(machine, named.chain([("eflags", 1)])).unwrap();
            assert_eq!(found.stack_pointer(), known.stack_pointer());
            assert_eq!(found.program_counter(), known.program_counter());
            assert_eq!(found.of_system_call(), known.of_system_call());
            assert!(found.all().iter().all(|(number, value)| known.get(*number) == Some(*value)));
            assert_eq!(Registers::of_names(machine, [("rip", 1), ("pc", 1)]), None);
        }
    }
}
