//! Which sends and receives belong together, by the rules of the standard.
//!
//! Messages of one sender are matched in the order in which they were sent, receives in the order in which they were posted;
//! what the library posts for itself is matched apart from the application's. With receives from any source there are several
//! outcomes: one is taken here, and what would have another fate in another one is [`Outcome::Contested`]. Only what was read is
//! matched: a small message that has left its sender and has not arrived is seen nowhere.

mod blind;
mod deal;
mod gather;
mod same;

pub use blind::name;
pub use gather::peer;

use hashbrown::HashMap;

use super::job::{CommunicatorId, Job, ProcIndex, Side};
use model::{Operation, OperationStatus, QueueKind, Remark};

/// Where an operation stands in the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationPlace {
    /// Whose it is.
    pub proc: ProcIndex,
    /// The place in `Process::communicators`.
    pub communicator: usize,
    /// Which queue.
    pub queue: QueueKind,
    /// The place in the queue.
    pub index: usize,
}

/// A place in [`Matching::entries`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(pub usize);

/// What becomes of an operation, as far as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is complete, or cancelled, or held by a matched probe: it matches nothing any more.
    Over,
    /// The library has matched it, and its data moves, as soon as both sides are in MPI.
    Moving,
    /// It fits this one, and nothing stands before it: they meet as soon as both sides are in MPI. A probe fits a message and
    /// leaves it to others.
    Pair(OperationId),
    /// It fits some, which others take in the outcome that was tried; with receives from any source there are others.
    Contested,
    /// Nothing that was read fits it, or others before it take all that do. [`Matching::blind`] says what was not read.
    Unmatched,
    /// Too little is known of it, or of what it could meet: why.
    Unclear(&'static str),
}

/// An operation of the snapshot.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// Where it stands.
    pub place: OperationPlace,
    /// On which communicator.
    pub communicator: CommunicatorId,
    /// The group of that communicator that its process is in.
    pub side: Side,
    /// What was read.
    pub operation: &'a Operation,
    /// Who sends (of receives and messages) or receives (of sends); `None` for any source, or where it is not known.
    pub peer: Option<ProcIndex>,
    /// Whether it is a probe, which waits for a message and takes none.
    pub probe: bool,
    /// What becomes of it.
    pub outcome: Outcome,
    /// The same message at the other end: of a pending send the message that has arrived of it, and the other way round.
    pub same: Option<OperationId>,
}

impl Entry<'_> {
    /// Whether it is one of the application's own, not of the library's.
    pub fn is_own(&self) -> bool {
        !self.operation.internal
    }

    /// Whether it still waits to be matched.
    pub fn waits(&self) -> bool {
        !matches!(self.outcome, Outcome::Over | Outcome::Moving)
    }
}

/// All operations of a snapshot, and which belong together.
#[derive(Debug)]
pub struct Matching<'a> {
    /// By process, communicator, queue and place in it.
    pub entries: Vec<Entry<'a>>,
    /// Where the operations of each queue begin, by process and place of the communicator.
    starts: Vec<Vec<[usize; 3]>>,
    /// Why sends of members of each communicator are not known.
    unknown_sends: HashMap<CommunicatorId, String>,
    /// Messages that are seen before they have arrived.
    unsent: blind::Unsent,
}

impl<'a> Matching<'a> {
    /// Matches what a job has posted.
    pub fn new(job: &Job<'a>) -> Self {
        let (mut entries, starts) = gather::entries(job);
        let mut buckets = gather::buckets(&entries);
        for bucket in &mut buckets {
            same::join(bucket, &mut entries);
            same::without_received(job, bucket, &mut entries);
            deal::deal(bucket, &mut entries);
        }
        deal::unaddressed(&mut entries);
        let unknown_sends = blind::unknown_sends(job);
        let unsent = blind::unsent(&entries);
        Self { entries, starts, unknown_sends, unsent }
    }

    /// The operation at a place.
    pub fn id(&self, place: OperationPlace) -> Option<OperationId> {
        let starts = self.starts.get(place.proc.0)?.get(place.communicator)?;
        let id = starts.get(place.queue as usize)?.checked_add(place.index)?;
        (self.entries.get(id)?.place == place).then_some(OperationId(id))
    }

    /// An operation.
    pub fn entry(&self, id: OperationId) -> Option<&Entry<'a>> {
        self.entries.get(id.0)
    }

    /// The operation at a place.
    pub fn at(&self, place: OperationPlace) -> Option<&Entry<'a>> {
        self.entry(self.id(place)?)
    }

    /// The operations of one queue, in its order.
    pub fn queue(&self, proc: ProcIndex, communicator: usize, queue: QueueKind) -> &[Entry<'a>] {
        let Some(place) = self.starts.get(proc.0).and_then(|starts| starts.get(communicator)) else { return &[] };
        let start = place.get(queue as usize).copied().unwrap_or(usize::MAX);
        let rest = self.entries.get(start..).unwrap_or_default();
        let same = |entry: &Entry<'_>| {
            let place = entry.place;
            (place.proc, place.communicator, place.queue) == (proc, communicator, queue)
        };
        let end = rest.partition_point(same);
        rest.get(..end).unwrap_or_default()
    }

    /// All operations of a process.
    pub fn of_proc(&self, proc: ProcIndex) -> &[Entry<'a>] {
        // Those that were read have no gaps between them, but may have no communicators.
        let first = |starts: &Vec<[usize; 3]>| starts.first().map(|[first, ..]| *first);
        let rest = self.starts.get(proc.0..).unwrap_or_default();
        let (Some(start), later) = (rest.first().and_then(first), rest.iter().skip(1)) else { return &[] };
        let end = later.filter_map(first).next().unwrap_or(self.entries.len());
        self.entries.get(start..end).unwrap_or_default()
    }
}

/// Whether an operation can no longer be matched.
fn is_over(operation: &Operation, queue: QueueKind) -> bool {
    operation.status == OperationStatus::Complete
        || operation.has(&Remark::Cancelled)
        || (queue == QueueKind::PendingReceives && operation.has(&Remark::MatchedMessage))
}
