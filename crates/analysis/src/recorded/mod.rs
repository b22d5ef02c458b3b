//! What the flight recorders of several processes say together; each alone knows only its own part: who is in a
//! communicator, which messages were received, and which are still to be. For processes whose queues nobody can read
//! (`SourceKind::Recorder`).
//!
//! A recorder counts the messages that were sent to each rank with each tag, and those whose receive has begun. Messages of one
//! sender with one tag are received in the order in which they were sent; so the difference of both numbers says how many of the
//! latest receives still wait, or how many of the latest messages nobody has received.

mod collectives;
mod groups;
mod messages;

use hashbrown::HashMap;

use model::{Communicator, RecordedCommunicator, Snapshot, SourceKind, Text};

/// A communicator of one process.
#[derive(Debug, Clone, Copy)]
struct Member {
    /// The place of the process in the snapshot.
    process: usize,
    /// The place of the communicator in the process.
    communicator: usize,
    /// Whether it is in the second group of an intercommunicator.
    second: bool,
    /// Its rank in its group.
    rank: i64,
    /// Its global rank.
    global: Option<i64>,
}

/// The members of one communicator that were read.
type Members = Vec<Member>;

/// Completes the processes whose operations come from the recorder, once they are numbered (`universe::number`). What was completed
/// before is worked out anew: there may be more processes now.
pub fn complete(snapshot: &mut Snapshot) {
    let mut room = groups::MOST_MEMBERS;
    for members in of_all(snapshot) {
        groups::complete(snapshot, &members, &mut room);
        messages::settle(snapshot, &members);
        collectives::settle(snapshot, &members);
    }
}

/// The members of each communicator that has a name that all of them share. Worlds have their own MPI_COMM_WORLD, which recorders
/// call the same.
fn of_all(snapshot: &Snapshot) -> Vec<Members> {
    type Key<'a> = (Option<i64>, Option<&'a Text>, u64, Option<usize>);
    let mut at: HashMap<Key<'_>, usize> = HashMap::new();
    let mut by_communicator: Vec<Members> = Vec::new();
    for (index, process) in snapshot.processes.iter().enumerate() {
        if process.source.as_ref().is_none_or(|source| source.kind != SourceKind::Recorder) {
            continue;
        }
        for place in 0..process.communicators.len() {
            let Some(known) = recorded_at(snapshot, index, place) else { continue };
            let (Some(identity), Some(rank)) = (known.identity, known.local_rank) else { continue };
            // Each process has its own MPI_COMM_SELF, and what is made of it.
            let alone = (known.size == Some(1) && known.remote_size.is_none()).then_some(index);
            let key = (process.world, process.world_key.as_ref(), identity.0, alone);
            let place_of = *at.entry(key).or_insert_with(|| {
                by_communicator.push(Members::new());
                by_communicator.len() - 1
            });
            by_communicator[place_of].push(Member {
                process: index,
                communicator: place,
                second: known.second.unwrap_or(false),
                rank,
                global: snapshot.rank_of(process),
            });
        }
    }
    by_communicator
}

/// What the recorder has of a member's communicator.
fn recorded<'s>(snapshot: &'s Snapshot, member: &Member) -> Option<&'s RecordedCommunicator> {
    recorded_at(snapshot, member.process, member.communicator)
}

/// A member's communicator, to be changed.
fn communicator<'s>(snapshot: &'s mut Snapshot, member: &Member) -> Option<&'s mut Communicator> {
    snapshot.processes.get_mut(member.process)?.communicators.get_mut(member.communicator)
}

fn recorded_at(snapshot: &Snapshot, process: usize, communicator: usize) -> Option<&RecordedCommunicator> {
    let process = snapshot.processes.get(process)?;
    let handle = process.communicators.get(communicator)?.handle?;
    process.history.as_ref()?.communicators.iter().find(|one| one.handle == handle)
}
