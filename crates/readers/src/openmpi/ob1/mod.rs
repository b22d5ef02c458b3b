//! The pml ob1: requests and messages are sorted into the queues of their communicators, in matching order.

mod headers;
mod peers;
mod posted;
pub mod requests;
pub mod shapes;
pub mod shared_memory;
mod unexpected;

use std::collections::BTreeMap;

use self::headers::{Context, Headers};
use self::peers::Peers;
use self::requests::{Decoded, Decoder};
use self::shapes::Ob1Shapes;
use self::shared_memory::InTransit;
use self::unexpected::Fragments;
use super::assembly::Assembly;
use super::communicators::Communicators;
use super::groups::Groups;
use super::queues::fail;
use super::shapes::{PoolShapes, Shapes};
use super::tags::InternalTags;
use crate::queues::{self, NOT_CREATED, of_absent};
use crate::walk::circular_list;
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use target::Target;

/// After this many problems the rest of the messages for communicators that do not exist yet is left alone.
const MAX_PROBLEMS: usize = 4;

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
    let mut assembly = Assembly::new(|decoded: &Decoded| decoded.comm);
    assembly.read_pools(target, shapes, pools, &mut decoder, communicators)?;
    assembly.adopt(target, shapes, groups, communicators);
    let mut in_transit = InTransit::read(target, layouts, &headers, assembly.room);
    for found in &mut communicators.found {
        let mut operations = assembly.take(found.addr);
        let (sends, receives, room) = (&mut operations.sends, &mut operations.receives, &mut assembly.room);
        let mut state = peers.read(found, room);
        if found.pml_comm.is_null() && receives.iter().any(|receive| receive.posted) {
            state
                .problems
                .unexpected
                .push("receives are posted, but ob1's part of the communicator is missing".to_owned());
        }
        peers.add_in_transit(found, &state, &mut in_transit, room);
        peers.add_probes(&mut state, &mut decoder, receives, room);
        // Numbers wrap: the distance to the newest one orders them, oldest first. Cached keys, because the elements are large:
        // each is then moved once.
        receives.sort_by_cached_key(|receive| {
            std::cmp::Reverse((state.receive_sequence as u32).wrapping_sub(receive.sequence as u32))
        });
        sends.sort_by_cached_key(|send| {
            let newest = state.send_sequences.get(&send.peer).copied().unwrap_or_default();
            (send.peer, std::cmp::Reverse((newest as u16).wrapping_sub(send.sequence as u16)))
        });
        assembly.fill(found, operations, |decoded, _, _| decoded.operation);
        fail(&mut found.facts.pending_receives, state.problems.receives.first().map(String::as_str));
        fail(&mut found.facts.unexpected_messages, state.problems.unexpected.first().map(String::as_str));
        let name = &found.facts.name;
        let all = state.problems.receives.into_iter().chain(state.problems.unexpected);
        for problem in all {
            add_problem(&mut communicators.problems, format!("communicator {name:?}: {problem}"));
        }
    }
    assembly.end(communicators);
    unplaced(target, shapes, layouts, &fragments, &in_transit, communicators);
    communicators.notes.extend(in_transit.problem.map(|problem| queues::in_transit(&problem)));
    Ok(())
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
        if problems.len() >= MAX_PROBLEMS {
            break;
        }
    }
    communicators.notes.extend(of_absent(by_context, "messages for", NOT_CREATED));
    for problem in problems {
        let sentence = format!("messages for communicators that do not exist yet: {problem}");
        add_problem(&mut communicators.problems, sentence);
    }
}
