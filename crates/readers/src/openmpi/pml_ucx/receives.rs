//! Receives by communicators, in the order of their numbers.

use super::decoder::{Decoded, matched_with};
use crate::openmpi::communicators::Communicators;
use crate::openmpi::queues::fill_in_world_ranks;
use model::{Operation, OperationStatus};

/// What a receive is matched by, and its length.
type Sender = Option<(u64, u64)>;

/// Where a receive stands: its communicator, and which of that one's it is.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    comm: usize,
    index: usize,
    sender: Sender,
}

/// The receives of each communicator. There may be a hundred thousand, and they are large: each is moved once.
pub struct Receives(Vec<Row>);

#[derive(Debug, Default, Clone)]
struct Row {
    operations: Vec<Operation>,
    /// UCX's numbers of them.
    orders: Vec<u64>,
}

impl Receives {
    /// None yet.
    pub fn new(communicators: &Communicators) -> Self {
        Self(vec![Row::default(); communicators.found.len()])
    }

    /// Adds one, with world ranks. `None` where its communicator is not there.
    pub fn push(&mut self, decoded: Decoded, communicators: &Communicators) -> Option<Standing> {
        let Decoded { comm, order, sender, mut operation, .. } = decoded;
        let (row, found) = (self.0.get_mut(comm)?, communicators.found.get(comm)?);
        let index = row.operations.len();
        fill_in_world_ranks(&mut operation, found);
        row.operations.push(*operation);
        row.orders.push(order);
        Some(Standing { comm, index, sender })
    }

    /// One that waits in no list has its message.
    pub fn matched(&mut self, standing: Standing, communicators: &Communicators) {
        let Standing { comm, index, sender } = standing;
        let operation = self.0.get_mut(comm).and_then(|row| row.operations.get_mut(index));
        if let (Some(operation), Some(found)) = (operation, communicators.found.get(comm)) {
            matched(operation, sender);
            fill_in_world_ranks(operation, found);
        }
    }

    /// Puts them into the queues. Those that nothing was posted for come last.
    pub fn into_queues(self, communicators: &mut Communicators) {
        for (row, found) in self.0.into_iter().zip(&mut communicators.found) {
            let operations = row.sorted();
            let queue = &mut found.facts.pending_receives.operations;
            if queue.is_empty() {
                *queue = operations;
            } else {
                queue.extend(operations);
            }
        }
    }
}

impl Row {
    fn sorted(mut self) -> Vec<Operation> {
        // The pool mostly gives them from the newest to the oldest.
        if self.orders.is_sorted_by(|one, next| one > next) {
            self.operations.reverse();
            return self.operations;
        }
        if self.orders.is_sorted() {
            return self.operations;
        }
        let mut places: Vec<usize> = (0..self.orders.len()).collect();
        places.sort_by_key(|place| self.orders.get(*place));
        let take = |place| self.operations.get_mut(place).map(std::mem::take);
        places.into_iter().filter_map(take).collect()
    }
}

/// Says of a receive that waits in no list that it has its message.
pub fn matched(operation: &mut Operation, sender: Sender) {
    if operation.status == OperationStatus::Pending {
        operation.status = OperationStatus::Matched;
        if let Some((word, length)) = sender {
            matched_with(word, length, operation);
        }
    }
}
