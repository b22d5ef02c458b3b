//! MPI_Intercomm_create: its leaders meet on a communicator of their own, the others of each group wait for their leader.

use super::point_to_point::NOT_COUNTED;
use super::{Context, Need, Op, Peer, Wait, peer};
use crate::job::{ProcIndex, Side};
use model::{Call, Process};

/// The only function in which members of two groups wait for one another before they have a communicator in common.
pub const INTERCOMM_CREATE: &str = "MPI_Intercomm_create";

const NOT_TOLD: &str = "which ranks the leaders of the two groups wait for is not known";

impl<'a> Context<'a, '_> {
    /// What the leaders wait for on the communicator that both are in. Open MPI sends and receives there with the tag that was
    /// given, as applications do; MPICH marks its own messages.
    pub(super) fn leaders(&self, call: &'a Call) -> Vec<Wait<'a>> {
        let (leader, tag) = (given(call, "remote_leader"), given(call, "tag"));
        let own = |op: &&Op<'a>| {
            let fits = tag.is_none_or(|tag| op.operation.desired_tag == Some(tag));
            fits && !op.operation.persistent && (leader.is_some() && tag.is_some() || is_of_leaders(op))
        };
        let posted = self.open.receives.iter().chain(&self.open.sends).filter(own).chain(&self.open.internal);
        let with_leader = posted.filter(|op| leader.is_none() || op.operation.desired_local_rank == leader);
        let waits: Vec<Wait<'a>> = with_leader.map(|op| self.operation(*op)).collect();
        // Without arguments it is known only where one alone comes into question.
        if leader.is_some() && tag.is_some() || waits.len() == 1 { waits } else { Vec::new() }
    }

    /// What a member waits for whose whole group is there, and of which nothing is posted: MPICH 5.0's leaders exchange their
    /// addresses by messages that its queues do not hold.
    pub(super) fn intercomm(&self, call: &Call) -> Wait<'a> {
        let need = self.by_meaning(call).unwrap_or(Need::Unknown(NOT_TOLD));
        Wait { need, in_flight: Some(NOT_COUNTED), operations: Vec::new() }
    }

    fn by_meaning(&self, call: &Call) -> Option<Need> {
        let place = |id: Option<u64>| self.job.by_unique_id(self.proc.0, id?);
        let (local, _) = place(call.communicator)?;
        let local = self.job.communicators.get(local.0)?;
        let leader = local.member(local.view(self.proc)?.side, given(call, "local_leader")?)?;
        if leader != self.proc {
            return Some(Need::Proc(leader));
        }
        let remote = remote_leader(self, self.proc, self.process, call)?;
        let process = self.job.procs.get(remote.0)?.process?;
        let there = process.calls.iter().find(|call| call.c_name() == INTERCOMM_CREATE);
        let Some(there) = there else { return Some(Need::Proc(remote)) };
        let tags = (given(call, "tag")?, given(there, "tag")?);
        let meets = tags.0 == tags.1 && remote_leader(self, remote, process, there)? == self.proc;
        Some(if meets { Need::Nothing } else { Need::Proc(remote) })
    }
}

/// The leader of the other group, as one group's leader was given it.
fn remote_leader(context: &Context<'_, '_>, proc: ProcIndex, process: &Process, call: &Call) -> Option<ProcIndex> {
    let value = given(call, "peer_comm")?;
    let place = process.communicators.iter().position(|communicator| {
        // MPICH's handles are of 32 bits, and may be negative as an int.
        communicator.handle.is_some_and(|handle| {
            handle.0 == value as u64 || handle.0 == u64::from(value as u32) && i32::try_from(value).is_ok()
        })
    })?;
    let shared = context.job.communicators.get(context.job.communicator(proc.0, place)?.0)?;
    let Peer::Rank(rank) = peer(process, call.argument("remote_leader")) else { return None };
    shared.member(shared.view(proc).map_or(Side::First, |view| shared.peers(view.side)), rank)
}

/// Whether an operation looks like what leaders exchange first in Open MPI: the sizes of their groups
/// (ompi/mpi/c/intercomm_create.c of v4.1.4).
fn is_of_leaders(op: &Op<'_>) -> bool {
    let operation = op.operation;
    (operation.count, operation.datatype.as_deref()) == (Some(1), Some("MPI_INT")) && !operation.any_source
}

fn given(call: &Call, name: &str) -> Option<i64> {
    call.argument(name).and_then(|argument| argument.value)
}
