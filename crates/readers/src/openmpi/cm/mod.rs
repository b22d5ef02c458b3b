//! The pml cm, which leaves matching to an mtl, and that to a network's library.
//!
//! Requests are those of Open MPI's pools (ompi/mca/pml/cm, v4.1.4 and v5.0.7). Most keep neither source nor tag: these come from
//! what the mtl ofi and libfabric have of them. A blocking receive has its request on a thread's stack, and is found by
//! libfabric's entry alone.

mod arrived;
mod bits;
pub mod held;
pub mod messages;
mod network;
mod receives;
mod requests;
mod sends;
pub mod shapes;

pub use self::network::provider;

use std::collections::{BTreeMap, HashMap};

use self::arrived::arrived;
use self::network::Network;
use self::requests::{Decoded, Decoder, with_rank};
use self::shapes::{CmShapes, OfiShapes};
use super::assembly::Assembly;
use super::communicators::{Communicators, Found};
use super::groups::Groups;
use super::shapes::{PoolShapes, Shapes};
use super::tags::InternalTags;
use crate::queues::left_out;
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use model::{OperationStatus, Queue, QueueKind, QueueState};
use target::address::TargetAddr;
use target::{Reason, Target};

/// Reads all queues into the communicators.
///
/// # Errors
/// Where a pool of requests or a constant is missing; damage further on is told in the queues and problems.
pub fn read_all(
    target: &dyn Target,
    shapes: &Shapes,
    layouts: &Layouts,
    groups: &Groups<'_>,
    communicators: &mut Communicators,
) -> Result<(), ReaderError> {
    let (cm, pools) = (&CmShapes::resolve(layouts)?, &PoolShapes::resolve(layouts)?);
    let network = network(target, layouts, groups);
    let tags = InternalTags::new(layouts);
    let mut decoder = Decoder::new(target, shapes, cm, layouts, &tags, &network)?;
    let mut assembly = Assembly::new(|decoded: &Decoded| decoded.comm);
    assembly.read_pools(target, shapes, pools, &mut decoder, communicators)?;
    if let Ok(network) = &network {
        blocking(network, &mut decoder, &mut assembly, communicators);
    }
    match messages::read(target, layouts, shapes, pools, &network) {
        Ok((found, problems)) => {
            for one in found {
                assembly.keep(Some(one), |all| &mut all.receives);
            }
            for problem in problems {
                assembly.fail(&[QueueKind::PendingReceives], problem, communicators);
            }
        }
        Err(error) => add_problem(&mut communicators.problems, format!("matched messages: {error}")),
    }

    assembly.adopt(target, shapes, groups, communicators);
    let mut messages = arrived(&network, &decoder, communicators, &mut assembly.room, own_rank(communicators));
    for found in &mut communicators.found {
        let mut operations = assembly.take(found.addr);
        // What libfabric has matched, or is done, was there before what waits; libfabric says in which order that will be matched.
        operations.receives.sort_by_key(|receive| receive.order);
        operations.sends.sort_by_key(|send| send.order);
        found.facts.pending_sends.unordered = unordered(&operations.sends);
        let known = network.as_ref().ok();
        assembly.fill(found, operations, |decoded, found, sends| with_rank(known, found, decoded, sends));
        let facts = &mut found.facts;
        facts.unexpected_messages.operations = messages.by_comm.remove(&found.addr).unwrap_or_default();
        if let Some(reason) = &messages.missing {
            incomplete(&mut facts.unexpected_messages, reason);
        }
        for (queue, what, problem) in [
            (&mut facts.pending_receives, "receives", network.as_ref().map(|network| &network.receives_problem)),
            (&mut facts.pending_sends, "sends", network.as_ref().map(|network| &network.sends_problem)),
        ] {
            // Only libfabric has those of blocking calls.
            if let Some(reason) = problem.map_or_else(Some, Option::as_ref) {
                incomplete(queue, &format!("{what} that only the network's library knows are not all read: {reason}"));
            }
        }
    }
    communicators.notes.extend(messages.notes);
    communicators.notes.push(BLOCKING_SENDS.to_owned());
    if decoder.forgotten > 0 {
        communicators.notes.push(left_out(decoder.forgotten, "Open MPI keeps neither destination nor tag"));
    }
    assembly.end(communicators);
    Ok(())
}

