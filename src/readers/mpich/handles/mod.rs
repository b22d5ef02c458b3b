//! What MPICH's handles mean: one file a kind.

use super::MpichProcess;
use super::shapes::Shapes;
use crate::layouts::Layouts;
use crate::model::{Handle, HandleKind, HandleList, HandleState};
use crate::readers::{Depth, HandleSource, ReaderError};
use crate::target::Target;

/// Reads handles of one stopped process.
pub struct HandleReader<'a> {
    /// The process's memory.
    pub target: &'a dyn Target,
    /// Verified layouts.
    pub layouts: &'a Layouts,
    /// The library and its pools.
    pub process: &'a MpichProcess,
    /// What every object has.
    pub shapes: Shapes,
}

impl<'a> HandleReader<'a> {
    /// A reader over `target` with verified layouts.
    ///
    /// # Errors
    /// Where the layouts lack what every object has.
    pub fn new(target: &'a dyn Target, layouts: &'a Layouts, process: &'a MpichProcess) -> Result<Self, ReaderError> {
        Ok(Self { target, layouts, process, shapes: Shapes::resolve(layouts)? })
    }

    fn not_read(&self, kind: HandleKind) -> String {
        format!("{} handles of {} are not read", kind.c_type(), self.process.library.implementation)
    }
}

impl HandleSource for HandleReader<'_> {
    fn describe(&self, kind: HandleKind, value: u64, _depth: Depth) -> Handle {
        let detail = Some(self.not_read(kind));
        Handle { kind, handle: Some(format!("{value:#x}")), state: HandleState::Unknown, detail, ..Handle::default() }
    }

    fn describe_fortran(&self, kind: HandleKind, index: i64, depth: Depth) -> Handle {
        // Fortran's integers are the handles themselves.
        Handle { fortran: Some(index), ..self.describe(kind, u64::from(index as u32), depth) }
    }

    fn describe_status(&self, _bytes: &[u8]) -> Handle {
        let detail = Some(self.not_read(HandleKind::Status));
        Handle { kind: HandleKind::Status, state: HandleState::Unknown, detail, ..Handle::default() }
    }

    fn list(&self, kind: HandleKind) -> HandleList {
        HandleList { kind, complete: false, detail: Some(self.not_read(kind)), handles: Vec::new() }
    }
}
