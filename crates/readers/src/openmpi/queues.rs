//! What the queues of every pml share.

use std::collections::HashSet;

use super::communicators::{self, Communicators, Found};
use super::groups::Groups;
use super::shapes::Shapes;
use crate::{ReaderError, add_problem};
use model::{Operation, Queue, QueueState, Remark, Traffic};
use target::Target;
use target::address::TargetAddr;

/// At most this many operations (2 Mi) are read from one process; a longer list is said to be cut.
pub const MAX_OPERATIONS: usize = 1 << 21;

/// Hands on what was decoded, if there is room for one more; false where there is none.
pub fn keep<T>(decoded: Option<T>, room: &mut usize, push: impl FnOnce(T)) -> bool {
    if let Some(decoded) = decoded {
        if *room == 0 {
            return false;
        }
        *room -= 1;
        push(decoded);
    }
    true
}

/// Says of every queue that no more operations were read than [`MAX_OPERATIONS`].
pub fn cut(communicators: &mut Communicators) {
    let problem = format!("only the first {MAX_OPERATIONS} operations were read");
    for Found { facts, .. } in &mut communicators.found {
        for queue in facts.queues_mut() {
            fail(queue, Some(&problem));
        }
    }
    add_problem(&mut communicators.problems, problem);
}

/// Adds what goes on within the local groups of intercommunicators to the queues of these.
pub fn append_all_internal(communicators: &mut Communicators) {
    for (index, internal) in communicators.take_internal() {
        let (facts, own) = (internal.facts, &mut communicators.found[index].facts);
        append_internal(&mut own.pending_sends, facts.pending_sends.into_owned());
        append_internal(&mut own.pending_receives, facts.pending_receives.into_owned());
        append_internal(&mut own.unexpected_messages, facts.unexpected_messages.into_owned());
        own.traffic_complete &= facts.traffic_complete;
        own.traffic.extend(facts.traffic.into_iter().map(|traffic| Traffic { within_local_group: true, ..traffic }));
    }
}

pub fn pool_problem(
    walked: Result<Vec<String>, ReaderError>,
    impossible: u64,
    problems: &mut Vec<String>,
) -> Option<String> {
    let mut found = walked.unwrap_or_else(|error| vec![error.to_string()]);
    if impossible > 0 {
        found.push(format!("{impossible} requests are in a state that does not exist: memory is damaged"));
    }
    let first = found.first().cloned();
    found.into_iter().for_each(|problem| add_problem(problems, problem));
    first
}

/// Adds what goes on within the local group of an intercommunicator (its collectives begin there) to the queue of the
/// intercommunicator.
fn append_internal(queue: &mut Queue, internal: Queue) {
    for mut operation in internal.operations {
        operation.internal = true;
        operation.extra_text.push(Remark::WithinLocalGroup);
        queue.operations.push(operation);
    }
    if internal.state == QueueState::Error {
        fail(queue, internal.detail.as_deref());
    }
}

pub fn fail(queue: &mut Queue, problem: Option<&str>) {
    if let (Some(problem), QueueState::Ok) = (problem, queue.state) {
        queue.state = QueueState::Error;
        queue.detail = Some(problem.to_owned());
    }
}

/// Communicators that requests name but the table does not are read directly, and so are the internal ones of
/// intercommunicators. (Requests hold a reference, so that the table normally has their communicator even after
/// MPI_Comm_free: ompi_comm_free and ompi_comm_destruct in ompi/communicator, v4.1.4 and v5.0.7.)
pub fn adopt_strangers(
    target: &dyn Target,
    shapes: &Shapes,
    groups: &Groups<'_>,
    communicators: &mut Communicators,
    named: impl Iterator<Item = TargetAddr>,
) {
    let known: HashSet<TargetAddr> = communicators.found.iter().map(|found| found.addr).collect();
    let mut unlisted: HashSet<TargetAddr> = communicators.found.iter().map(|found| found.local_comm).collect();
    unlisted.extend(named);
    let mut unlisted: Vec<TargetAddr> = unlisted.difference(&known).copied().collect();
    unlisted.sort();
    let Some(class) = communicators::class(target) else { return };
    let null = target.symbol("ompi_mpi_comm_null").ok().flatten().map(|symbol| symbol.addr);
    unlisted.retain(|at| Some(*at) != null && communicators::class_of(target, shapes, *at) == Ok(class));
    for at in unlisted {
        if let Ok(found) = communicators::read_one(target, shapes, groups, at, &mut communicators.problems) {
            communicators.found.push(found);
        }
    }
}

/// With world ranks.
pub fn named(mut operation: Operation, found: &Found) -> Operation {
    fill_in_world_ranks(&mut operation, found);
    operation
}

/// Fills in world ranks.
pub fn fill_in_world_ranks(operation: &mut Operation, found: &Found) {
    operation.desired_global_rank = operation.desired_local_rank.and_then(|rank| found.world_rank(rank));
    operation.actual_global_rank = operation.actual_local_rank.and_then(|rank| found.world_rank(rank));
}
