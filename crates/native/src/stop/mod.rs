//! Live processes: stopped, read, and let go as they were found.

mod held;
mod memory;
mod ptrace;
mod stopped;
mod threads;
mod time;
mod waiting;

pub use held::release_everything;
pub use memory::{Memory, Piece};
pub use stopped::{Purpose, Standing, StopError, Stopped};
pub use threads::{Status, status};
pub(crate) use time::processor_time;
pub use waiting::Waits;
