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
mod receives;
mod role;
mod shapes;
mod stack;
mod tag;
mod unexpected;
mod worker;

use std::collections::{BTreeMap, HashSet};

use self::decoder::{Decoded, Decoder};
use self::opened::Opened;
use self::places::Places;
use self::receives::{Receives, matched};
use self::role::Role;
use super::communicators::{Communicators, Found};
use super::groups::Groups;
use super::queues::{self, MAX_OPERATIONS, adopt_strangers, fail, named};
use super::shapes::Shapes;
use crate::record::Record;
use crate::ucx::{Flags, Links, RequestPool, Workers};
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use model::{Operation, Queue};
use target::Target;
use target::address::TargetAddr;

/// At most this many communicators that are not here are named.
const MAX_NAMED: usize = 4;

const ORDER_OF_SENDS: &str = "pending sends are listed as they lie in UCX's pool of requests, blocking standard ones last: in which order \
                              they were posted is not known";

/// Everything that was read, before it is sorted.
struct All {
    sends: Vec<Decoded>,
    receives: Receives,
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
    let mut all = All::new(communicators);

    match persistent::read(&mut decoder, shapes, pools, &opened.constants, opened.persistent, &mut room) {
        Ok((found, problems)) => {
            let [sends, receives] = found.complete;
            (all.sends, all.inactive) = (sends, found.inactive);
            all.add(receives, communicators);
            all.problem(problems, communicators);
        }
        Err(error) => all.problem(vec![format!("persistent requests: {error}")], communicators),
    }
    let (links, others) = requests(&mut decoder, &mut all, &mut room, communicators);
    match stack::search(&mut decoder, |link| links.knows(link) || others.contains(&link)) {
        Ok(found) => {
            all.sends.extend(found.sends);
            all.add(
                found.receives.into_iter().map(|mut receive| {
                    matched(&mut receive.operation, receive.sender);
                    receive
                }),
                communicators,
            );
        }
        Err(reason) => {
            let sentence =
                format!("blocking sends lie on the stacks of threads, which could not all be searched: {reason}");
            all.sends_problem.get_or_insert(sentence);
        }
    }
    match messages::read(&mut decoder, shapes, pools, communicators, &mut room) {
        Ok((messages, problems)) => {
            all.add(messages, communicators);
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
    fn new(communicators: &Communicators) -> Self {
        let (sends, inactive, sends_problem, receives_problem) = Default::default();
        Self { sends, receives: Receives::new(communicators), inactive, sends_problem, receives_problem }
    }

    fn add(&mut self, receives: impl IntoIterator<Item = Decoded>, communicators: &Communicators) {
        for receive in receives {
            self.receives.push(receive, communicators);
        }
    }

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
    let [worker] = workers.at[..] else { return Default::default() };
    let pool = match RequestPool::of(target, &workers.layout, worker, user) {
        Ok(pool) => pool,
        Err(error) => {
            all.problem(vec![error.to_string()], communicators);
            return Default::default();
        }
    };
    let link = workers.layout.request.link;
    let mut links = Links::new(pool.stride);
    // The receives that may wait.
    let mut open = Vec::new();
    let persistent = all.sends.len();
    let problems = pool.walk(|record| {
        if *room == 0 {
            return false;
        }
        if Flags::of(&workers.layout, &record).receives() {
            links.add(record.address_of(link), record.pointer(link));
        }
        if let Some((role, decoded)) = decoder.pooled(&record) {
            *room -= 1;
            match role {
                Role::Receive => {
                    let link = decoded.link;
                    open.extend(all.receives.push(decoded, communicators).zip(link));
                }
                Role::Send(_) => all.sends.push(decoded),
            }
        }
        true
    });
    // The newest come first in the pool.
    all.sends[persistent..].reverse();
    all.problem(problems, communicators);
    let Some(others) = workers.posted(target, &mut links) else {
        let problem = "UCX's lists of posted receives are broken: which receives wait, and those of blocking calls, are not known";
        all.receives_problem.get_or_insert(problem.to_owned());
        add_problem(&mut communicators.problems, problem.to_owned());
        return (links, HashSet::new());
    };
    for (receive, link) in open {
        if !links.is_waiting(link) {
            all.receives.matched(receive, communicators);
        }
    }
    let mut buffer = Vec::new();
    let size = workers.layout.request.size;
    for at in &others {
        if *room == 0 {
            break;
        }
        *room -= 1;
        let at = link.structure_of(*at);
        match Record::read(target, at, size, &mut buffer) {
            Ok(record) => {
                let flags = Flags::of(&workers.layout, &record);
                all.add(decoder.receive(&record, flags, false), communicators);
            }
            Err(error) => {
                all.receives_problem.get_or_insert(format!("a posted receive could not be read: {error}"));
            }
        }
    }
    (links, others)
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
    all.receives.into_queues(communicators);
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
