//! The pml ob1: requests and messages are sorted into the queues of their communicators, in matching order.

mod headers;
mod peers;
mod posted;
pub mod requests;
pub mod shapes;
mod shared_memory;
mod unexpected;

use std::collections::{BTreeMap, HashMap, HashSet};

use self::headers::{Context, Headers};
use self::peers::Peers;
use self::requests::{Decoded, Decoder};
use self::shapes::Ob1Shapes;
use self::shared_memory::InTransit;
use self::unexpected::Fragments;
use super::communicators::{Communicators, Found};
use super::detect::required;
use super::groups::Groups;
use super::pool;
use super::queues::{self, MAX_OPERATIONS, adopt_strangers, fail, keep, named, pool_problem};
use super::shapes::{PoolShapes, Shapes};
use super::tags::InternalTags;
use crate::walk::circular_list;
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use model::Operation;
use target::Target;
use target::address::TargetAddr;

/// At most this many communicators that do not exist yet are named.
const MAX_NAMED: usize = 4;

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
    let (ob1, pools) = (&Ob1Shapes::resolve(layouts)?, &PoolShapes::resolve(layouts)?);
    let headers = Headers::resolve(layouts, ob1)?;
    let fragments = Fragments::new(target, shapes, ob1, &headers);
    let tags = InternalTags::new(layouts);
    let peers = Peers::new(target, shapes, ob1, &fragments, &tags);
    let mut decoder = Decoder::new(target, shapes, ob1, layouts, &tags)?;
    let mut room = MAX_OPERATIONS;

    // By communicator at once: a hundred thousand operations are moved as seldom as possible.
    let mut by_comm: HashMap<TargetAddr, Requests> = HashMap::new();
    let send_pool = required(target, "mca_pml_base_send_requests")?.addr;
    let receive_pool = required(target, "mca_pml_base_recv_requests")?.addr;
    let walked = pool::walk(target, shapes, pools, send_pool, ob1.send.size, |record| {
        if let Some(inactive) = decoder.inactive(&record) {
            return keep(Some(inactive), &mut room, |found| {
                by_comm.entry(found.comm).or_default().inactive.push(found)
            });
        }
        keep(decoder.send(&record), &mut room, |send| by_comm.entry(send.comm).or_default().sends.push(send))
    });
    let mut dropped_sends = decoder.take_impossible();
    let mut sends_problem = pool_problem(walked, dropped_sends, &mut communicators.problems);
    let walked = pool::walk(target, shapes, pools, receive_pool, ob1.receive.size, |record| {
        if let Some(inactive) = decoder.inactive(&record) {
            return keep(Some(inactive), &mut room, |found| {
                by_comm.entry(found.comm).or_default().inactive.push(found)
            });
        }
        keep(decoder.receive(&record), &mut room, |found| by_comm.entry(found.comm).or_default().receives.push(found))
    });
    let mut dropped_receives = decoder.take_impossible();
    let mut receives_problem = pool_problem(walked, dropped_receives, &mut communicators.problems);

    adopt_strangers(target, shapes, groups, communicators, by_comm.keys().copied());
    let known: HashSet<TargetAddr> = communicators.found.iter().map(|found| found.addr).collect();
    let (mut lost_sends, mut lost_receives) = (0, 0);
    for (_, lost) in by_comm.iter().filter(|(comm, _)| !known.contains(comm)) {
        lost_sends += lost.sends.len();
        lost_receives += lost.receives.len();
    }
    dropped_sends += lost_sends as u64;
    dropped_receives += lost_receives as u64;
    // Any queue may lack them.
    for (lost, problem) in [(lost_sends, &mut sends_problem), (lost_receives, &mut receives_problem)] {
        if lost > 0 {
            let sentence = format!("{lost} requests name a communicator that cannot be read");
            add_problem(&mut communicators.problems, sentence.clone());
            problem.get_or_insert(sentence);
        }
    }

    let mut in_transit = InTransit::read(target, layouts, &headers, room);
    for found in &mut communicators.found {
        let Requests { mut sends, mut receives, inactive } = by_comm.remove(&found.addr).unwrap_or_default();
        let mut state = peers.read(found, &mut room);
        if found.pml_comm.is_null() && receives.iter().any(|receive| receive.posted) {
            state
                .problems
                .unexpected
                .push("receives are posted, but ob1's part of the communicator is missing".to_owned());
        }
        peers.add_in_transit(found, &state, &mut in_transit, &mut room);
        peers.add_probes(&mut state, &mut decoder, &mut receives, &mut room);
        // Numbers wrap: the distance to the newest one orders them, oldest first. Cached keys, because the elements are large:
        // each is then moved once.
        receives.sort_by_cached_key(|receive| {
            std::cmp::Reverse((state.receive_sequence as u32).wrapping_sub(receive.sequence as u32))
        });
        sends.sort_by_cached_key(|send| {
            let newest = state.send_sequences.get(&send.peer).copied().unwrap_or_default();
            (send.peer, std::cmp::Reverse((newest as u16).wrapping_sub(send.sequence as u16)))
        });
        let finish = |decoded: Vec<Decoded>, found: &Found| -> Vec<Operation> {
            decoded.into_iter().map(|decoded| named(decoded.operation, found)).collect()
        };
        found.facts.pending_sends.operations = finish(sends, found);
        found.facts.pending_receives.operations = finish(receives, found);
        found.facts.inactive = finish(inactive, found).into();
        (found.facts.pending_sends.dropped, found.facts.pending_receives.dropped) = (dropped_sends, dropped_receives);
        fail(&mut found.facts.pending_sends, sends_problem.as_deref());
        fail(&mut found.facts.pending_receives, receives_problem.as_deref());
        fail(&mut found.facts.pending_receives, state.problems.receives.first().map(String::as_str));
        fail(&mut found.facts.unexpected_messages, state.problems.unexpected.first().map(String::as_str));
        let name = &found.facts.name;
        let all = state.problems.receives.into_iter().chain(state.problems.unexpected);
        for problem in all {
            add_problem(&mut communicators.problems, format!("communicator {name:?}: {problem}"));
        }
    }
    if room == 0 {
        queues::cut(communicators);
    }
    queues::append_all_internal(communicators);
    unplaced(target, shapes, layouts, &fragments, &in_transit, communicators);
    if let Some(problem) = in_transit.problem {
        communicators.notes.push(format!("messages that lie in shared memory could not all be read: {problem}"));
    }
    Ok(())
}

