//! What is asked of a process that stands still, or that a core file shows.

use std::path::PathBuf;
use std::rc::Rc;

use model::Facts;
use target::files::Reader;
use target::registers::Registers;
use target::{Mapping, Target};

use crate::images::Image;

/// A thread where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The kernel's number of it.
    pub id: u32,
    /// Its registers.
    pub registers: Registers,
    /// The signals that it has blocked, a bit each from 1 on; `None` where they are not known.
    pub blocked: Option<u64>,
    /// A debugger's number of it; `None` without a debugger, where the stacks number threads in their order.
    pub number: Option<i64>,
}

/// Each thread with the number that the stacks give it.
pub(crate) fn numbered(threads: &[Thread]) -> impl Iterator<Item = (i64, &Thread)> {
    (1..).zip(threads).map(|(place, thread)| (thread.number.unwrap_or(place), thread))
}

/// The number that the stacks give the thread which the kernel calls so.
pub(crate) fn number_of(threads: &[Thread], id: u32) -> Option<i64> {
    numbered(threads).find(|(_, thread)| thread.id == id).map(|(number, _)| number)
}

/// A process whose stacks can be read.
pub trait Process: Target {
    /// Its threads: the one that it began with first, where that is known.
    fn threads(&self) -> Rc<[Thread]>;

    /// The kernel's number of the thread that it began with, where it is known.
    fn main_thread(&self) -> Option<u32>;

    /// What it has mapped, by address.
    fn mappings(&self) -> Rc<[Mapping]>;

    /// Where the file of an image may be, the likeliest first. It is compared with memory before it is used.
    fn places(&self, image: &Image) -> Vec<PathBuf>;

    /// Where the program headers of the executable lie in memory (AT_PHDR).
    fn program_headers(&self) -> Option<u64>;

    /// For whom files are read that the process names; `None`: for whoever runs this.
    fn reader(&self) -> Option<Reader>;

    /// Its number, where it is a live process of this machine.
    fn here(&self) -> Option<u32>;

    /// What is known of it besides its memory and its stacks; `variables` are those of the environment.
    fn facts(&self, variables: &[&str]) -> Facts;

    /// A debugger that holds it may have let it run since.
    fn forget(&self) {}

    /// Whether the stack of every thread can be read.
    fn has_stacks(&self) -> bool {
        true
    }
}
