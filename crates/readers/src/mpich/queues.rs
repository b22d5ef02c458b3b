//! The queues of all communicators, from whatever the device keeps them in.
//!
//! Every request is decoded once, by who knows it, and sorted into the queue of its communicator. The library's lists say
//! which receives still wait, and in which order messages are matched.

use std::collections::HashMap;

use super::MpichProcess;
use super::communicators::Communicators;
use super::datatypes::Datatypes;
use super::debug_lists::DebugLists;
use super::decoder::{Decoder, Row};
use super::fill::{States, fill};
use super::lists::{self, Links};
use super::netmod::network;
use super::requests::{Kind, Kinds, Request, RequestShape, walk};
use super::rows::{Rows, Unknown};
use super::shapes::Shapes;
use super::shared_memory;
use super::transport::{Around, Decoded};
use crate::queues::{self, FREED, MAX_OPERATIONS, NOT_CREATED, left_out, of_absent};
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use model::{OperationStatus, QueueKind, QueueState};
use target::Target;
use target::address::TargetAddr;

/// Reads the queues into the communicators.
///
/// # Errors
/// Where nothing can be read.
pub fn read_all(
    target: &dyn Target,
    layouts: &Layouts,
    shapes: &Shapes,
    process: &MpichProcess,
    all: &mut Communicators,
    notes: &mut Vec<String>,
) -> Result<(), ReaderError> {
    let device = process.library.device.clone().unwrap_or_default();
    let shape = RequestShape::resolve(layouts)?;
    let kinds = Kinds::resolve(layouts)?;
    let decoder = Decoder::new(layouts, &device, process.abi)?;
    let mut found = Rows::default();
    let datatypes = Datatypes::new(target, &process.pools, &shapes.datatype);
    let mut around = Around { target, communicators: all, datatypes };
    let next = shapes.header.next.offset as u64;
    let requests = (&shape, &kinds);
    let communicators = around.communicators;
    let mut network = network(target, layouts, &process.pools, &device, requests, next, communicators)?;
    let receives = decoder.old_receives(target, communicators, MAX_OPERATIONS);
    let pass = walk(target, &shape, &kinds, &process.pools, next, around.communicators, |request| {
        // Requests of 3.4 are of the communicator that has them on its list; sends are on none.
        let request = Request { comm: request.comm.or_else(|| receives.get(&request.at).copied()), ..*request };
        if decoder.lists_in_communicators() && request.kind == Kind::Send && request.comm.is_none() {
            found.forgetful_sends += u64::from(!request.complete());
        } else {
            found.take(decoder.decode(&request, &mut *network, &mut around));
        }
        found.rows.len() + found.inactive.len() < MAX_OPERATIONS
    })?;
    found.persistent(&decoder);
    let debug = DebugLists::read(target, layouts, MAX_OPERATIONS);
    let waits = |row: &&Row| row.decoded.operation.status != OperationStatus::Complete;
    let links = found.rows.iter().filter(waits).filter_map(|row| Some((row.at, row.links?)));
    let links: HashMap<TargetAddr, Links> = links.collect();
    let lists = lists::find(target, &process.pools, &links)?;
    let lists = lists.into_iter().chain(decoder.old_lists(target, around.communicators, found.rows.len()));
    let unordered = found.order(lists.collect(), &decoder, &around);
    let unordered_sends = found.complete(&debug, &decoder);
    if found.networks_order_is_lost() {
        notes.push(ORDER_OF_RECEIVES.to_owned());
    }
    let forgotten = found.drop_forgotten();
    if forgotten > 0 {
        notes.push(left_out(forgotten as u64, "MPICH keeps nothing else"));
    }
    let unexpected = match decoder.uses_network() {
        true => network.unexpected(&mut around)?,
        false => super::transport::Unexpected::default(),
    };
    // It looks at the communicators, which are filled now.
    drop(network);
    let communicators = around.communicators;
    let in_transit = shared_memory::read(target, layouts, &process.pools.ranges, communicators, MAX_OPERATIONS)?;
    in_transit.unplaced.iter().for_each(|context| *found.unplaced.entry(*context).or_default() += 1);
    let unknown = found.unknown.into_iter().map(|((queue, comm), count)| {
        // What goes on in the library's own communicators belongs to those they are parts of.
        ((queue, comm.map(|comm| communicators.owner(comm))), count)
    });
    let unknown = unknown.fold(Unknown::new(), |mut unknown, (place, count)| {
        *unknown.entry(place).or_default() += count;
        unknown
    });
    let mut states = States::of(&pass, &debug, unordered, unknown);
    if found.forgetful_sends > 0 {
        let why = format!("{} sends do not name their communicator in this release", found.forgetful_sends);
        states.sends.get_or_insert((QueueState::NoInformation, why));
    }
    if found.perhaps_messages > 0 {
        let why = format!(
            "{} requests may be messages that have arrived; no list of such messages was found in the library's variables",
            found.perhaps_messages
        );
        states.unexpected.get_or_insert((QueueState::NoInformation, why));
    }
    states.network = unexpected.incomplete;
    states.local = shape.is_local.is_some() && around.communicators.one_node();
    let mut sorted: HashMap<(usize, QueueKind), Vec<Decoded>> = HashMap::new();
    let decoded = found.rows.into_iter().map(|row| row.decoded).chain(unexpected.messages);
    let decoded = decoded.chain(in_transit.messages);
    for decoded in decoded {
        sorted.entry((decoded.comm, decoded.queue)).or_default().push(decoded);
    }
    for problem in pass.problems.into_iter().chain(debug.problems) {
        add_problem(&mut all.problems, problem);
    }
    fill(all, sorted, &states);
    for (comm, count) in unordered_sends {
        let owner = all.owner(comm);
        if let Some(found) = all.found.get_mut(owner) {
            found.facts.pending_sends.unordered += count;
        }
    }
    for (comm, mut operation) in found.inactive {
        if let Some(found) = all.found.get_mut(comm) {
            operation.desired_global_rank = operation.desired_local_rank.and_then(|rank| found.world_rank(rank));
            found.facts.inactive.push(operation);
        }
    }
    notes.extend(in_transit.problem.or(unexpected.in_transit).map(|problem| queues::in_transit(&problem)));
    notes.extend(of_absent(found.unplaced, "messages for", NOT_CREATED));
    notes.extend(of_absent(found.abandoned, "requests on", FREED));
    Ok(())
}

const ORDER_OF_RECEIVES: &str = "pending receives that the network has are listed after those that MPICH has on its own lists, and over libfabric \
                                 as they lie in MPICH's pool of requests: their order is not known";
