//! Why is my MPI job stuck?
//!
//! The crate's map, in the direction of the data; see ARCHITECTURE.md. `target` reads memory; `layouts` knows
//! where fields are; `recording` keeps a process for later; `readers` (built in), `mqs` and `handles` (a vendor's plug-ins) turn memory into the `model`; `session`
//! chooses between them; `acquisition` finds the processes of a job in its launcher; `frames` knows what files say about the frames of stacks; `python` shows it all to the debuggers.

pub mod acquisition;
pub mod address;
pub mod analysis;
pub mod ffi;
pub mod frames;
pub mod handles;
pub mod layouts;
pub mod model;
pub mod mqs;
#[cfg(feature = "python")]
mod python;
pub mod readers;
pub mod recording;
pub mod session;
pub mod target;
