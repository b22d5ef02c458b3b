//! Pending sends and receives, and unexpected messages, of all ranks.

use hashbrown::HashSet;

use model::{Communicator, Operation, OperationStatus, QueueKind, Snapshot};
use serde::Serialize;

use crate::strings::{NONE, Strings, TextId};
use crate::tables::internal;

/// So many operations are in the table at most.
const MOST_MESSAGES: usize = 150_000;

/// And of each queue at least so many, while there is room.
const LEAST_OF_QUEUE: usize = 20;

/// Operations, in columns.
#[derive(Debug, Default, Serialize)]
pub struct Messages {
    /// Place of the process in the table of ranks.
    pub process: Vec<usize>,
    /// 0: pending send, 1: pending receive, 2: unexpected message.
    pub queue: Vec<u8>,
    /// The communicators' column.
    pub column: Vec<usize>,
    /// The peer's rank in the communicator; null: any, or not known.
    pub peer: Vec<Option<i64>>,
    /// The peer's rank in MPI_COMM_WORLD.
    pub global: Vec<Option<i64>>,
    /// Whether any source is taken.
    pub any: Vec<u8>,
    /// The tag; null: any, or not known.
    pub tag: Vec<Option<i64>>,
    /// Whether any tag is taken.
    pub wild: Vec<u8>,
    /// Length in bytes.
    pub bytes: Vec<Option<u64>>,
    /// Number of elements.
    pub count: Vec<Option<u64>>,
    /// Datatype.
    pub datatype: Vec<TextId>,
    /// The function that made it.
    pub call: Vec<TextId>,
    /// File and line of the call that started it, where only one comes into question.
    pub line: Vec<TextId>,
    /// How far it is.
    pub status: Vec<TextId>,
    /// Whether the MPI library posted it for itself.
    pub internal: Vec<u8>,
    /// How many more there are.
    pub left_out: usize,
    /// And how many of these the MPI library posted for itself.
    pub internal_left_out: i64,
}

/// Those of all processes; where there is no room for all, those of `first` ranks before others. `column`: that of a communicator's
/// name.
pub(crate) fn messages(
    snapshot: &Snapshot,
    first: &HashSet<i64>,
    column: impl Fn(&str) -> usize,
    strings: &mut Strings,
) -> Messages {
    let lengths: Vec<usize> = snapshot
        .processes
        .iter()
        .flat_map(|process| &process.communicators)
        .flat_map(|communicator| QueueKind::ALL.map(|kind| kind.of(communicator).operations.len()))
        .filter(|length| *length > 0)
        .collect();
    let each = (MOST_MESSAGES / lengths.len().max(1)).max(LEAST_OF_QUEUE);
    let mut places: Vec<usize> = (0..snapshot.processes.len()).collect();
    if lengths.iter().map(|length| length.min(&each)).sum::<usize>() > MOST_MESSAGES {
        let is_first = |place: usize| {
            let rank = snapshot.processes.get(place).and_then(|process| snapshot.rank_of(process));
            rank.is_some_and(|rank| first.contains(&rank))
        };
        places.sort_by_cached_key(|place| !is_first(*place));
    }
    let mut found = Messages::default();
    for place in places {
        for communicator in snapshot.processes.get(place).iter().flat_map(|process| &process.communicators) {
            for kind in QueueKind::ALL {
                found.add_queue(place, column(&communicator.name), kind, communicator, each, strings);
            }
        }
    }
    found
}

impl Messages {
    fn add_queue(
        &mut self,
        place: usize,
        column: usize,
        kind: QueueKind,
        communicator: &Communicator,
        most: usize,
        strings: &mut Strings,
    ) {
        let operations = &kind.of(communicator).operations;
        let room = MOST_MESSAGES.saturating_sub(self.process.len()).min(most);
        self.left_out += operations.len().saturating_sub(room);
        self.internal_left_out += internal(operations.get(room..).unwrap_or_default());
        let queue = match kind {
            QueueKind::PendingSends => 0,
            QueueKind::PendingReceives => 1,
            QueueKind::UnexpectedMessages => 2,
        };
        for operation in operations.iter().take(room) {
            self.add(place, column, queue, operation, strings);
        }
    }

    fn add(&mut self, place: usize, column: usize, queue: u8, operation: &Operation, strings: &mut Strings) {
        self.process.push(place);
        self.queue.push(queue);
        self.column.push(column);
        self.peer.push(operation.actual_local_rank.or(operation.desired_local_rank));
        self.global.push(operation.actual_global_rank.or(operation.desired_global_rank));
        self.any.push(u8::from(operation.any_source));
        self.tag.push(operation.actual_tag.or(operation.desired_tag.filter(|_| !operation.tag_wild)));
        self.wild.push(u8::from(operation.tag_wild));
        self.bytes.push(operation.actual_length.or(operation.desired_length));
        self.count.push(operation.count);
        self.datatype.push(strings.of(operation.datatype.as_deref()));
        self.call.push(strings.of(operation.call.as_deref()));
        let line = match operation.started_by.as_slice() {
            [only] => strings.line(only.file.as_deref(), only.line),
            _ => NONE,
        };
        self.line.push(line);
        let status = match operation.status {
            OperationStatus::Pending => "pending",
            OperationStatus::InTransit => "in_transit",
            OperationStatus::Matched => "matched",
            OperationStatus::Complete => "complete",
        };
        self.status.push(strings.id(status));
        self.internal.push(u8::from(operation.internal));
    }
}
