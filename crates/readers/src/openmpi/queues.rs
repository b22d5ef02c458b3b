//! What the queues of every pml share.

use std::collections::HashSet;

use super::communicators::{self, Communicators, Found};
use super::groups::Groups;
use super::shapes::Shapes;
use crate::add_problem;
use crate::queues::{fill_in_world_ranks, only_the_first};
use model::{Operation, Queue, QueueState, Remark, Traffic};
use target::Target;
use target::address::TargetAddr;

/// Says of every queue that no more operations were read than may be.
pub fn cut(communicators: &mut Communicators) {
    let problem = only_the_first();
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
    fill_in_world_ranks(&mut operation, |rank| found.world_rank(rank));
    operation
}