/// The requests of one communicator.
#[derive(Default)]
struct Requests {
    sends: Vec<Decoded>,
    receives: Vec<Decoded>,
    inactive: Vec<Decoded>,
}

/// Notes messages for communicators that this process has not made yet: those that have come (`non_existing_communicator_pending`)
/// and those in transit.
fn unplaced(
    target: &dyn Target,
    shapes: &Shapes,
    layouts: &Layouts,
    fragments: &Fragments<'_>,
    in_transit: &InTransit,
    communicators: &mut Communicators,
) {
    const LIMIT: usize = 1 << 16;
    let mut by_context: BTreeMap<Context, u64> = in_transit.others().collect();
    let mut problems: Vec<String> = Vec::new();
    let field = layouts.field("mca_pml_ob1_t", "non_existing_communicator_pending").ok();
    let list = field.zip(target.symbol("mca_pml_ob1").ok().flatten()).map(|(field, module)| {
        let list = module.addr.wrapping_add(field.offset);
        let sentinel = shapes.list.sentinel.address_in(list);
        circular_list(target, sentinel, shapes.list_item.next.offset as u64, LIMIT)
    });
    let elements = list.map(|walk| {
        problems.extend(walk.stopped.map(|stop| stop.to_string()));
        walk.elements
    });
    for at in elements.unwrap_or_default() {
        match fragments.context(at) {
            Ok(context) => *by_context.entry(context).or_default() += 1,
            Err(error) => problems.push(error.to_string()),
        }
        if problems.len() >= MAX_NAMED {
            break;
        }
    }
    let left_out: u64 = by_context.values().skip(MAX_NAMED).sum();
    communicators.notes.extend(by_context.into_iter().take(MAX_NAMED).map(|(context, count)| {
        format!("messages for a communicator (context {context}) that this process has not created yet: {count}")
    }));
    if left_out > 0 {
        let sentence = format!("messages for further communicators that this process has not created yet: {left_out}");
        communicators.notes.push(sentence);
    }
    for problem in problems {
        let sentence = format!("messages for communicators that do not exist yet: {problem}");
        add_problem(&mut communicators.problems, sentence);
    }
}
