//! The operations of one process that are not complete, and which of them a blocking call waits for.

use hashbrown::HashMap;

use crate::job::{CommunicatorId, Job, ProcIndex};
use crate::matching::OperationPlace;
use model::{Argument, Call, Communicator, HandleWord, Operation, OperationStatus, Process, QueueKind, SourceKind};

use functions::WaitKind;
use functions::constants::Family;

/// Which of the two queues of what a process has posted. No [`QueueKind`]: an unexpected message was posted by nobody here, so no
/// call waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Posted {
    /// `Communicator::pending_sends`.
    Sends,
    /// `Communicator::pending_receives`.
    Receives,
}

/// An operation with its place.
#[derive(Debug, Clone, Copy)]
pub struct Op<'a> {
    /// Whose.
    pub proc: ProcIndex,
    /// Place in `Process::communicators`.
    pub place: usize,
    /// The same communicator among all of the job.
    pub shared: CommunicatorId,
    /// The queue.
    pub queue: Posted,
    /// Place in it.
    pub index: usize,
    /// What was read.
    pub operation: &'a Operation,
}

impl Op<'_> {
    /// The world rank at the other end: of a receive that any may send to, once that is known.
    pub fn global_rank(&self) -> Option<i64> {
        self.operation.actual_global_rank.or(self.operation.desired_global_rank)
    }

    /// Where matching has it.
    pub fn matched_at(&self) -> OperationPlace {
        let queue = match self.queue {
            Posted::Sends => QueueKind::PendingSends,
            Posted::Receives => QueueKind::PendingReceives,
        };
        OperationPlace { proc: self.proc, communicator: self.place, queue, index: self.index }
    }
}

/// What one process has posted that is not complete.
#[derive(Debug, Default)]
pub struct Open<'a> {
    /// The application's receives.
    pub receives: Vec<Op<'a>>,
    /// The application's sends.
    pub sends: Vec<Op<'a>>,
    /// What the MPI library posted for itself.
    pub internal: Vec<Op<'a>>,
    /// Whether all queues of receives could be read whole.
    pub receives_whole: bool,
    /// Whether all queues of sends could be.
    pub sends_whole: bool,
    /// Whether they have something of which it is not known what it is.
    pub dropped: bool,
    by_request: HashMap<u64, (Posted, bool, usize)>,
}

const UNRESOLVED: &str = "the communicator of the call is not among those that were found";
const CONTRADICTED: &str = "the arguments of the call differ from what the library has posted for it";
const DROPPED: &str = "the queues of posted operations have an entry that is not understood";
const NOT_WHOLE: &str = "not all posted operations could be read";