/// Adds what only the network has, as its request lies on a stack: receives that wait, and sends that are not done.
fn blocking(
    network: &Network,
    decoder: &mut Decoder<'_>,
    assembly: &mut Assembly<TargetAddr, Decoded>,
    communicators: &mut Communicators,
) {
    let seen = std::mem::take(&mut decoder.seen);
    for (at, waiting) in network.receives.iter().filter(|(at, _)| !seen.contains(at)) {
        match decoder.blocking(network, *at, waiting) {
            Ok(found) => {
                assembly.keep(Some(found), |all| &mut all.receives);
            }
            Err(reason) => {
                let problem = format!("a receive of libfabric leads to {at}: {reason}");
                assembly.fail(&[QueueKind::PendingReceives], problem, communicators);
            }
        }
    }
    let numbers = numbers(communicators);
    let words = network.answers.iter().map(|(at, answer)| (*at, answer.word));
    let words = words.chain(network.sends.iter().map(|(at, sent)| (*at, sent.send.tag)));
    let blocking: BTreeMap<TargetAddr, u64> = words.filter(|(at, _)| !seen.contains(at)).collect();
    let mut unknown = 0;
    for (at, word) in blocking {
        // Since 5.0 the number is the receiver's, and only where all members have agreed on it that of the sender, too.
        match numbers.get(&network.bits.communicator(word)).filter(|(_, agreed)| *agreed) {
            Some((comm, _)) => {
                let known = (network.answers.get(&at), network.sends.get(&at));
                assembly.keep(decoder.blocking_send(network, at, known, *comm), |all| &mut all.sends);
            }
            None => unknown += 1,
        }
    }
    if unknown > 0 {
        let sentence = format!("blocking sends on communicators whose numbers are not known here: {unknown}");
        communicators.notes.push(sentence);
    }
}

const BLOCKING_SENDS: &str =
    "a blocking send that libfabric does not take yet is on no list: the calls that threads are in show it";

/// This process's rank in MPI_COMM_WORLD.
fn own_rank(communicators: &Communicators) -> Option<i64> {
    let own = |found: &Found| found.world_rank(found.facts.local_rank?).filter(|_| found.facts.remote_group.is_none());
    communicators.found.iter().find_map(own)
}

/// Communicators by their numbers, and whether all members have the same one.
fn numbers(communicators: &Communicators) -> HashMap<u64, (TargetAddr, bool)> {
    let agreed = |found: &Found| found.facts.context_id.as_deref() == Some(found.facts.unique_id.to_string().as_str());
    communicators.found.iter().map(|found| (found.facts.unique_id, (found.addr, agreed(found)))).collect()
}

/// How many sends that are not done stand in no known order: all of a communicator, where that of one is not known.
fn unordered(sends: &[Decoded]) -> u64 {
    let waiting = || sends.iter().filter(|send| send.operation.status == OperationStatus::Pending);
    if waiting().all(|send| send.in_order) { 0 } else { waiting().count() as u64 }
}

/// The mtl ofi, or why it is not read.
fn network(target: &dyn Target, layouts: &Layouts, groups: &Groups<'_>) -> Result<Network, Reason> {
    Network::read(target, OfiShapes::resolve(layouts)?, groups)
}

fn incomplete(queue: &mut Queue, reason: &str) {
    if queue.state == QueueState::Ok {
        queue.state = if queue.operations.is_empty() { QueueState::NoInformation } else { QueueState::Error };
        queue.detail = Some(reason.to_owned());
    }
}
