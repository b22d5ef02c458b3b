//! When reading must end.

use std::cell::{Cell, RefCell};

use target::TargetError;

/// Between two looks whether reading must end: some milliseconds.
const READS_BETWEEN_LOOKS: u32 = 64;

/// Says why reading must end now, if it must: the user has interrupted it, or its time is over.
pub type Ending = Box<dyn Fn() -> Option<TargetError>>;

/// Asks now and then.
pub(crate) struct Looks {
    ending: RefCell<Ending>,
    reads: Cell<u32>,
}

impl Looks {
    pub(crate) fn new(ending: Ending) -> Self {
        Self { ending: RefCell::new(ending), reads: Cell::new(0) }
    }

    /// Another reading begins, which ends when this says so.
    pub(crate) fn begin(&self, ending: Ending) {
        *self.ending.borrow_mut() = ending;
    }

    /// Before each read.
    pub(crate) fn may_go_on(&self) -> Result<(), TargetError> {
        let reads = self.reads.replace(self.reads.get().wrapping_add(1));
        if !reads.is_multiple_of(READS_BETWEEN_LOOKS) {
            return Ok(());
        }
        (self.ending.borrow())().map_or(Ok(()), Err)
    }
}
