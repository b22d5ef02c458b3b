//! MPICH's objects and queues, read directly, also from stock libraries without any symbol.
//!
//! MPICH keeps all objects that have handles in pools, which are found by scanning the library's writable memory
//! (`scan`, `pools`). What is in the objects is known from layouts, which must agree with what was found (`verify`).

pub mod active_messages;
mod active_sends;
mod address_table;
pub mod capabilities;
pub mod ch3;
pub mod communicators;
pub mod datatypes;
pub mod debug_lists;
pub mod decoder;
mod fill;
pub mod groups;
pub mod handle_value;
pub mod handles;
pub mod library;
pub mod lists;
pub mod located;
pub mod netmod;
pub mod ofi;
mod own_messages;
pub mod persistent;
pub mod pool_layout;
pub mod pools;
pub mod queues;
pub mod requests;
mod rows;
pub mod scan;
pub mod shapes;
mod shared_memory;
pub mod tags;
pub mod transport;
pub mod ucx;
mod variables;
pub mod verify;
pub mod wanted;
mod worlds;

use self::library::Library;
use self::pools::Pools;
use crate::ReaderError;
use crate::queues::refuse;
use layouts::Layouts;
use model::{QueueReport, QueueSource};
use target::Target;

/// What is known of an MPICH process before its objects are read.
#[derive(Debug, Clone)]
pub struct MpichProcess {
    /// What the library says of itself.
    pub library: Library,
    /// Where its objects lie.
    pub pools: Pools,
    /// Whether C handles are pointers (the MPI-5 ABI, `libmpi_abi.so`), not integers.
    pub abi: bool,
}

/// What is said where members of groups are in no world that is known.
const NAMELESS: &str = "some communicators have members whose world this MPICH does not give (usually that of a \
    spawned or connected process), so their global ranks are not known";

/// The built-in reader for one stopped process.
pub struct MpichReader<'a> {
    target: &'a dyn Target,
    layouts: &'a Layouts,
    process: &'a MpichProcess,
    /// Whether queues are read, or communicators only.
    pub with_queues: bool,
}

impl<'a> MpichReader<'a> {
    /// A reader over `target` with verified layouts.
    pub fn new(target: &'a dyn Target, layouts: &'a Layouts, process: &'a MpichProcess) -> Self {
        Self { target, layouts, process, with_queues: true }
    }
}

impl QueueSource for MpichReader<'_> {
    type Error = ReaderError;

    fn read_queues(&mut self) -> Result<QueueReport, ReaderError> {
        let shapes = shapes::Shapes::resolve(self.layouts)?;
        let MpichProcess { pools, abi, .. } = self.process;
        let mut all = communicators::read_all(self.target, self.layouts, &shapes, pools, *abi)?;
        let mut notes = Vec::new();
        if self.with_queues {
            queues::read_all(self.target, self.layouts, &shapes, self.process, &mut all, &mut notes)?;
        } else {
            all.found.iter_mut().for_each(|found| refuse(&mut found.facts, "the queues were not asked for"));
        }
        if all.found.iter().any(|found| !found.internal && found.has_nameless_members()) {
            notes.push(NAMELESS.to_owned());
        }
        let (world, parent_world) = (all.world.take(), all.parent_world());
        let shown = all.found.into_iter().filter(|found| !found.internal);
        let communicators = shown.map(|found| found.facts).collect();
        Ok(QueueReport { world, parent_world, communicators, notes, problems: all.problems })
    }
}
