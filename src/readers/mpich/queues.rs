//! The queues of all communicators, from whatever the device keeps them in.
//!
//! Every request is decoded once, by who knows it, and sorted into the queue of its communicator. The library's lists say
//! which receives still wait, and in which order messages are matched.

use std::collections::{BTreeMap, HashMap};

use super::MpichProcess;
use super::communicators::{Communicators, Found};
use super::datatypes::Datatypes;
use super::debug_lists::DebugLists;
use super::decoder::{Decoder, Persistent, Row};
use super::lists::{self, Links, List};
use super::netmod::network;
use super::requests::{Kind, Kinds, Pass, Request, RequestShape, walk};
use super::shapes::Shapes;
use super::transport::{Around, Decoded, Kept};
use crate::address::TargetAddr;
use crate::layouts::Layouts;
use crate::model::{Operation, OperationStatus, Queue, QueueState};
use crate::readers::{ReaderError, add_problem};
use crate::target::Target;

/// At most this many operations (2 Mi) are read from one process; a longer list is said to be cut.
pub const MAX_OPERATIONS: usize = 1 << 21;

/// At most this many communicators that do not exist yet are named.
const MAX_NAMED: usize = 4;

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
        found.rows.len() < MAX_OPERATIONS
    })?;
    found.persistent(&decoder);
    let debug = DebugLists::read(target, layouts, MAX_OPERATIONS);
    let waits = |row: &&Row| row.decoded.operation.status != OperationStatus::Complete;
    let links = found.rows.iter().filter(waits).filter_map(|row| Some((row.at, row.links?)));
    let links: HashMap<TargetAddr, Links> = links.collect();
    let lists = lists::find(target, &process.pools, &links)?;
    let lists = lists.into_iter().chain(decoder.old_lists(target, around.communicators, found.rows.len()));
    let unordered = found.order(lists.collect(), &decoder, &around);
    if found.complete(&debug, &decoder) > 1 {
        notes.push(ORDER_OF_SENDS.to_owned());
    }
    let forgotten = found.drop_forgotten();
    if forgotten > 0 {
        notes.push(format!(
            "sends that are complete, of which MPICH keeps nothing else, and which are not listed: {forgotten} \
             (the library's own in a collective may be among them)"
        ));
    }
    let unexpected = match decoder.uses_network() {
        true => network.unexpected(&mut around)?,
        false => super::transport::Unexpected::default(),
    };
    // It looks at the communicators, which are filled now.
    drop(network);
    let communicators = around.communicators;
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
    states.network = unexpected.incomplete;
    states.local = shape.is_local.is_some() && around.communicators.one_node();
    let mut sorted: HashMap<(usize, Kept), Vec<Decoded>> = HashMap::new();
    let decoded = found.rows.into_iter().map(|row| row.decoded).chain(unexpected.messages);
    for decoded in decoded {
        sorted.entry((decoded.comm, decoded.queue)).or_default().push(decoded);
    }
    for problem in pass.problems.into_iter().chain(debug.problems) {
        add_problem(&mut all.problems, problem);
    }
    fill(all, sorted, &states);
    notes.extend(by_context(found.homeless, "messages for", "this process has not created yet"));
    notes.extend(by_context(found.abandoned, "requests on", "has been freed"));
    Ok(())
}

/// Of sends that are on no list.
const ORDER_OF_SENDS: &str = "pending sends are listed as they lie in MPICH's pool of requests: in which order they were posted is not \
                              known of those that are on no list";

/// How many requests no transport knows, by queue and, where they name it, communicator.
type Unknown = HashMap<(Kept, Option<usize>), u64>;

/// What the pass found.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    persistent: Vec<Persistent>,
    /// Messages for communicators that do not exist, by context.
    homeless: BTreeMap<u64, u64>,
    /// Requests on communicators that have been freed, by context.
    abandoned: BTreeMap<u64, u64>,
    /// Requests that no transport knows.
    unknown: Unknown,
    /// Sends of a release in which none says of what communicator it is.
    forgetful_sends: u64,
}

impl Rows {
    fn take(&mut self, decoded: super::decoder::Outcome) {
        use super::decoder::Outcome;
        match decoded {
            Outcome::Rows(rows) => self.rows.extend(rows),
            Outcome::Persistent(persistent) => self.persistent.push(persistent),
            Outcome::Homeless(context) => *self.homeless.entry(context).or_default() += 1,
            Outcome::Abandoned(context) => *self.abandoned.entry(context).or_default() += 1,
            Outcome::Unknown(queue, comm) => *self.unknown.entry((queue, comm)).or_default() += 1,
            Outcome::Nothing => {}
        }
    }

