//! The pml cm, which leaves matching to an mtl, and that to a network's library.
//!
//! Requests are those of Open MPI's pools (ompi/mca/pml/cm, v4.1.4 and v5.0.7). Most keep neither source nor tag: these come from
//! what the mtl ofi and libfabric have of them. A blocking receive has its request on a thread's stack, and is found by
//! libfabric's entry alone.

mod arrived;
mod bits;
pub mod held;
mod messages;
mod network;
mod receives;
mod requests;
mod sends;
pub mod shapes;

pub use self::network::provider;

use std::collections::{BTreeMap, HashMap, HashSet};

use self::arrived::arrived;
use self::network::Network;
use self::requests::{Decoded, Decoder, with_rank};
use self::shapes::{CmShapes, OfiShapes};
use super::communicators::{Communicators, Found};
use super::detect::required;
use super::groups::Groups;
use super::pool;
use super::queues::{self, MAX_OPERATIONS, adopt_strangers, fail, keep, named, pool_problem};
use super::shapes::{PoolShapes, Shapes};
use super::tags::InternalTags;
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use model::{Operation, OperationStatus, Queue, QueueState};
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
    let mut room = MAX_OPERATIONS;
    let mut by_comm: HashMap<TargetAddr, Operations> = HashMap::new();
    let send_pool = required(target, "mca_pml_base_send_requests")?.addr;
    let receive_pool = required(target, "mca_pml_base_recv_requests")?.addr;

    let mut seen: HashSet<TargetAddr> = HashSet::new();
    let mut forgotten = 0_u64;
    let walked = pool::walk(target, shapes, pools, send_pool, cm.heavy_send.size, |record| {
        let mut waits = |at| {
            seen.insert(at);
        };
        let (inactive, send) = (decoder.inactive(&record), decoder.send(&record, &mut waits));
        // Nothing tells the application's from those of the library's collectives.
        let send = send.filter(|send| {
            let kept = send.operation.status != OperationStatus::Complete || send.operation.desired_tag.is_some();
            forgotten += u64::from(!kept);
            kept
        });
        let kept = keep(inactive, &mut room, |found| of(&mut by_comm, &found).inactive.push(found));
        kept && keep(send, &mut room, |send| of(&mut by_comm, &send).sends.push(send))
    });
    let dropped_sends = decoder.take_impossible();
    let sends_problem = pool_problem(walked, dropped_sends, &mut communicators.problems);
    let walked = pool::walk(target, shapes, pools, receive_pool, cm.heavy_receive.size, |record| {
        let mut waits = |at| {
            seen.insert(at);
        };
        let (inactive, receive) = (decoder.inactive(&record), decoder.receive(&record, &mut waits));
        let kept = keep(inactive, &mut room, |found| of(&mut by_comm, &found).inactive.push(found));
        kept && keep(receive, &mut room, |found| of(&mut by_comm, &found).receives.push(found))
    });
    let dropped_receives = decoder.take_impossible();
    let mut receives_problem = pool_problem(walked, dropped_receives, &mut communicators.problems);
    if let Ok(network) = &network {
        for (at, waiting) in network.receives.iter().filter(|(at, _)| !seen.contains(at)) {
            match decoder.blocking(network, *at, waiting) {
                Ok(found) => {
                    keep(Some(found), &mut room, |found| of(&mut by_comm, &found).receives.push(found));
                }
                Err(reason) => {
                    let problem = format!("a receive of libfabric leads to {at}: {reason}");
                    add_problem(&mut communicators.problems, problem.clone());
                    receives_problem.get_or_insert(problem);
                }
            }
        }
    }

    let numbers = numbers(communicators);
    if let Ok(network) = &network {
        let words = network.answers.iter().map(|(at, answer)| (*at, answer.word));
        let words = words.chain(network.sends.iter().map(|(at, sent)| (*at, sent.send.tag)));
        let blocking: BTreeMap<TargetAddr, u64> = words.filter(|(at, _)| !seen.contains(at)).collect();
        let mut unknown = 0;
        for (at, word) in blocking {
            // Since 5.0 the number is the receiver's, and only where all members have agreed on it that of the sender, too.
            let comm = numbers.get(&network.bits.communicator(word)).filter(|(_, agreed)| *agreed);
            match comm {
                Some((comm, _)) => {
                    let known = (network.answers.get(&at), network.sends.get(&at));
                    let send = decoder.blocking_send(network, at, known, *comm);
                    keep(send, &mut room, |send| of(&mut by_comm, &send).sends.push(send));
                }
                None => unknown += 1,
            }
        }
        if unknown > 0 {
            communicators
                .notes
                .push(format!("blocking sends on communicators whose numbers are not known here: {unknown}"));
        }
    }
    match messages::read(target, layouts, shapes, pools, &network) {
        Ok((found, problems)) => {
            for one in found {
                keep(Some(one), &mut room, |one| of(&mut by_comm, &one).receives.push(one));
            }
            for problem in problems {
                add_problem(&mut communicators.problems, problem.clone());
                receives_problem.get_or_insert(problem);
            }
        }
        Err(error) => add_problem(&mut communicators.problems, format!("matched messages: {error}")),
    }

    adopt_strangers(target, shapes, groups, communicators, by_comm.keys().copied());
    let mut messages = arrived(&network, &decoder, communicators, &mut room, own_rank(communicators));
    for found in &mut communicators.found {
        let Operations { mut sends, mut receives, inactive } = by_comm.remove(&found.addr).unwrap_or_default();
        // What libfabric has matched, or is done, was there before what waits; libfabric says in which order that will be matched.
        receives.sort_by_key(|receive| receive.order);
        sends.sort_by_key(|send| send.order);
        found.facts.pending_sends.unordered = unordered(&sends);
        let finish = |all: Vec<Decoded>, found: &Found, is_send: bool| -> Vec<Operation> {
            let one = |decoded: Decoded| with_rank(network.as_ref().ok(), found, decoded, is_send);
            all.into_iter().map(one).map(|operation| named(operation, found)).collect()
        };
        found.facts.pending_sends.operations = finish(sends, found, true);
        found.facts.pending_receives.operations = finish(receives, found, false);
        found.facts.inactive = finish(inactive, found, false).into();
        found.facts.unexpected_messages.operations = messages
            .by_comm
            .remove(&found.addr)
            .unwrap_or_default()
            .into_iter()
            .map(|operation| named(operation, found))
            .collect();
        (found.facts.pending_sends.dropped, found.facts.pending_receives.dropped) = (dropped_sends, dropped_receives);
        fail(&mut found.facts.pending_sends, sends_problem.as_deref());
        fail(&mut found.facts.pending_receives, receives_problem.as_deref());
        match &messages.missing {
            Some(reason) if found.facts.unexpected_messages.operations.is_empty() => {
                found.facts.unexpected_messages = Queue::no_information(reason.as_str()).into();
            }
            Some(reason) => incomplete(&mut found.facts.unexpected_messages, reason),
            None => {}
        }
        let facts = &mut found.facts;
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
    let lost: usize = by_comm.values().map(|lost| lost.sends.len() + lost.receives.len()).sum();
    if lost > 0 {
        let sentence = format!("{lost} requests name a communicator that cannot be read");
        for Found { facts, .. } in &mut communicators.found {
            fail(&mut facts.pending_sends, Some(&sentence));
            fail(&mut facts.pending_receives, Some(&sentence));
        }
        add_problem(&mut communicators.problems, sentence);
    }
    communicators.notes.extend(messages.notes);
    communicators.notes.push(BLOCKING_SENDS.to_owned());
    if forgotten > 0 {
        communicators.notes.push(format!(
            "sends that are complete, of which Open MPI keeps neither destination nor tag, and which are not listed: {forgotten} \
             (the library's own in a collective may be among them)"
        ));
    }
    if room == 0 {
        queues::cut(communicators);
    }
    queues::append_all_internal(communicators);
    Ok(())
}

const BLOCKING_SENDS: &str =
    "a blocking send that libfabric does not take yet is on no list: the calls that threads are in tell it";

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

/// What goes on in one communicator.
#[derive(Default)]
struct Operations {
    sends: Vec<Decoded>,
    receives: Vec<Decoded>,
    inactive: Vec<Decoded>,
}

fn of<'a>(by_comm: &'a mut HashMap<TargetAddr, Operations>, found: &Decoded) -> &'a mut Operations {
    by_comm.entry(found.comm).or_default()
}

/// The mtl ofi, or why it is not read.
fn network(target: &dyn Target, layouts: &Layouts, groups: &Groups<'_>) -> Result<Network, Reason> {
    Network::read(target, OfiShapes::resolve(layouts).map_err(Reason::of)?, groups)
}

fn incomplete(queue: &mut Queue, reason: &str) {
    if queue.state == QueueState::Ok {
        queue.state = if queue.operations.is_empty() { QueueState::NoInformation } else { QueueState::Error };
        queue.detail = Some(reason.to_owned());
    }
}
