//! Sorts requests and messages into the queues of their communicators, in matching order.

use std::collections::{HashMap, HashSet};

use super::communicators::{self, Communicators, Found};
use super::detect::required;
use super::groups::Groups;
use super::peers::Peers;
use super::pool;
use super::requests::{Decoded, Decoder};
use super::shapes::{Ob1Shapes, Shapes};
use super::tags::InternalTags;
use super::unexpected::{Fragments, HeaderKinds};
use crate::address::TargetAddr;
use crate::layouts::Layouts;
use crate::model::{Operation, Queue, QueueState};
use crate::readers::ReaderError;
use crate::readers::walk::circular_list;
use crate::target::Target;

/// At most this many operations (2 Mi) are read from one process; a longer list is said to be cut.
pub const MAX_OPERATIONS: usize = 1 << 21;

/// At most this many communicators that do not exist yet are named.
const MAX_NAMED: usize = 4;

/// Reads all queues into the communicators.
///
/// # Errors
/// Where a pool of requests or a constant is missing; damage further on is told in the queues and problems.
pub fn read_all(
    target: &dyn Target,
    shapes: &Shapes,
    ob1: &Ob1Shapes,
    layouts: &Layouts,
    groups: &Groups<'_>,
    communicators: &mut Communicators,
) -> Result<(), ReaderError> {
    let fragments = Fragments::new(target, shapes, ob1, HeaderKinds::resolve(layouts, ob1)?);
    let tags = InternalTags::new(layouts);
    let peers = Peers { target, shapes, ob1, fragments: &fragments, tags: &tags };
    let mut decoder = Decoder::new(target, shapes, ob1, layouts, &tags)?;
    let mut room = MAX_OPERATIONS;

    let mut sends = Vec::new();
    let mut receives = Vec::new();
    let send_pool = required(target, "mca_pml_base_send_requests")?.addr;
    let receive_pool = required(target, "mca_pml_base_recv_requests")?.addr;
    let walked = pool::walk(target, shapes, ob1, send_pool, ob1.send.size, |record| {
        keep(decoder.send(&record), &mut sends, &mut room)
    });
    let sends_problem = pool_problem(walked, &mut communicators.problems);
    let walked = pool::walk(target, shapes, ob1, receive_pool, ob1.receive.size, |record| {
        keep(decoder.receive(&record), &mut receives, &mut room)
    });
    let receives_problem = pool_problem(walked, &mut communicators.problems);
    if decoder.impossible > 0 {
        let count = decoder.impossible;
        communicators.problems.push(format!("{count} requests are in a state that does not exist: memory is damaged"));
    }

    adopt_strangers(target, shapes, groups, communicators, sends.iter().chain(&receives));
    let owner = owners(communicators);
    let mut by_comm: Vec<(Vec<Decoded>, Vec<Decoded>)> =
        communicators.found.iter().map(|_| Default::default()).collect();
    let mut lost = 0;
    for (is_send, decoded) in
        sends.into_iter().map(|send| (true, send)).chain(receives.into_iter().map(|recv| (false, recv)))
    {
        match owner.get(&decoded.comm).map(|&index| &mut by_comm[index]) {
            Some((sends, receives)) => if is_send { sends } else { receives }.push(decoded),
            None => lost += 1,
        }
    }
    if lost > 0 {
        communicators.problems.push(format!("{lost} requests name a communicator that cannot be read"));
    }

    for (found, (mut sends, mut receives)) in communicators.found.iter_mut().zip(by_comm) {
        let mut state = peers.read(found, &mut room);
        peers.add_probes(&mut state, &mut decoder, &mut receives);
        // Numbers wrap: the distance to the newest one orders them, oldest first.
        receives.sort_by_key(|receive| {
            std::cmp::Reverse((state.receive_sequence as u32).wrapping_sub(receive.sequence as u32))
        });
        sends.sort_by_key(|send| {
            let newest = state.send_sequences.get(&send.peer).copied().unwrap_or_default();
            (send.peer, std::cmp::Reverse((newest as u16).wrapping_sub(send.sequence as u16)))
        });
        let internal_comm = found.local_comm;
        let finish = |decoded: Vec<Decoded>, found: &Found| -> Vec<Operation> {
            decoded.into_iter().map(|decoded| named(decoded, found, internal_comm)).collect()
        };
        found.facts.pending_sends.operations = finish(sends, found);
        found.facts.pending_receives.operations = finish(receives, found);
        fail(&mut found.facts.pending_sends, sends_problem.as_deref());
        fail(&mut found.facts.pending_receives, receives_problem.as_deref());
        fail(&mut found.facts.pending_receives, state.problems.receives.first().map(String::as_str));
        fail(&mut found.facts.unexpected_messages, state.problems.unexpected.first().map(String::as_str));
        let name = &found.facts.name;
        let all = state.problems.receives.into_iter().chain(state.problems.unexpected);
        communicators.problems.extend(all.map(|problem| format!("communicator {name:?}: {problem}")));
    }
    if room == 0 {
        communicators.problems.push(format!("only the first {MAX_OPERATIONS} operations were read"));
    }
    homeless(target, shapes, layouts, &fragments, communicators);
    Ok(())
}

