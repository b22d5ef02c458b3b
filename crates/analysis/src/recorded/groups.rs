//! Who is in a communicator: each member knows its own rank in it.

use super::{Members, communicator, recorded};
use std::sync::Arc;

use model::{Group, Snapshot};

/// All groups that are written out here have no more members: sizes are read from memory.
pub(super) const MOST_MEMBERS: usize = 1 << 22;

/// Tells each member who the others are, as far as these were read. `room`: for how many members there is room yet.
pub(super) fn complete(snapshot: &mut Snapshot, members: &Members, room: &mut usize) {
    let [first, second] = [false, true].map(|side| group(snapshot, members, side, room));
    // Members mostly have one group in common, which is looked through once.
    let mut whole: Option<Group> = None;
    for member in members {
        let is_inter = recorded(snapshot, member).is_some_and(|known| known.remote_size.is_some());
        let Some(communicator) = communicator(snapshot, member) else { continue };
        let (own, other) = if member.second { (&second, &first) } else { (&first, &second) };
        // That of MPI_COMM_WORLD is known whole.
        let is_known = |group: &Group| whole.as_ref().is_some_and(|known| Arc::ptr_eq(known, group));
        match &communicator.group {
            Some(group) if is_known(group) => {}
            Some(group) if !group.contains(&None) => whole = Some(Arc::clone(group)),
            _ => communicator.group.clone_from(own),
        }
        if is_inter {
            communicator.remote_group.clone_from(other);
        }
        let peers = if is_inter { communicator.remote_group.clone() } else { communicator.group.clone() };
        for operation in communicator.queues_mut().into_iter().flat_map(|queue| &mut queue.operations) {
            let place = operation.desired_local_rank.and_then(|rank| usize::try_from(rank).ok());
            operation.desired_global_rank = place.and_then(|place| peers.as_deref()?.get(place).copied().flatten());
        }
    }
}

/// One of the two groups; `None` where it has no members, or their number is not known.
fn group(snapshot: &Snapshot, members: &Members, second: bool, room: &mut usize) -> Option<Group> {
    let size = members.iter().find_map(|member| {
        let known = recorded(snapshot, member)?;
        if member.second == second { known.size } else { known.remote_size }
    });
    let size = usize::try_from(size?).ok().filter(|size| *size > 0)?;
    *room = room.checked_sub(size)?;
    let mut group = vec![None; size];
    for member in members.iter().filter(|member| member.second == second) {
        let place = usize::try_from(member.rank).ok().and_then(|place| group.get_mut(place));
        if let Some(place) = place {
            *place = place.or(member.global);
        }
    }
    Some(group.into())
}