/// Which operations a call waits for.
#[derive(Debug)]
pub enum Own<'a> {
    /// Exactly this one.
    One(Op<'a>),
    /// One of these.
    Among(Vec<Op<'a>>),
    /// One of these, or none: it is over.
    Perhaps(Vec<Op<'a>>),
    /// One of these by its queue, but not for certain, for this reason.
    Doubtful(Vec<Op<'a>>, &'static str),
    /// None is pending: the call is about to post it, or it is done.
    None,
    /// The queues could not be read.
    Hidden,
}

impl<'a> Open<'a> {
    /// Looks through the queues of a process once.
    pub fn new(job: &Job<'a>, proc: ProcIndex, process: &'a Process) -> Self {
        let mut open = Self { receives_whole: true, sends_whole: true, ..Self::default() };
        for (place, communicator) in process.communicators.iter().enumerate() {
            let Some(shared) = job.communicator(proc.0, place) else { continue };
            open.receives_whole &= communicator.pending_receives.is_whole();
            open.sends_whole &= communicator.pending_sends.is_whole();
            open.dropped |= communicator.pending_receives.dropped > 0 || communicator.pending_sends.dropped > 0;
            for (queue, operations) in [
                (Posted::Sends, &communicator.pending_sends.operations),
                (Posted::Receives, &communicator.pending_receives.operations),
            ] {
                for (index, operation) in operations.iter().enumerate() {
                    if operation.status != OperationStatus::Complete {
                        open.add(Op { proc, place, shared, queue, index, operation });
                    }
                }
            }
        }
        open
    }

    fn add(&mut self, op: Op<'a>) {
        let list = match (op.operation.internal, op.queue) {
            (true, _) => &mut self.internal,
            (false, Posted::Sends) => &mut self.sends,
            (false, Posted::Receives) => &mut self.receives,
        };
        if let Some(request) = op.operation.request {
            self.by_request.insert(request, (op.queue, op.operation.internal, list.len()));
        }
        list.push(op);
    }

    /// What was posted for non-blocking collectives that are numbered.
    pub fn numbered(&self) -> impl Iterator<Item = Op<'a>> + '_ {
        self.internal.iter().copied().filter(|op| op.operation.sequence().is_some())
    }

    /// The operation of a request, by its handle.
    pub fn request(&self, handle: u64) -> Option<Op<'a>> {
        let (queue, internal, at) = *self.by_request.get(&handle)?;
        let list = match (internal, queue) {
            (true, _) => &self.internal,
            (false, Posted::Sends) => &self.sends,
            (false, Posted::Receives) => &self.receives,
        };
        list.get(at).copied()
    }

    /// The operation that a blocking call has posted itself, in one of the two queues.
    pub fn own(&self, process: &Process, call: &Call, queue: Posted) -> Own<'a> {
        let (list, whole) = match queue {
            Posted::Sends => (&self.sends, self.sends_whole),
            Posted::Receives => (&self.receives, self.receives_whole),
        };
        let c_name = call.c_name();
        let named =
            |op: &&Op<'a>| op.operation.call.as_deref().is_some_and(|made| made == call.function || made == c_name);
        // A request that names no call may be that of the call; persistent ones were made by other functions.
        let unnamed = |op: &&Op<'a>| op.operation.call.is_none() && !op.operation.persistent;
        let wanted = Wanted::new(process, call, queue);
        let mut candidates: Vec<Op<'a>> = list.iter().filter(named).copied().collect();
        if candidates.is_empty() {
            candidates = list.iter().filter(unnamed).filter(|op| wanted.fits(process, op)).copied().collect();
            // One half of MPI_Sendrecv may be over, and what is left is of an earlier call.
            let both = functions::wait_kind(&call.c_name()) == WaitKind::SendReceive;
            if both && !candidates.is_empty() && !matches!(candidates.as_slice(), [only] if wanted.names(only)) {
                return Own::Perhaps(candidates);
            }
        } else if candidates.len() > 1 {
            let fitting: Vec<Op<'a>> = candidates.iter().filter(|op| wanted.fits(process, op)).copied().collect();
            if !fitting.is_empty() {
                candidates = fitting;
            }
        }
        let doubt = if wanted.unresolved {
            Some(UNRESOLVED)
        } else if candidates.iter().any(|op| !wanted.fits(process, op)) {
            Some(CONTRADICTED)
        } else if self.dropped {
            Some(DROPPED)
        } else if !whole && !matches!(candidates.as_slice(), [only] if wanted.names(only)) {
            Some(NOT_WHOLE)
        } else {
            None
        };
        if let Some(why) = doubt.filter(|_| !candidates.is_empty()) {
            return Own::Doubtful(candidates, why);
        }
        match (candidates.as_slice(), whole) {
            ([only], _) => Own::One(*only),
            ([], true) => Own::None,
            ([], false) => Own::Hidden,
            _ => Own::Among(candidates),
        }
    }
}

/// Whom an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A rank in the communicator of the call.
    Rank(i64),
    /// MPI_ANY_SOURCE.
    Any,
    /// MPI_PROC_NULL.
    Null,
    /// Not known.
    Unknown,
}

/// Whom an argument names, by its meaning or by the values of constants in this MPI.
pub fn peer(process: &Process, argument: Option<&Argument>) -> Peer {
    let Some(argument) = argument else { return Peer::Unknown };
    match argument.meaning.as_deref() {
        Some("MPI_ANY_SOURCE") => return Peer::Any,
        Some("MPI_PROC_NULL") => return Peer::Null,
        _ => {}
    }
    match (argument.value, constants(process)) {
        (Some(rank), _) if rank >= 0 => Peer::Rank(rank),
        (Some(value), Some(mpi)) if i128::from(value) == mpi.any_source() => Peer::Any,
        (Some(value), Some(mpi)) if i128::from(value) == mpi.proc_null() => Peer::Null,
        _ => Peer::Unknown,
    }
}

