//! Sorts requests and messages into the queues of their communicators, in matching order.

use std::collections::{HashMap, HashSet};

use super::communicators::{self, Communicators, Found};
use super::detect::required;
use super::groups::Groups;
use super::pool;
use super::requests::{Decoded, Decoder};
use super::shapes::{Ob1Shapes, Shapes};
use super::unexpected::{Fragments, HeaderKinds, Message};
use crate::address::TargetAddr;
use crate::layouts::Layouts;
use crate::model::{Operation, Queue, QueueState};
use crate::readers::ReaderError;
use crate::readers::record::Record;
use crate::readers::walk::{Stop, circular_list};
use crate::target::Target;

/// At most this many operations (2 Mi) are read from one process; a longer list is said to be cut.
const MAX_OPERATIONS: usize = 1 << 21;

/// A communicator never has more peers than this (4 Mi).
const MAX_PEERS: u64 = 1 << 22;

/// A problem is told this many times for each communicator.
const MAX_SAME_PROBLEM: usize = 4;

/// ob1's state of one communicator.
#[derive(Default)]
struct CommState {
    /// The number that its next receive will get.
    receive_sequence: u64,
    /// Lengths of its lists of posted receives, added up.
    posted_in_lists: u64,
    /// The lists themselves.
    posted_lists: Vec<TargetAddr>,
    /// The number of the last send to each peer.
    send_sequences: HashMap<i64, u64>,
}

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
    let mut decoder = Decoder::new(target, shapes, ob1, layouts)?;
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
    let mut by_comm: Vec<(Vec<Decoded>, Vec<Decoded>)> = communicators.found.iter().map(|_| Default::default()).collect();
    let mut lost = 0;
    for (is_send, decoded) in sends.into_iter().map(|send| (true, send)).chain(receives.into_iter().map(|recv| (false, recv))) {
        match owner.get(&decoded.comm).map(|&index| &mut by_comm[index]) {
            Some((sends, receives)) => if is_send { sends } else { receives }.push(decoded),
            None => lost += 1,
        }
    }
    if lost > 0 {
        communicators.problems.push(format!("{lost} requests name a communicator that cannot be read"));
    }

    for (found, (mut sends, mut receives)) in communicators.found.iter_mut().zip(by_comm) {
        let mut problems = Problems::default();
        let state = read_state(target, shapes, ob1, &fragments, found, &mut room, &mut problems);
        let from_pool: HashSet<TargetAddr> = receives.iter().filter(|receive| receive.posted).map(address).collect();
        if from_pool.len() as u64 != state.posted_in_lists {
            // A blocking probe's request lies on the stack of its thread; only the lists know it.
            probes(target, shapes, ob1, &mut decoder, &state, &from_pool, &mut receives, &mut problems);
        }
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
        fail(&mut found.facts.pending_receives, problems.receives.first().map(String::as_str));
        fail(&mut found.facts.unexpected_messages, problems.unexpected.first().map(String::as_str));
        let name = &found.facts.name;
        let all = problems.receives.into_iter().chain(problems.unexpected);
        communicators.problems.extend(all.map(|problem| format!("communicator {name:?}: {problem}")));
    }
    if room == 0 {
        communicators.problems.push(format!("only the first {MAX_OPERATIONS} operations were read"));
    }
    homeless(target, shapes, layouts, &fragments, communicators);
    Ok(())
}

