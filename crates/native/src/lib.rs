//! Live processes of this machine without a debugger: all threads of several processes stopped in one pass, their registers and
//! memory read, and let go as they were found.
//!
//! ptrace(2): `PTRACE_SEIZE` and `PTRACE_INTERRUPT` send no signal, so that nothing of ours stays behind, whatever happens to
//! us: the kernel lets a process go on whose tracer has ended.

mod memory;
mod ptrace;
mod stopped;
mod threads;

pub use memory::{Memory, Piece};
pub use stopped::{Standing, StopError, Stopped, Thread};
pub use target::registers::Registers;
pub use threads::{Status, status};