/// Whose constants the process has, where that is known. What is made from MPICH has its own or those of the ABI of MPI 5, and
/// its handle of MPI_COMM_WORLD shows which.
fn constants(process: &Process) -> Option<Family> {
    if process.mpi.as_ref().is_some_and(|mpi| mpi.implementation == "Open MPI") {
        return Some(Family::OpenMpi);
    }
    let has = |handle: u64| process.communicators.iter().any(|one| one.handle == Some(HandleWord(handle)));
    match (has(0x4400_0000), has(0x101)) {
        (true, false) => Some(Family::Mpich),
        (false, true) => Some(Family::Abi),
        _ => None,
    }
}

/// What a call's arguments say of the operation that it posts; what they do not say is not compared.
struct Wanted {
    communicator: Option<u64>,
    /// Whether the call was given a communicator that is none of the process's.
    unresolved: bool,
    peer: Peer,
    tag: Option<i64>,
}

impl Wanted {
    fn new(process: &Process, call: &Call, queue: Posted) -> Self {
        let both = functions::wait_kind(&call.c_name()) == WaitKind::SendReceive;
        let (peer_name, tag_name) = match queue {
            Posted::Sends => ("dest", if both { "sendtag" } else { "tag" }),
            Posted::Receives => ("source", if both { "recvtag" } else { "tag" }),
        };
        let tag = call.argument(tag_name).and_then(|tag| tag.value).filter(|tag| *tag >= 0);
        // A plug-in has no handles of communicators to compare with.
        let comparable = process.source.as_ref().is_none_or(|source| source.kind != SourceKind::Plugin)
            && process.communicators.iter().any(|one| one.handle.is_some());
        let given =
            call.argument("comm").is_some_and(|comm| comm.value.is_some() || comm.values.is_some()) && comparable;
        let communicator = call.communicator.filter(|id| process.communicators.iter().any(|one| one.unique_id == *id));
        let unresolved = communicator.is_none() && (given || call.communicator.is_some());
        Self { communicator, unresolved, peer: peer(process, call.argument(peer_name)), tag }
    }

    /// Whether the arguments name the peer and the tag that an operation has, and it is not merely that neither is known.
    fn names(&self, op: &Op<'_>) -> bool {
        let operation = op.operation;
        let peer = matches!(self.peer, Peer::Rank(rank) if operation.desired_local_rank == Some(rank));
        let tag = operation.tag_wild || self.tag.is_some() && self.tag == operation.desired_tag;
        self.communicator.is_some() && tag && (peer || self.peer == Peer::Any && operation.any_source)
    }

    fn fits(&self, process: &Process, op: &Op<'_>) -> bool {
        let unique_id = process.communicators.get(op.place).map(|communicator| communicator.unique_id);
        let operation = op.operation;
        let peer = match self.peer {
            Peer::Rank(rank) => {
                operation.desired_local_rank.is_none_or(|desired| desired == rank) && !operation.any_source
            }
            Peer::Any => operation.any_source,
            Peer::Null => false,
            Peer::Unknown => true,
        };
        let tag = self.tag.is_none_or(|tag| operation.desired_tag.is_none_or(|desired| desired == tag));
        self.communicator.is_none_or(|wanted| unique_id == Some(wanted)) && peer && tag
    }
}

/// The communicators on which a call may be: the one that it names, else all of the process with more than one member.
pub fn communicators<'a>(process: &'a Process, call: &Call) -> Vec<(usize, &'a Communicator)> {
    let all = || process.communicators.iter().enumerate();
    let named = |(_, communicator): &(usize, &Communicator)| call.communicator == Some(communicator.unique_id);
    let of_call: Vec<_> = all().filter(named).take(1).collect();
    if !of_call.is_empty() {
        return of_call;
    }
    all().filter(|(_, communicator)| communicator.remote_group.is_some() || communicator.size != Some(1)).collect()
}
