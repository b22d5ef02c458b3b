//! All operations of a job in one list, and sorted by who must match them.

use hashbrown::HashMap;

use super::{Entry, OperationId, OperationPlace, Outcome, is_over};
use crate::job::{CommunicatorId, Job, ProcIndex, Shared, Side, View};
use model::{Operation, OperationStatus, QueueKind, Remark};

/// What is matched together besides the communicator: the library's own operations have contexts or tags that no other
/// operation meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Class {
    Application,
    Library,
    /// Of the library, within the local group of an intercommunicator.
    LocalGroup,
    /// Of the library, in a communicator that it made below this one.
    Below,
}

/// What one member of a communicator must match.
#[derive(Debug)]
pub(super) struct Bucket {
    /// Receives of that member as they were posted.
    pub receives: Vec<OperationId>,
    /// Messages that have arrived there, by sender in the order of sending.
    pub arrived: Vec<OperationId>,
    /// Pending sends to it, by sender in the order of sending.
    pub sends: Vec<OperationId>,
}

type Key = (CommunicatorId, Class, Option<Side>, ProcIndex);

/// Every operation, and where those of each queue begin.
pub(super) fn entries<'a>(job: &Job<'a>) -> (Vec<Entry<'a>>, Vec<Vec<[usize; 3]>>) {
    let communicators = job.snapshot.processes.iter().flat_map(|process| &process.communicators);
    let queues =
        communicators.flat_map(|communicator| QueueKind::ALL.map(|queue| queue.of(communicator).operations.len()));
    let mut entries = Vec::with_capacity(queues.sum());
    let mut starts = Vec::with_capacity(job.snapshot.processes.len());
    for (index, process) in job.snapshot.processes.iter().enumerate() {
        let proc = ProcIndex(index);
        let mut of_process = Vec::with_capacity(process.communicators.len());
        for (place, communicator) in process.communicators.iter().enumerate() {
            let id = job.communicator(index, place);
            let known = id.and_then(|id| Some((id, job.communicators.get(id.0)?)));
            let view = known.and_then(|(_, shared)| {
                // A process of damaged memory may have it twice.
                shared.view(proc).filter(|view| view.place == place).or_else(|| shared.views.first())
            });
            let mut begin = [0; 3];
            for queue in QueueKind::ALL {
                if let Some(begin) = begin.get_mut(queue as usize) {
                    *begin = entries.len();
                }
                let (Some((communicator_id, shared)), Some(view)) = (known, view) else { continue };
                for (at, operation) in queue.of(communicator).operations.iter().enumerate() {
                    entries.push(Entry {
                        place: OperationPlace { proc, communicator: place, queue, index: at },
                        communicator: communicator_id,
                        side: view.side,
                        operation,
                        peer: peer(job, shared, view, operation),
                        probe: queue == QueueKind::PendingReceives && is_probe(operation),
                        outcome: first_outcome(operation, queue),
                        same: None,
                    });
                }
            }
            of_process.push(begin);
        }
        starts.push(of_process);
    }
    (entries, starts)
}

fn first_outcome(operation: &Operation, queue: QueueKind) -> Outcome {
    if is_over(operation, queue) && queue != QueueKind::UnexpectedMessages {
        Outcome::Over
    } else if operation.status == OperationStatus::Matched {
        Outcome::Moving
    } else {
        Outcome::Unmatched
    }
}

fn is_probe(operation: &Operation) -> bool {
    matches!(operation.call.as_deref(), Some("MPI_Probe" | "MPI_Mprobe")) || operation.has(&Remark::Probe)
}

fn class(operation: &Operation) -> Class {
    match operation.internal {
        false => Class::Application,
        true if operation.has(&Remark::WithinLocalGroup) => Class::LocalGroup,
        true if operation.has(&Remark::WithinLibrarysCommunicator) => Class::Below,
        true => Class::Library,
    }
}

/// The peer of an operation. Its global rank is right also where the ranks are those of another communicator below.
pub fn peer(job: &Job<'_>, shared: &Shared<'_>, view: &View<'_>, operation: &Operation) -> Option<ProcIndex> {
    if operation.any_source {
        return None;
    }
    let by_global = operation.desired_global_rank.and_then(|rank| job.proc(rank));
    by_global.or_else(|| {
        let side = match class(operation) {
            Class::Application | Class::Library => shared.peers(view.side),
            Class::LocalGroup => view.side,
            Class::Below => return None,
        };
        shared.member(side, operation.desired_local_rank?)
    })
}

/// The operations that wait to be matched, by the member that must match them.
pub(super) fn buckets(entries: &[Entry<'_>]) -> Vec<Bucket> {
    let mut buckets: Vec<Bucket> = Vec::new();
    let mut by_key: HashMap<Key, usize> = HashMap::new();
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.waits()) {
        let class = class(entry.operation);
        let receiver = if entry.place.queue == QueueKind::PendingSends { entry.peer } else { Some(entry.place.proc) };
        // Nobody who was read receives it.
        let Some(receiver) = receiver else { continue };
        let local = (class == Class::LocalGroup).then_some(entry.side);
        let place = *by_key.entry((entry.communicator, class, local, receiver)).or_insert_with(|| {
            buckets.push(Bucket { receives: Vec::new(), arrived: Vec::new(), sends: Vec::new() });
            buckets.len() - 1
        });
        let Some(bucket) = buckets.get_mut(place) else { continue };
        let list = match entry.place.queue {
            QueueKind::PendingSends => &mut bucket.sends,
            QueueKind::PendingReceives => &mut bucket.receives,
            QueueKind::UnexpectedMessages => &mut bucket.arrived,
        };
        list.push(OperationId(index));
    }
    buckets
}
