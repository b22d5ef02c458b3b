//! Vendors' plug-ins: C libraries that know one MPI, asked through the interfaces that debuggers and MPIs agreed on.
//!
//! `host` is the helper process in which any of them runs, with the callbacks that all these interfaces share. `mqs` drives
//! those for message queues.

pub mod c_library;
pub mod host;
pub mod mqs;