#[derive(Default)]
struct Problems {
    receives: Vec<String>,
    unexpected: Vec<String>,
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

fn address(decoded: &Decoded) -> TargetAddr {
    TargetAddr::new(decoded.operation.request.unwrap_or_default())
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

/// Reads ob1's part of a communicator: the messages in it go to its queue at once.
fn read_state(
    target: &dyn Target,
    shapes: &Shapes,
    ob1: &Ob1Shapes,
    fragments: &Fragments<'_>,
    found: &mut Found,
    room: &mut usize,
    problems: &mut Problems,
) -> CommState {
    let mut state = CommState::default();
    if found.pml_comm.is_null() {
        // The communicator is being made, or ob1 has already let go of it: no message can be for it.
        return state;
    }
    let shape = &ob1.pml_comm;
    let mut buffer = Vec::new();
    let record = match Record::read(target, found.pml_comm, shape.size, &mut buffer) {
        Ok(record) => record,
        Err(error) => {
            problems.receives.push(error.to_string());
            problems.unexpected.push(error.to_string());
            return state;
        }
    };
    state.receive_sequence = record.uint(shape.sequence);
    note_list(target, shapes, record.address_of(shape.wild_receives), &mut state);
    let peers = record.uint(shape.num_procs);
    let width = target.abi().pointer_width.bytes();
    let table = if peers > MAX_PEERS {
        Err(format!("ob1 has {peers} peers for it"))
    } else {
        let at = record.pointer(shape.procs);
        target.read_bytes(at, (peers * width) as usize).map_err(|error| error.to_string())
    };
    let table = match table {
        Ok(table) => table,
        Err(problem) => {
            problems.receives.push(problem.clone());
            problems.unexpected.push(problem);
            return state;
        }
    };
    for (peer, pointer) in (0..).zip(table.chunks_exact(width as usize)) {
        let at = TargetAddr::new(target.abi().uint(pointer));
        if !at.is_null() {
            read_peer(target, shapes, ob1, fragments, found, peer, at, &mut state, room, problems);
        }
    }
    state
}

fn note_list(target: &dyn Target, shapes: &Shapes, list: TargetAddr, state: &mut CommState) {
    let len = shapes.list.len;
    // A list whose length cannot be read is walked, which will say so.
    let count = target.read_uint(list.wrapping_add(len.offset as u64), len.size as u64).unwrap_or(u64::MAX);
    state.posted_in_lists = state.posted_in_lists.saturating_add(count);
    state.posted_lists.push(list);
}

#[allow(clippy::too_many_arguments)]
fn read_peer(
    target: &dyn Target,
    shapes: &Shapes,
    ob1: &Ob1Shapes,
    fragments: &Fragments<'_>,
    found: &mut Found,
    peer: i64,
    at: TargetAddr,
    state: &mut CommState,
    room: &mut usize,
    problems: &mut Problems,
) {
    let shape = &ob1.pml_proc;
    let mut buffer = Vec::new();
    let record = match Record::read(target, at, shape.size, &mut buffer) {
        Ok(record) => record,
        Err(error) => {
            if problems.unexpected.len() < MAX_SAME_PROBLEM {
                problems.receives.push(format!("peer {peer}: {error}"));
                problems.unexpected.push(format!("peer {peer}: {error}"));
            }
            return;
        }
    };
    state.send_sequences.insert(peer, record.uint(shape.send_sequence));
    note_list(target, shapes, record.address_of(shape.specific_receives), state);
    let (mut messages, stopped) = fragments.list(record.address_of(shape.unexpected), *room);
    tell(stopped, peer, problems);
    let early = record.pointer(shape.out_of_order);
    if !early.is_null() {
        let (more, stopped) = fragments.out_of_order(early, record.uint(shape.expected_sequence), *room);
        tell(stopped, peer, problems);
        messages.extend(more);
    }
    for message in messages {
        take(message, found, peer, room, problems);
    }
}

fn tell(stopped: Option<Stop>, peer: i64, problems: &mut Problems) {
    if let Some(stop) = stopped
        && problems.unexpected.len() < MAX_SAME_PROBLEM
    {
        problems.unexpected.push(format!("messages from peer {peer}: {stop}"));
    }
}

fn take(message: Message, found: &mut Found, peer: i64, room: &mut usize, problems: &mut Problems) {
    let problem = match message {
        Ok(mut operation) => {
            let source = operation.desired_local_rank.unwrap_or_default();
            operation.desired_global_rank = found.world_rank(source);
            operation.actual_global_rank = operation.desired_global_rank;
            operation.internal = operation.desired_tag.is_some_and(|tag| tag < 0);
            *room = room.saturating_sub(1);
            let damaged = (source != peer).then(|| format!("a message from {source} lies in the list of peer {peer}"));
            found.facts.unexpected_messages.operations.push(operation);
            damaged
        }
        Err(error) => Some(error.to_string()),
    };
    if let Some(problem) = problem
        && problems.unexpected.len() < MAX_SAME_PROBLEM
    {
        problems.unexpected.push(problem);
    }
}

/// Finds the posted requests that do not come from the pool.
#[allow(clippy::too_many_arguments)]
fn probes(
    target: &dyn Target,
    shapes: &Shapes,
    ob1: &Ob1Shapes,
    decoder: &mut Decoder<'_>,
    state: &CommState,
    from_pool: &HashSet<TargetAddr>,
    receives: &mut Vec<Decoded>,
    problems: &mut Problems,
) {
    let mut buffer = Vec::new();
    for list in &state.posted_lists {
        let sentinel = list.wrapping_add(shapes.list.sentinel.offset as u64);
        let walk = circular_list(target, sentinel, shapes.list_item.next.offset as u64, MAX_OPERATIONS);
        for at in walk.elements.into_iter().filter(|at| !from_pool.contains(at)) {
            match Record::read(target, at, ob1.receive.size, &mut buffer) {
                Ok(record) => receives.extend(decoder.receive(&record)),
                Err(error) if problems.receives.len() < MAX_SAME_PROBLEM => problems.receives.push(error.to_string()),
                Err(_) => {}
            }
        }
        if let Some(stop) = walk.stopped
            && problems.receives.len() < MAX_SAME_PROBLEM
        {
            problems.receives.push(format!("posted receives: {stop}"));
        }
    }
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
    communicators.notes.extend(by_context.into_iter().take(MAX_SAME_PROBLEM).map(|(context, count)| {
        let which = context.map_or_else(String::new, |context| format!(" (context {context})"));
        format!("messages for a communicator{which} that this process has not created yet: {count}")
    }));
    if let Some(stop) = walk.stopped {
        communicators.problems.push(format!("messages for communicators that do not exist yet: {stop}"));
    }
}
