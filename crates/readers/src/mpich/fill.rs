//! Operations into the queues of their communicators, and what is to be said of each queue.

use std::collections::HashMap;

use super::communicators::{Communicators, Found};
use super::debug_lists::DebugLists;
use super::requests::Pass;
use super::rows::Unknown;
use super::tags;
use super::transport::Decoded;
use crate::queues::{fill_in_world_ranks, of_no_communicator, only_the_first};
use model::{Operation, QueueKind, QueueState, Remark};

/// What is to be said of the queues of all communicators.
pub(super) struct States {
    pub(super) sends: Option<(QueueState, String)>,
    receives: Option<(QueueState, String)>,
    pub(super) unexpected: Option<(QueueState, String)>,
    /// Why there may be unexpected messages that only the network knows.
    pub(super) network: Option<String>,
    /// Whether the processes that MPI_Init started together never use the network among themselves.
    pub(super) local: bool,
    /// Requests that belong to one of the queues of one kind, or to that of one communicator.
    unknown: Unknown,
    /// Sends and receives that may be of any communicator.
    dropped: [u64; 2],
}

impl States {
    pub(super) fn of(pass: &Pass, debug: &DebugLists, unordered: u64, unknown: Unknown) -> Self {
        let mut error = pass.problems.first().cloned();
        if pass.stopped {
            error.get_or_insert_with(only_the_first);
        }
        let all = error.map(|problem| (QueueState::Error, problem));
        let lists = (unordered > 0).then(|| {
            let why = format!(
                "{unordered} requests that wait to be matched are on no list of the library's that was found: their order is not known"
            );
            (QueueState::Error, why)
        });
        let unplaced = |count: u64| (count > 0).then(|| (QueueState::Error, of_no_communicator(count)));
        let debugged = debug.problems.first().map(|problem| (QueueState::Error, problem.clone()));
        Self {
            sends: all.clone().or(unplaced(pass.dropped_sends)).or(debugged.clone()),
            receives: all.clone().or(unplaced(pass.dropped_receives)).or(lists.clone()).or(debugged),
            unexpected: all.or(lists),
            network: None,
            local: false,
            unknown,
            dropped: [pass.dropped_sends, pass.dropped_receives],
        }
    }

    /// How many requests may belong to a queue that has not got them, of a communicator by its place.
    fn dropped(&self, queue: QueueKind, comm: usize) -> u64 {
        let unknown = [Some(comm), None].into_iter().filter_map(|comm| self.unknown.get(&(queue, comm)));
        let any = match queue {
            QueueKind::PendingSends => self.dropped[0],
            QueueKind::PendingReceives => self.dropped[1],
            QueueKind::UnexpectedMessages => 0,
        };
        unknown.sum::<u64>() + any
    }

    /// Why a queue may have more operations than were found, of a communicator by its place.
    fn missing(&self, queue: QueueKind, comm: usize) -> Option<String> {
        let count = |comm| self.unknown.get(&(queue, comm)).copied();
        let named = count(Some(comm)).map(|count| {
            format!("{count} requests are the network library's, and MPICH's part does not say what they are")
        });
        named.or_else(|| {
            let count = count(None)?;
            Some(format!("{count} requests are the network library's, which alone knows their communicator"))
        })
    }
}

/// Puts the operations into their queues; what goes on in the library's own communicators belongs to those they are parts of.
pub(super) fn fill(all: &mut Communicators, mut sorted: HashMap<(usize, QueueKind), Vec<Decoded>>, states: &States) {
    let owners: Vec<usize> = (0..all.found.len()).map(|index| all.owner(index)).collect();
    for index in 0..all.found.len() {
        for queue in QueueKind::ALL {
            let mut decoded = sorted.remove(&(index, queue)).unwrap_or_default();
            decoded.sort_by_cached_key(|decoded| decoded.order);
            let owner = owners.get(index).copied().unwrap_or(index);
            let Some(found) = all.found.get(index) else { continue };
            // What the library's own communicators exchange has the numbers of those that they are parts of.
            let next = all.found.get(owner).and_then(|owner| owner.facts.next_sequence);
            let operations: Vec<Operation> =
                decoded.into_iter().map(|decoded| named(decoded.operation, found, owner != index, next)).collect();
            if let Some(owner) = all.found.get_mut(owner) {
                queue.of_mut(&mut owner.facts).operations.extend(operations);
            }
        }
    }
    for (index, found) in all.found.iter_mut().enumerate() {
        for (kind, state) in QueueKind::ALL.into_iter().zip([&states.sends, &states.receives, &states.unexpected]) {
            kind.of_mut(&mut found.facts).dropped = states.dropped(kind, index);
            let missing = || Some((QueueState::NoInformation, states.missing(kind, index)?));
            if let Some((state, detail)) = state.clone().or_else(missing) {
                let queue = kind.of_mut(&mut found.facts);
                (queue.state, queue.detail) = (state, Some(detail));
            }
        }
        let alone = !found.inter && found.facts.size == Some(1);
        let queue = &mut found.facts.unexpected_messages;
        if let (Some(network), QueueState::Ok, false) = (&states.network, queue.state, alone) {
            let members = found.facts.remote_group.as_ref().or(found.facts.group.as_ref());
            // Processes that were connected later are reached by the network even on the same node.
            let together = members.is_some_and(|members| members.iter().all(Option::is_some));
            if !(states.local && together) {
                (queue.state, queue.detail) = (QueueState::NoInformation, Some(network.clone()));
            }
        }
    }
}

/// Fills in world ranks. `part`: the communicator is one that the library made below the one that is shown; `next`: the number
/// of the next non-blocking collective of the one that is shown.
fn named(mut operation: Operation, found: &Found, part: bool, next: Option<i64>) -> Operation {
    fill_in_world_ranks(&mut operation, |rank| found.world_rank(rank));
    if part {
        operation.internal = true;
        operation.extra_text.push(Remark::WithinLibrarysCommunicator);
    }
    if operation.internal {
        let tag = operation.actual_tag.or(operation.desired_tag);
        operation.extra_text.push(tags::describe(tag, next));
    }
    operation
}
