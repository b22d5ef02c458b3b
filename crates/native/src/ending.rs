//! When reading must end.

use std::cell::{Cell, RefCell};

use target::TargetError;

/// Between two looks whether reading must end: some milliseconds.
const READS_BETWEEN_LOOKS: u32 = 64;

/// Says why reading must end now, if it must: the user has interrupted it, or its time is over.
pub type Ending = Box<dyn Fn() -> Option<TargetError>>;

/// Asks before the first read, and then now and again until it is told to end.
pub(crate) struct Looks {
    ending: RefCell<Ending>,
    reads: Cell<u32>,
    ended: RefCell<Option<TargetError>>,
}

impl Looks {
    pub(crate) fn new(ending: Ending) -> Self {
        Self { ending: RefCell::new(ending), reads: Cell::new(0), ended: RefCell::default() }
    }

    /// Another reading begins, which ends when this says so.
    pub(crate) fn begin(&self, ending: Ending) {
        *self.ending.borrow_mut() = ending;
        self.again();
    }

    /// Another reading begins, which ends as the one before.
    pub(crate) fn again(&self) {
        self.reads.set(0);
        *self.ended.borrow_mut() = None;
    }

    /// Before each read.
    pub(crate) fn may_go_on(&self) -> Result<(), TargetError> {
        let reads = self.reads.replace(self.reads.get().wrapping_add(1));
        if reads.is_multiple_of(READS_BETWEEN_LOOKS) && self.ended.borrow().is_none() {
            *self.ended.borrow_mut() = (self.ending.borrow())();
        }
        self.ended.borrow().clone().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over() -> Ending {
        Box::new(|| Some(TargetError::Debugger("its time is over".to_owned())))
    }

    #[test]
    fn what_has_ended_reads_nothing_more_until_it_begins_anew() {
        let looks = Looks::new(over());
        assert!((0..3 * READS_BETWEEN_LOOKS).all(|_| looks.may_go_on().is_err()));
        looks.begin(Box::new(|| None));
        assert!((0..5).all(|_| looks.may_go_on().is_ok()));
        // The first read of the next one asks, however many there were before.
        looks.begin(over());
        assert!(looks.may_go_on().is_err());
    }
}
