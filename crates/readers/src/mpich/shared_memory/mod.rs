//! Messages that lie in memory which the processes of a node share, and that this one has not taken out yet: ch4's own
//! cells, ch3's nemesis.

pub mod ch4;
pub mod nemesis;

use super::communicators::Communicators;
use super::transport::Decoded;
use crate::ReaderError;
use layouts::Layouts;
use model::{Operation, OperationStatus, QueueKind};
use target::{Range, Target};

/// What was found.
#[derive(Debug, Default)]
pub struct InTransit {
    /// The messages, those of each sender as they were sent.
    pub messages: Vec<Decoded>,
    /// Contexts of those whose communicator does not exist here.
    pub unplaced: Vec<u64>,
    /// What could not be read.
    pub problem: Option<String>,
}

/// Reads what is queued for a process, at most `limit` messages. Where it has none, or structures that are not known, nothing is
/// found.
///
/// # Errors
/// Where the process is gone.
pub fn read(
    target: &dyn Target,
    layouts: &Layouts,
    ranges: &[Range],
    communicators: &Communicators,
    limit: usize,
) -> Result<InTransit, ReaderError> {
    let mut found = Finder { communicators, limit, found: InTransit::default() };
    ch4::read(target, layouts, ranges, &mut found)?;
    nemesis::read(target, layouts, ranges, &mut found)?;
    Ok(found.found)
}

/// Gathers what is found.
pub(super) struct Finder<'a> {
    communicators: &'a Communicators,
    limit: usize,
    found: InTransit,
}

impl Finder<'_> {
    /// What every such message is.
    fn letter(evidence: &'static str) -> Operation {
        Operation {
            status: OperationStatus::InTransit,
            system_buffer: true,
            evidence: Some(evidence.into()),
            ..Operation::default()
        }
    }

    /// A message that was sent in a context.
    fn place(&mut self, context: u64, operation: Operation) -> Result<(), ReaderError> {
        if self.found.messages.len() + self.found.unplaced.len() >= self.limit {
            return Err(ReaderError::Damaged("there are more messages than a process can have".to_owned()));
        }
        match self.communicators.receiving(context) {
            Some((comm, internal)) => {
                let operation = Operation { internal, ..operation };
                let queue = QueueKind::UnexpectedMessages;
                self.found.messages.push(Decoded { comm, queue, order: u64::MAX, operation });
            }
            None => self.found.unplaced.push(context),
        }
        Ok(())
    }

    /// Something could not be read; the first is told.
    fn problem(&mut self, error: &ReaderError) {
        // What a process has is readable: core files lack it, and what was recorded of them.
        if !matches!(error, ReaderError::Target(_)) {
            self.found.problem.get_or_insert_with(|| error.to_string());
        }
    }
}