    /// Tells the operations that persistent requests have started.
    fn persistent(&mut self, decoder: &Decoder) {
        let started: HashMap<TargetAddr, &Persistent> =
            self.persistent.iter().map(|persistent| (persistent.started, persistent)).collect();
        for row in &mut self.rows {
            // What arrives by one's own send is a message as any other.
            let persistent = started.get(&row.at).filter(|_| row.decoded.queue != Kept::Unexpected);
            if let Some(persistent) = persistent {
                row.persistent = Some(persistent.at);
                // What has arrived from this process itself is the request of its send.
                if row.decoded.queue != Kept::Unexpected {
                    decoder.started(persistent, &mut row.decoded.operation);
                }
            }
        }
    }

    /// Sorts by the lists; returns how many receives wait on none of them.
    fn order(&mut self, lists: Vec<List>, decoder: &Decoder, around: &Around<'_>) -> u64 {
        // By their addresses: where they are, and their order in a list.
        let mut places: HashMap<TargetAddr, (usize, Option<u64>)> =
            self.rows.iter().enumerate().map(|(index, row)| (row.at, (index, None))).collect();
        for (number, list) in (0..).zip(lists) {
            // A list of one sort of requests is what it looks like.
            let mut queue = None;
            let same = list.requests.iter().all(|at| {
                places.get(at).and_then(|(index, _)| self.rows.get(*index)).is_some_and(|row| {
                    *queue.get_or_insert(row.decoded.queue) == row.decoded.queue
                        && row.decoded.operation.status != OperationStatus::Complete
                })
            });
            if !same {
                continue;
            }
            for (place, at) in (0_u64..).zip(list.requests) {
                if let Some((_, order)) = places.get_mut(&at) {
                    *order = Some((number << 32) + place);
                }
            }
        }
        // A message within one process is a send and an unexpected message.
        for row in &mut self.rows {
            if let Some((_, Some(order))) = places.get(&row.at) {
                (row.listed, row.decoded.order) = (true, *order);
            }
        }
        self.rows.retain(|row| row.listed || !row.doubtful);
        let mut unordered = 0;
        for row in &mut self.rows {
            let operation = &mut row.decoded.operation;
            if row.listed {
                let evidence = operation.evidence.take().unwrap_or_default();
                let which =
                    if row.decoded.queue == Kept::Unexpected { "unexpected messages" } else { "posted operations" };
                operation.evidence = Some(
                    format!("{evidence}; on its list of {which}, found by scanning the library's variables").into(),
                );
            } else if row.links.is_some() && !row.own && operation.status == OperationStatus::Pending {
                unordered += u64::from(!decoder.is_matched(row.more, row.decoded.queue, operation, around));
            }
        }
        unordered
    }

    /// Leaves out the sends of which nothing is known but that they are done; returns how many there are.
    fn drop_forgotten(&mut self) -> usize {
        let before = self.rows.len();
        self.rows.retain(|row| {
            let Operation { status, desired_local_rank, desired_tag, desired_length, .. } = &row.decoded.operation;
            row.decoded.queue != Kept::Sends
                || *status != OperationStatus::Complete
                || desired_local_rank.is_some()
                || desired_tag.is_some()
                || desired_length.is_some()
        });
        before - self.rows.len()
    }

    /// Adds what the lists for debuggers say; returns how many sends are on none of them, so that their order is not known.
    fn complete(&mut self, debug: &DebugLists, decoder: &Decoder) -> u64 {
        let mut unordered = 0;
        for row in &mut self.rows {
            let send = match row.decoded.queue {
                Kept::Sends => true,
                Kept::Receives => false,
                Kept::Unexpected => continue,
            };
            let list = if send { &debug.sends } else { &debug.receives };
            let entry = list.get(&row.at).or_else(|| list.get(&row.persistent?));
            if let Some(entry) = entry {
                DebugLists::complete(entry, &mut row.decoded.operation, send, decoder.wildcards());
                if send {
                    row.decoded.order = entry.age;
                }
            } else {
                unordered += u64::from(send);
            }
        }
        unordered
    }
}

/// What is to be said of the queues of all communicators.
struct States {
    sends: Option<(QueueState, String)>,
    receives: Option<(QueueState, String)>,
    unexpected: Option<(QueueState, String)>,
    /// Why there may be unexpected messages that only the network knows.
    network: Option<String>,
    /// Whether the processes that MPI_Init started together never use the network among themselves.
    local: bool,
    /// Requests that belong to one of the queues of one kind, or to that of one communicator.
    unknown: Unknown,
}

