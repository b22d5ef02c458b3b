//! Processes without a debugger: live ones of this machine, which are stopped meanwhile, and those of core files. Their memory,
//! their threads' stacks, and what their calls were given.
//!
//! ptrace(2): `PTRACE_SEIZE` and `PTRACE_INTERRUPT` send no signal, so that nothing of ours stays behind, whatever happens to
//! us: the kernel lets a process go on whose tracer has ended.

mod between;
mod connections;
mod core;
mod ending;
mod facts;
mod images;
mod interrupts;
mod kept;
mod live;
mod native;
mod netlink;
mod network;
mod owners;
mod peers;
mod process;
mod recorded;
mod stacks;
mod stop;
mod system;
mod types;
mod watchdog;

pub use crate::core::Core;
pub use between::{Between, RAN, Watched, starved, wants_processor, watch};
pub use ending::Ending;
pub use images::{Image, Images};
pub use interrupts::{KeptHandler, take_back_interrupt};
pub use live::{Held, Live};
pub use native::Native;
pub use peers::waits_in;
pub use process::{Process, Thread};
pub use recorded::{Recorded, Steps};
pub use stacks::{Messages, Stacks, message_places, prefetch_stacks, stacks};
pub use stop::{
    KernelWait, Memory, Piece, Purpose, Standing, Status, StopError, Stopped, Waits, release_everything, status,
};
pub use system::{Environment, host, since_1970};
pub use types::MpiTypes;
pub use watchdog::Watchdog;
