//! Whether messages are on their way, where the MPI library counts what it sends and what arrives.

use hashbrown::{HashMap, HashSet};

use crate::job::{CommunicatorId, Job, ProcIndex, Shared, View};
use model::{Communicator, OperationStatus, Remark};

/// Whether a message is on its way to a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitKind {
    /// None is but those that were read in transit: with these as many have arrived as were sent.
    Quiet,
    /// At least one is.
    Coming,
    /// Nobody counts, or not both sides could be read.
    Unknown,
}

/// What is on its way in a job, by communicator.
#[derive(Debug)]
pub struct Traffic {
    sums: Vec<Sums>,
    letters: Vec<Letters>,
}

/// How many messages in transit were read on one communicator, by receiver, whether they go to a member of its own group, and
/// the sender's rank. They count as arrived: what they are is known.
type Letters = HashMap<(ProcIndex, bool, i64), u64>;

/// What is on its way on one communicator to anybody.
#[derive(Debug, Default)]
struct Sums {
    coming: HashSet<ProcIndex>,
    /// To whom it is not known.
    unknown: HashSet<ProcIndex>,
    /// Some members do not count, or were not read.
    partial: bool,
}

impl Traffic {
    /// Looks through the counters of all communicators once.
    pub fn new(job: &Job<'_>) -> Self {
        let letters: Vec<Letters> = job.communicators.iter().map(letters).collect();
        let sums = job.communicators.iter().zip(&letters).map(|(shared, letters)| Sums::new(shared, letters)).collect();
        Self { sums, letters }
    }

    /// Whether a message of one process to another is on its way on a communicator.
    pub fn between(&self, job: &Job<'_>, id: CommunicatorId, sender: ProcIndex, receiver: ProcIndex) -> WaitKind {
        let known = job.communicators.get(id.0).zip(self.letters.get(id.0));
        known.map_or(WaitKind::Unknown, |(shared, letters)| between(shared, letters, sender, receiver))
    }

    /// Whether a message of anybody to a process is on its way on a communicator.
    pub fn to(&self, id: CommunicatorId, receiver: ProcIndex) -> WaitKind {
        match self.sums.get(id.0) {
            Some(sums) if sums.coming.contains(&receiver) => WaitKind::Coming,
            Some(sums) if !sums.partial && !sums.unknown.contains(&receiver) => WaitKind::Quiet,
            _ => WaitKind::Unknown,
        }
    }
}

impl Sums {
    fn new(shared: &Shared<'_>, letters: &Letters) -> Self {
        let mut sums = Self::default();
        let members: usize = shared.groups.as_deref().unwrap_or_default().iter().map(Vec::len).sum();
        sums.partial = members == 0
            || shared.doubt.is_some()
            || shared.views.len() < members
            || shared.views.iter().any(|view| !view.communicator.traffic_complete);
        for view in &shared.views {
            for entry in &view.communicator.traffic {
                let side = if entry.within_local_group { view.side } else { shared.peers(view.side) };
                let Some(peer) = shared.member(side, entry.local_rank) else { continue };
                // The peer's own entry counts the same two ways.
                if peer < view.proc && shared.view(peer).is_some_and(|other| has_entry_of(shared, other, view)) {
                    continue;
                }
                for (sender, receiver) in [(view.proc, peer), (peer, view.proc)] {
                    match between(shared, letters, sender, receiver) {
                        WaitKind::Coming => sums.coming.insert(receiver),
                        WaitKind::Unknown => sums.unknown.insert(receiver),
                        WaitKind::Quiet => false,
                    };
                }
            }
        }
        sums
    }
}

fn letters(shared: &Shared<'_>) -> Letters {
    let mut letters = Letters::new();
    for view in &shared.views {
        let arrived = view.communicator.unexpected_messages.operations.iter();
        for message in arrived.filter(|message| message.status == OperationStatus::InTransit) {
            if let Some(rank) = message.desired_local_rank {
                *letters.entry((view.proc, message.has(&Remark::WithinLocalGroup), rank)).or_default() += 1;
            }
        }
    }
    letters
}

fn between(shared: &Shared<'_>, letters: &Letters, sender: ProcIndex, receiver: ProcIndex) -> WaitKind {
    let (Some(from), Some(to)) = (shared.view(sender), shared.view(receiver)) else { return WaitKind::Unknown };
    let (Some(sender_rank), Some(receiver_rank)) = (from.communicator.local_rank, to.communicator.local_rank) else {
        return WaitKind::Unknown;
    };
    let within = shared.is_inter() && from.side == to.side;
    match (count(from.communicator, within, receiver_rank), count(to.communicator, within, sender_rank)) {
        (Some((Some(sent), _, modulus)), Some((_, Some(arrived), other))) if shared.doubt.is_none() => {
            let modulus = modulus.max(other).max(1);
            let read = letters.get(&(receiver, within, sender_rank)).copied().unwrap_or_default();
            if sent % modulus == arrived.wrapping_add(read) % modulus { WaitKind::Quiet } else { WaitKind::Coming }
        }
        _ => WaitKind::Unknown,
    }
}

/// Whether a member has an entry of another one.
fn has_entry_of(shared: &Shared<'_>, view: &View<'_>, other: &View<'_>) -> bool {
    let within = shared.is_inter() && view.side == other.side;
    let rank = other.communicator.local_rank.filter(|rank| shared.member(other.side, *rank) == Some(other.proc));
    rank.is_some_and(|rank| entry(view.communicator, within, rank).is_some())
}

fn entry(communicator: &Communicator, within: bool, local_rank: i64) -> Option<&model::Traffic> {
    // Readers give members in ascending order, those of the local group after others.
    let key = (within, local_rank);
    let place = communicator.traffic.binary_search_by_key(&key, |entry| (entry.within_local_group, entry.local_rank));
    place.ok().and_then(|at| communicator.traffic.get(at))
}

/// What was sent to a member, what arrived from it, and what both are counted by.
fn count(communicator: &Communicator, within: bool, local_rank: i64) -> Option<(Option<u64>, Option<u64>, u64)> {
    match entry(communicator, within, local_rank) {
        Some(entry) => Some((entry.sent, entry.arrived, entry.modulus)),
        None if communicator.traffic_complete => Some((Some(0), Some(0), 0)),
        None => None,
    }
}
