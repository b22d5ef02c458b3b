//! A vendor's plug-in in a process of its own: what the hosts of all interfaces share.
//!
//! A plug-in is foreign code that follows pointers in a program which is, more often than not, damaged. It therefore runs
//! in a helper process (`helper`, `isolation`, `loaded`) in which it finds the callbacks of the mqs interface (`callbacks`,
//! `abi`). These ask the host for memory, symbols and types (`wire`, `message`, `child`, `conversation`, `answers`, `server`);
//! `run` is all of that together. `trust` and `candidate` say which file may be loaded at all, `ended` how it went wrong.
#![allow(unsafe_code)]
// The interface's 32-bit words and the kernel's sizes are cut and widened on purpose; the places say why.
#![allow(clippy::unnecessary_cast)]

pub mod answers;
pub mod callbacks;
pub mod candidate;
pub mod child;
pub(crate) mod conversation;
pub(crate) mod ended;
pub mod error;
pub mod foreign;
pub mod functions;
pub(crate) mod helper;
pub(crate) mod isolation;
pub mod library;
pub mod loaded;
pub mod message;
pub mod run;
pub mod server;
pub mod shared;
pub mod trust;
pub mod wire;

pub use mqs_interface as abi;
