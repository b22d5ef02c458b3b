//! A stack: its frames, how each was found, and why there are no more.

use std::fmt;

use crate::registers::Registers;

/// How a frame was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Found {
    /// It is the one in which the thread stands.
    Innermost,
    /// By the tables of the code that it called.
    CallFrameInformation,
    /// A signal interrupted it: by what the kernel wrote before it called the handler.
    SignalFrame,
    /// A guess: by the frame pointer, of code that has no tables.
    FramePointer,
    /// A guess: by the word on top of the stack, or the link register, as where code without tables has just been called.
    ReturnAddress,
}

impl Found {
    /// Whether nothing but likelihood speaks for it.
    pub const fn is_guess(self) -> bool {
        matches!(self, Self::FramePointer | Self::ReturnAddress)
    }
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What is known of the registers while the frame's call lasts: those that functions keep, and those that a signal's
    /// frame holds. What a guess says nothing of is not known.
    pub registers: Registers,
    /// The canonical frame address: the stack pointer before the frame's function was called. `None` where that is not known.
    pub cfa: Option<u64>,
    /// How it was found.
    pub found: Found,
    /// Whether it stands before its next instruction, rather than waits for a call to return.
    pub interrupted: bool,
    /// Whether it is the kernel's call of a signal's handler; what was interrupted comes next.
    pub signal_trampoline: bool,
}

impl Frame {
    /// The address of its next instruction; 0 where that is not known.
    pub fn pc(&self) -> u64 {
        self.registers.pc().unwrap_or_default()
    }

    /// An address in the instruction at which the frame stands: a call may be the last instruction of its function, so that
    /// it returns to what is another one's.
    pub fn lookup(&self) -> u64 {
        if self.interrupted { self.pc() } else { self.pc().wrapping_sub(1) }
    }
}

/// Why a stack has no more frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The last frame was called by nobody: so says its code, or its return address is 0.
    Outermost,
    /// Memory cannot be read.
    NoMemory {
        /// The address of it.
        address: u64,
    },
    /// Code has no tables, and nothing tells who called it.
    NoTables {
        /// Where it stands.
        pc: u64,
    },
    /// A return address points to no code.
    NotCode {
        /// That address.
        pc: u64,
    },
    /// The tables need a register whose value is not known.
    Unknown {
        /// Where the code stands.
        pc: u64,
        /// Its name; `None` for one that is not a general register.
        register: Option<&'static str>,
    },
    /// The tables of code cannot be used.
    Damaged {
        /// Where it stands.
        pc: u64,
    },
    /// The next frame is one that was there already, or lies below those that it called.
    Loop {
        /// Where the last frame stands.
        pc: u64,
    },
    /// There are as many frames as were asked for.
    Limit,
}

impl fmt::Display for End {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outermost => to.write_str("the last frame has no caller"),
            Self::NoMemory { address } => write!(to, "the memory at {address:#x} cannot be read"),
            Self::NoTables { pc } => write!(to, "the code at {pc:#x} has no unwinding tables"),
            Self::NotCode { pc } => write!(to, "the return address {pc:#x} is not in code"),
            Self::Unknown { pc, register } => {
                let register = register.unwrap_or("a special register");
                write!(to, "the frame at {pc:#x} is found by {register}, whose value is not known")
            }
            Self::Damaged { pc } => write!(to, "the unwinding tables for {pc:#x} cannot be used"),
            Self::Loop { pc } => write!(to, "the frame at {pc:#x} is not above those that it called"),
            Self::Limit => to.write_str("more frames were not asked for"),
        }
    }
}

/// The frames of a thread, the innermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// The frames.
    pub frames: Vec<Frame>,
    /// Why there are no more.
    pub end: End,
}

impl Stack {
    /// The index of the first frame that was guessed. Those behind it are no surer, whatever found them.
    pub fn first_guess(&self) -> Option<usize> {
        self.frames.iter().position(|frame| frame.found.is_guess())
    }
}
