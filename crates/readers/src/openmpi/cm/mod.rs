//! The pml cm, which leaves matching to an mtl, and that to a network's library.
//!
//! Requests are those of Open MPI's pools (ompi/mca/pml/cm, v4.1.4 and v5.0.7). Most keep neither source nor tag: these come from
//! what the mtl ofi and libfabric have of them. A blocking receive has its request on a thread's stack, and is found by
//! libfabric's entry alone.

mod bits;
pub mod held;
mod messages;
mod network;
mod requests;
pub mod shapes;

use std::collections::{HashMap, HashSet};

use self::network::Network;
use self::requests::{Decoded, Decoder, give_rank};
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

const OF_MESSAGE: &str = "on libfabric's list of messages that no receive has matched; its tag names the communicator";

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
        let blocking = network.answers.iter().filter(|(at, _)| !seen.contains(at));
        let mut unknown = 0;
        for (at, answer) in blocking {
            // Since 5.0 the number is the receiver's, and only where all members have agreed on it that of the sender, too.
            let number = network.bits.communicator(answer.word);
            let comm = numbers.get(&number).filter(|(_, agreed)| *agreed);
            match comm {
                Some((comm, _)) => {
                    let send = decoder.blocking_send(network, *at, answer, *comm);
                    keep(Some(send), &mut room, |send| of(&mut by_comm, &send).sends.push(send));
                }
                None => unknown += 1,
            }
        }
        if unknown > 0 {
            communicators.notes.push(format!(
                "blocking synchronous sends on communicators whose numbers are not known here: {unknown}"
            ));
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
    let mut messages = arrived(&network, &decoder, communicators, &mut room);
    let mut unknown_sends = 0;
    for found in &mut communicators.found {
        let Operations { sends, mut receives, inactive } = by_comm.remove(&found.addr).unwrap_or_default();
        // What libfabric has matched, or is done, was there before what waits; libfabric says in which order that will be matched.
        receives.sort_by_key(|receive| receive.order);
        unknown_sends += sends.iter().filter(|send| waits_for(send)).count();
        let finish = |all: Vec<Decoded>, found: &Found, is_send: bool| -> Vec<Operation> {
            let one = |Decoded { peer, mut operation, .. }: Decoded| {
                give_rank(network.as_ref().ok(), found, peer, is_send, &mut operation);
                operation
            };
            all.into_iter().map(one).map(|operation| named(operation, found)).collect()
        };
        found.facts.pending_sends.operations = finish(sends, found, true);
        found.facts.pending_receives.operations = finish(receives, found, false);
        found.facts.inactive = finish(inactive, found, false);
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
                found.facts.unexpected_messages = Queue::no_information(reason.as_str());
            }
            Some(reason) => incomplete(&mut found.facts.unexpected_messages, reason),
            None => {}
        }
        if let Some(reason) = missing_receives(&network) {
            incomplete(&mut found.facts.pending_receives, &reason);
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
    if unknown_sends > 1 {
        communicators.notes.push(ORDER_OF_SENDS.to_owned());
    }
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

/// Of sends that are on no list.
const ORDER_OF_SENDS: &str = "pending sends are listed as they lie in Open MPI's pool of requests: in which order they were posted is not \
                              known";

const BLOCKING_SENDS: &str =
    "blocking sends over the pml cm have no request that is found: the calls that threads are in tell them";

/// Communicators by their numbers, and whether all members have the same one.
fn numbers(communicators: &Communicators) -> HashMap<u64, (TargetAddr, bool)> {
    let agreed = |found: &Found| found.facts.context_id.as_deref() == Some(found.facts.unique_id.to_string().as_str());
    communicators.found.iter().map(|found| (found.facts.unique_id, (found.addr, agreed(found)))).collect()
}

/// Whether a send is still to be done.
fn waits_for(send: &Decoded) -> bool {
    send.operation.status == OperationStatus::Pending
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

/// Why receives that wait may be missing: only libfabric has those of blocking calls.
fn missing_receives(network: &Result<Network, Reason>) -> Option<String> {
    let reason = match network {
        Ok(network) => network.receives_problem.as_ref()?,
        Err(reason) => reason,
    };
    Some(format!("receives that only the network's library knows are not all read: {reason}"))
}

fn incomplete(queue: &mut Queue, reason: &str) {
    if queue.state == QueueState::Ok {
        queue.state = if queue.operations.is_empty() { QueueState::NoInformation } else { QueueState::Error };
        queue.detail = Some(reason.to_owned());
    }
}

/// Messages that nobody has asked for.
#[derive(Default)]
struct Arrived {
    by_comm: HashMap<TargetAddr, Vec<Operation>>,
    /// Why there may be more.
    missing: Option<String>,
    notes: Vec<String>,
}

fn arrived(
    network: &Result<Network, Reason>,
    decoder: &Decoder<'_>,
    communicators: &Communicators,
    room: &mut usize,
) -> Arrived {
    let network = match network {
        Ok(network) => network,
        Err(reason) => return Arrived { missing: Some(reason.to_string()), ..Arrived::default() },
    };
    let mut all = Arrived { missing: network.messages_problem.as_ref().map(ToString::to_string), ..Arrived::default() };
    let numbers: HashMap<u64, &Found> =
        communicators.found.iter().map(|found| (found.facts.unique_id, found)).collect();
    let mut elsewhere = 0_u64;
    let bits = network.bits;
    for message in network.messages.iter().filter(|message| !bits.is_answer(message.tag) && message.claimed.is_none()) {
        let Some(found) = numbers.get(&bits.communicator(message.tag)) else {
            elsewhere += 1;
            continue;
        };
        if *room == 0 {
            break;
        }
        *room -= 1;
        let by_address = || found.local_rank(network.rank(message.source?)?);
        let rank = bits.sender(message.tag, message.data).or_else(by_address);
        let tag = bits.tag(message.tag);
        let (internal, extra_text) = decoder.of_tag(tag);
        let mut operation = Operation {
            desired_local_rank: rank,
            desired_tag: Some(tag),
            desired_length: Some(message.length),
            actual_local_rank: rank,
            actual_tag: Some(tag),
            actual_length: Some(message.length),
            system_buffer: true,
            internal,
            extra_text,
            evidence: Some(OF_MESSAGE.into()),
            ..Operation::default()
        };
        operation.not_known("buffer", "it is in libfabric's own memory, perhaps not whole");
        if rank.is_none() {
            for fact in ["desired_local_rank", "desired_global_rank"] {
                operation.not_known(fact, "libfabric does not say which process sent it");
            }
        }
        all.by_comm.entry(found.addr).or_default().push(operation);
    }
    if elsewhere > 0 {
        all.notes.push(format!("messages for communicators that this process has not created yet: {elsewhere}"));
    }
    all
}