impl States {
    fn of(pass: &Pass, debug: &DebugLists, unordered: u64, unknown: Unknown) -> Self {
        let mut error = pass.problems.first().cloned();
        if pass.stopped {
            error.get_or_insert_with(|| format!("only the first {MAX_OPERATIONS} operations were read"));
        }
        let all = error.map(|problem| (QueueState::Error, problem));
        let lists = (unordered > 0).then(|| {
            let why = format!(
                "{unordered} requests that wait to be matched are on no list of the library's that was found: their order is not known"
            );
            (QueueState::Error, why)
        });
        let debugged = debug.problems.first().map(|problem| (QueueState::Error, problem.clone()));
        Self {
            sends: all.clone().or(debugged.clone()),
            receives: all.clone().or(lists.clone()).or(debugged),
            unexpected: all.or(lists),
            network: None,
            local: false,
            unknown,
        }
    }

    /// Why a queue may have more operations than were found, of a communicator by its place.
    fn missing(&self, queue: Kept, comm: usize) -> Option<String> {
        let count = |comm| self.unknown.get(&(queue, comm)).copied();
        let named = count(Some(comm))
            .map(|count| format!("{count} requests are the network library's, and MPICH's part does not say what they are"));
        named.or_else(|| {
            let count = count(None)?;
            Some(format!("{count} requests are the network library's, which alone knows their communicator"))
        })
    }
}

/// Puts the operations into their queues; what goes on in the library's own communicators belongs to those they are parts of.
fn fill(all: &mut Communicators, mut sorted: HashMap<(usize, Kept), Vec<Decoded>>, states: &States) {
    let owners: Vec<usize> = (0..all.found.len()).map(|index| all.owner(index)).collect();
    for index in 0..all.found.len() {
        for queue in [Kept::Sends, Kept::Receives, Kept::Unexpected] {
            let mut decoded = sorted.remove(&(index, queue)).unwrap_or_default();
            decoded.sort_by_cached_key(|decoded| decoded.order);
            let owner = owners.get(index).copied().unwrap_or(index);
            let Some(found) = all.found.get(index) else { continue };
            let operations: Vec<Operation> =
                decoded.into_iter().map(|decoded| named(decoded.operation, found, owner != index)).collect();
            if let Some(owner) = all.found.get_mut(owner) {
                queue_of(owner, queue).operations.extend(operations);
            }
        }
    }
    for (index, found) in all.found.iter_mut().enumerate() {
        for (kept, state) in
            [(Kept::Sends, &states.sends), (Kept::Receives, &states.receives), (Kept::Unexpected, &states.unexpected)]
        {
            let missing = || Some((QueueState::NoInformation, states.missing(kept, index)?));
            if let Some((state, detail)) = state.clone().or_else(missing) {
                let queue = queue_of(found, kept);
                (queue.state, queue.detail) = (state, Some(detail));
            }
        }
        let alone = !found.inter && found.facts.size == Some(1);
        let queue = &mut found.facts.unexpected_messages;
        if let (Some(network), QueueState::Ok, false) = (&states.network, queue.state, alone) {
            let members = found.facts.remote_group.as_ref().or(found.facts.group.as_ref());
            // Processes that were connected later are reached by the network even on the same node.
            let together = members.is_some_and(|members| members.iter().all(Option::is_some));
            if !(states.local && together) {
                (queue.state, queue.detail) = (QueueState::NoInformation, Some(network.clone()));
            }
        }
    }
}

fn queue_of(found: &mut Found, queue: Kept) -> &mut Queue {
    match queue {
        Kept::Sends => &mut found.facts.pending_sends,
        Kept::Receives => &mut found.facts.pending_receives,
        Kept::Unexpected => &mut found.facts.unexpected_messages,
    }
}

/// Fills in world ranks. `part`: the communicator is one that the library made below the one that is shown.
fn named(mut operation: Operation, found: &Found, part: bool) -> Operation {
    operation.desired_global_rank = operation.desired_local_rank.and_then(|rank| found.world_rank(rank));
    operation.actual_global_rank = operation.actual_local_rank.and_then(|rank| found.world_rank(rank));
    if part {
        operation.internal = true;
        operation
            .extra_text
            .push("within a communicator that the library made for its collectives; ranks are its".into());
    } else if operation.internal {
        operation.extra_text.push("part of a collective".into());
    }
    operation
}

/// How many there are of each context, in words; `what` they are, and what is the matter `of` their communicator.
fn by_context(counts: BTreeMap<u64, u64>, what: &str, of: &str) -> Vec<String> {
    let left_out: u64 = counts.values().skip(MAX_NAMED).sum();
    let named = counts.into_iter().take(MAX_NAMED);
    let mut notes: Vec<String> =
        named.map(|(context, count)| format!("{what} a communicator (context {context}) that {of}: {count}")).collect();
    if left_out > 0 {
        notes.push(format!("{what} further communicators of this kind: {left_out}"));
    }
    notes
}
