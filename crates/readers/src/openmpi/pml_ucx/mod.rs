//! The pml ucx: UCX matches its messages and has its requests.
//!
//! Receives hang in lists of UCX's worker, blocking ones too; other requests come from the worker's pool, and the pml has its own
//! (`ompi_request_t`) behind each (open-mpi/ompi, ompi/mca/pml/ucx, v4.1.4 and v5.0.10; openucx/ucx, src/ucp/tag, v1.13 to v1.20).

mod data;
pub mod decoder;
mod messages;
pub mod opened;
mod persistent;
mod places;
mod role;
mod shapes;
mod stack;
mod tag;
mod unexpected;
mod worker;

use std::collections::{BTreeMap, HashSet};

use self::decoder::{Decoded, Decoder, matched_with};
use self::opened::Opened;
use self::places::Places;
use self::role::Role;
use super::communicators::{Communicators, Found};
use super::groups::Groups;
use super::queues::{self, MAX_OPERATIONS, adopt_strangers, fail, named};
use super::shapes::Shapes;
use crate::record::Record;
use crate::ucx::{Flags, Links, RequestPool, Workers};
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use model::{Operation, OperationStatus, Queue};
use target::Target;
use target::address::TargetAddr;

/// At most this many communicators that are not here are named.
const MAX_NAMED: usize = 4;

const ORDER_OF_SENDS: &str = "pending sends are listed as they lie in UCX's pool of requests, blocking standard ones last: in which order \
                              they were posted is not known";

/// Everything that was read, before it is sorted.
#[derive(Default)]
struct All {
    sends: Vec<Decoded>,
    receives: Vec<Decoded>,
    inactive: Vec<Decoded>,
    sends_problem: Option<String>,
    receives_problem: Option<String>,
}

/// Reads all queues into the communicators.
///
/// # Errors
/// Where the pml itself cannot be read; damage further on is told in the queues and problems.
pub fn read_all(
    target: &dyn Target,
    shapes: &Shapes,
    layouts: &Layouts,
    groups: &Groups<'_>,
    communicators: &mut Communicators,
) -> Result<(), ReaderError> {
    let opened = match Opened::find(target, layouts)? {
        Ok(opened) => opened,
        Err(reason) => {
            communicators.take_internal();
            refuse(communicators, &reason.to_string());
            return Ok(());
        }
    };
    adopt_strangers(target, shapes, groups, communicators, std::iter::empty());
    let places = Places::new(communicators);
    let endpoints = opened.endpoints(target, groups);
    let mut decoder = opened.decoder(target, shapes, &places, &endpoints);
    let pools = &opened.pools;
    let mut room = MAX_OPERATIONS;
    let mut all = All::default();

    match persistent::read(&mut decoder, shapes, pools, &opened.constants, opened.persistent, &mut room) {
        Ok((found, problems)) => {
            let [sends, receives] = found.complete;
            (all.sends, all.receives, all.inactive) = (sends, receives, found.inactive);
            all.problem(problems, communicators);
        }
        Err(error) => all.problem(vec![format!("persistent requests: {error}")], communicators),
    }
    let (links, others) = requests(&mut decoder, &mut all, &mut room, communicators);
    match stack::search(&mut decoder, |link| links.knows(link) || others.contains(&link)) {
        Ok(found) => {
            all.sends.extend(found.sends);
            all.receives.extend(found.receives.into_iter().map(|mut receive| {
                matched(&mut receive);
                receive
            }));
        }
        Err(reason) => {
            let sentence =
                format!("blocking sends lie on the stacks of threads, which could not all be searched: {reason}");
            all.sends_problem.get_or_insert(sentence);
        }
    }
    match messages::read(&mut decoder, shapes, pools, communicators, &mut room) {
        Ok((messages, problems)) => {
            all.receives.extend(messages);
            all.receives_problem = all.receives_problem.take().or(problems.first().cloned());
        }
        Err(error) => add_problem(&mut communicators.problems, format!("matched messages: {error}")),
    }
    let unexpected = unexpected::read(&decoder, &mut room);
    let (orphans, impossible) = (std::mem::take(&mut decoder.orphans), decoder.impossible);
    sort(all, impossible, communicators);
    unexpected::sort(unexpected, communicators);
    note(communicators, orphans, "requests on", "has been freed");
    if room == 0 {
        queues::cut(communicators);
    }
    queues::append_all_internal(communicators);
    Ok(())
}

/// Says of every queue why it is not known.
fn refuse(communicators: &mut Communicators, reason: &str) {
    for found in &mut communicators.found {
        for queue in found.facts.queues_mut() {
            *queue = Queue::no_information(reason);
        }
    }
}

impl All {
    fn problem(&mut self, problems: Vec<String>, communicators: &mut Communicators) {
        for problem in problems {
            self.sends_problem.get_or_insert_with(|| problem.clone());
            self.receives_problem.get_or_insert_with(|| problem.clone());
            add_problem(&mut communicators.problems, problem);
        }
    }
}