fn keep(decoded: Option<Decoded>, into: &mut Vec<Decoded>, room: &mut usize) -> bool {
    if let Some(decoded) = decoded {
        if *room == 0 {
            return false;
        }
        *room -= 1;
        into.push(decoded);
    }
    true
}

fn pool_problem(walked: Result<pool::PoolWalk, ReaderError>, problems: &mut Vec<String>) -> Option<String> {
    let found = match walked {
        Ok(walk) => walk.problems,
        Err(error) => vec![error.to_string()],
    };
    let first = found.first().cloned();
    problems.extend(found);
    first
}

fn fail(queue: &mut Queue, problem: Option<&str>) {
    if let (Some(problem), QueueState::Ok) = (problem, queue.state) {
        queue.state = QueueState::Error;
        queue.detail = Some(problem.to_owned());
    }
}

/// Communicators that requests name but the table does not (it drops one at the start of MPI_Comm_free) are read
/// directly.
fn adopt_strangers<'d>(
    target: &dyn Target,
    shapes: &Shapes,
    groups: &Groups<'_>,
    communicators: &mut Communicators,
    decoded: impl Iterator<Item = &'d Decoded>,
) {
    let known = owners(communicators);
    let strangers: HashSet<TargetAddr> = decoded.map(|one| one.comm).filter(|comm| !known.contains_key(comm)).collect();
    let mut strangers: Vec<TargetAddr> = strangers.into_iter().collect();
    strangers.sort();
    let Ok(Some(class)) = target.symbol("ompi_communicator_t_class") else { return };
    let is_communicator =
        |at: &TargetAddr| target.read_pointer(at.wrapping_add(shapes.object.class.offset as u64)) == Ok(class.addr);
    for at in strangers.into_iter().filter(is_communicator) {
        if let Ok(found) = communicators::read_one(target, shapes, groups, at, &mut communicators.problems) {
            communicators.found.push(found);
        }
    }
}

/// Which communicator an operation is listed under: its own, or the intercommunicator whose internal local
/// communicator it uses.
fn owners(communicators: &Communicators) -> HashMap<TargetAddr, usize> {
    let mut owner = HashMap::new();
    for (index, found) in communicators.found.iter().enumerate() {
        if !found.local_comm.is_null() {
            owner.entry(found.local_comm).or_insert(index);
        }
    }
    owner.extend(communicators.found.iter().enumerate().map(|(index, found)| (found.addr, index)));
    owner
}

/// Fills in world ranks.
fn named(decoded: Decoded, found: &Found, internal_comm: TargetAddr) -> Operation {
    let mut operation = decoded.operation;
    if decoded.comm == internal_comm && !internal_comm.is_null() {
        // Ranks on the internal communicator are those of the local group.
        let group = found.facts.group.as_deref().unwrap_or_default();
        let world = |rank: Option<i64>| usize::try_from(rank?).ok().and_then(|rank| group.get(rank).copied().flatten());
        operation.desired_global_rank = world(operation.desired_local_rank);
        operation.actual_global_rank = world(operation.actual_local_rank);
        operation.internal = true;
        operation.extra_text.push("within the local group of the intercommunicator".into());
        return operation;
    }
    operation.desired_global_rank = operation.desired_local_rank.and_then(|rank| found.world_rank(rank));
    operation.actual_global_rank = operation.actual_local_rank.and_then(|rank| found.world_rank(rank));
    operation
}

/// Notes messages for communicators that this process has not made yet (`non_existing_communicator_pending`).
fn homeless(
    target: &dyn Target,
    shapes: &Shapes,
    layouts: &Layouts,
    fragments: &Fragments<'_>,
    communicators: &mut Communicators,
) {
    const LIMIT: usize = 1 << 16;
    let Ok(field) = layouts.field("mca_pml_ob1_t", "non_existing_communicator_pending") else { return };
    let Ok(Some(module)) = target.symbol("mca_pml_ob1") else { return };
    let list = module.addr.wrapping_add(field.offset);
    let sentinel = list.wrapping_add(shapes.list.sentinel.offset as u64);
    let walk = circular_list(target, sentinel, shapes.list_item.next.offset as u64, LIMIT);
    let mut by_context: Vec<(Option<u64>, usize)> = Vec::new();
    for at in walk.elements {
        let context = fragments.context(at);
        match by_context.iter_mut().find(|(known, _)| *known == context) {
            Some((_, count)) => *count += 1,
            None => by_context.push((context, 1)),
        }
    }
    communicators.notes.extend(by_context.into_iter().take(MAX_NAMED).map(|(context, count)| {
        let which = context.map_or_else(String::new, |context| format!(" (context {context})"));
        format!("messages for a communicator{which} that this process has not created yet: {count}")
    }));
    if let Some(stop) = walk.stopped {
        communicators.problems.push(format!("messages for communicators that do not exist yet: {stop}"));
    }
}
