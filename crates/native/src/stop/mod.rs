//! Live processes: stopped, read, and let go as they were found.

mod held;
mod kernel_wait;
mod memory;
mod ptrace;
mod stopped;
mod threads;
mod time;
mod waiting;

pub use held::release_everything;
pub use kernel_wait::KernelWait;
pub use memory::{Memory, Piece};
pub(crate) use ptrace::{Event, blocked_signals, go_on, look};
#[cfg(test)]
pub(crate) use ptrace::{detach, interrupt, seize};
pub use stopped::{Purpose, Standing, StopError, Stopped};
pub use threads::{Status, status};
pub(crate) use threads::{of_process, seen_by, system_call};
pub(crate) use time::processor_time;
pub use waiting::Waits;