/// Reads UCX's requests: those of the pool, and receives on stacks that wait in a list. Returns the links of all receives that were
/// met.
fn requests(
    decoder: &mut Decoder<'_>,
    all: &mut All,
    room: &mut usize,
    communicators: &mut Communicators,
) -> (Links, HashSet<TargetAddr>) {
    let workers: &Workers = decoder.workers;
    let (target, user) = (decoder.target, decoder.ucx.behind.size);
    let mut links = Links::default();
    let [worker] = workers.at[..] else { return (links, HashSet::new()) };
    let pool = match RequestPool::of(target, &workers.layout, worker, user) {
        Ok(pool) => pool,
        Err(error) => {
            all.problem(vec![error.to_string()], communicators);
            return (links, HashSet::new());
        }
    };
    let link = workers.layout.request.link;
    // The receives that may wait, with the places of their links.
    let mut open = Vec::new();
    let problems = pool.walk(|record| {
        if *room == 0 {
            return false;
        }
        let receives = Flags::of(&workers.layout, &record).receives();
        let place = receives.then(|| links.add(record.address_of(link), record.pointer(link)));
        if let Some((role, decoded)) = decoder.pooled(&record) {
            *room -= 1;
            match role {
                Role::Receive => {
                    open.extend(place.filter(|_| decoded.link.is_some()).map(|place| (all.receives.len(), place)));
                    all.receives.push(decoded);
                }
                Role::Send(_) => all.sends.push(decoded),
            }
        }
        true
    });
    all.problem(problems, communicators);
    let Some(others) = workers.posted(target, &mut links) else {
        let problem = "UCX's lists of posted receives are broken: which receives wait, and those of blocking calls, are not known";
        all.receives_problem.get_or_insert(problem.to_owned());
        add_problem(&mut communicators.problems, problem.to_owned());
        return (links, HashSet::new());
    };
    for (receive, place) in open {
        if let Some(receive) = all.receives.get_mut(receive).filter(|_| !links.is_waiting(place)) {
            matched(receive);
        }
    }
    let mut buffer = Vec::new();
    let size = workers.layout.request.size;
    for at in &others {
        if *room == 0 {
            break;
        }
        *room -= 1;
        let at = TargetAddr::new(at.get().wrapping_sub(link.offset as u64));
        match Record::read(target, at, size, &mut buffer) {
            Ok(record) => {
                let flags = Flags::of(&workers.layout, &record);
                all.receives.extend(decoder.receive(&record, flags, false));
            }
            Err(error) => {
                all.receives_problem.get_or_insert(format!("a posted receive could not be read: {error}"));
            }
        }
    }
    (links, others)
}

/// A receive that waits in no list has its message.
fn matched(receive: &mut Decoded) {
    if receive.operation.status == OperationStatus::Pending {
        receive.operation.status = OperationStatus::Matched;
        if let Some((word, length)) = receive.sender {
            matched_with(word, length, &mut receive.operation);
        }
    }
}

/// Sorts requests into the queues of their communicators.
fn sort(mut all: All, impossible: u64, communicators: &mut Communicators) {
    if impossible > 0 {
        let problem = format!("{impossible} requests make no sense: memory is damaged, or changed while it was read");
        all.problem(vec![problem], communicators);
    }
    if all.sends.len() > 1 {
        communicators.notes.push(ORDER_OF_SENDS.to_owned());
    }
    // UCX numbers receives; those that nothing was posted for come last.
    all.receives.sort_by_cached_key(|receive| receive.order);
    let put =
        |decoded: Vec<Decoded>, communicators: &mut Communicators, queue: fn(&mut Found) -> &mut Vec<Operation>| {
            for one in decoded {
                if let Some(found) = communicators.found.get_mut(one.comm) {
                    let operation = named(*one.operation, found);
                    queue(found).push(operation);
                }
            }
        };
    put(all.sends, communicators, |found| &mut found.facts.pending_sends.operations);
    put(all.receives, communicators, |found| &mut found.facts.pending_receives.operations);
    put(all.inactive, communicators, |found| &mut found.facts.inactive);
    for Found { facts, .. } in &mut communicators.found {
        (facts.pending_sends.dropped, facts.pending_receives.dropped) = (impossible, impossible);
        fail(&mut facts.pending_sends, all.sends_problem.as_deref());
        fail(&mut facts.pending_receives, all.receives_problem.as_deref());
    }
}

/// Notes how many there are of communicators that are not here; `what` they are, and what is the matter `of` these.
fn note(communicators: &mut Communicators, counts: BTreeMap<u64, u64>, what: &str, of: &str) {
    let left_out: u64 = counts.values().skip(MAX_NAMED).sum();
    let named = counts.into_iter().take(MAX_NAMED);
    communicators
        .notes
        .extend(named.map(|(context, count)| format!("{what} a communicator (context {context}) that {of}: {count}")));
    if left_out > 0 {
        communicators.notes.push(format!("{what} further communicators of this kind: {left_out}"));
    }
}
