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
pub mod shapes;
mod stack;
mod tag;
mod unexpected;
mod worker;

use std::collections::HashSet;

use self::decoder::{Decoded, Decoder};
use self::opened::Opened;
use self::places::Places;
use self::role::Role;
use super::assembly::{Assembly, OF_REQUESTS};
use super::communicators::Communicators;
use super::groups::Groups;
use super::queues::adopt_strangers;
use super::shapes::Shapes;
use crate::queues::{FREED, of_absent, refuse};
use crate::record::Record;
use crate::ucx::{Flags, Links, RequestPool, Workers};
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use model::QueueKind;
use target::Target;
use target::address::TargetAddr;

const ORDER_OF_SENDS: &str = "pending sends are listed as they lie in UCX's pool of requests, blocking standard ones last: in which order \
                              they were posted is not known";

/// Whose requests lie on stacks, of each queue.
const ON_STACKS: [&str; 2] = ["blocking sends", "blocking receives whose message has begun to arrive"];

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
            communicators.found.iter_mut().for_each(|found| refuse(&mut found.facts, &reason.to_string()));
            return Ok(());
        }
    };
    adopt_strangers(target, shapes, groups, communicators, std::iter::empty());
    let places = Places::new(communicators);
    let endpoints = opened.endpoints(target, groups);
    let mut decoder = opened.decoder(target, shapes, &places, &endpoints);
    let mut assembly = Assembly::new(|decoded: &Decoded| decoded.comm);

    let room = &mut assembly.room;
    match persistent::read(&mut decoder, shapes, &opened.pools, &opened.constants, opened.persistent, room) {
        Ok((found, problems)) => {
            for (queue, complete) in OF_REQUESTS.into_iter().zip(found.complete) {
                assembly.extend(complete, |all| all.of(queue));
            }
            assembly.extend(found.inactive, |all| &mut all.inactive);
            problems.into_iter().for_each(|problem| assembly.fail(&OF_REQUESTS, problem, communicators));
        }
        Err(error) => assembly.fail(&OF_REQUESTS, format!("persistent requests: {error}"), communicators),
    }
    let (links, others) = requests(&mut decoder, &mut assembly, communicators);
    match stack::search(&mut decoder, |link| links.knows(link) || others.contains(&link)) {
        Ok(mut found) => {
            assembly.extend(found.sends, |all| &mut all.sends);
            found.receives.iter_mut().for_each(Decoded::set_matched);
            assembly.extend(found.receives, |all| &mut all.receives);
        }
        Err(reason) => {
            for (queue, which) in OF_REQUESTS.into_iter().zip(ON_STACKS) {
                let sentence =
                    format!("{which} lie on the stacks of threads, which could not all be searched: {reason}");
                assembly.lack(&[queue], &sentence);
            }
        }
    }
    match messages::read(&mut decoder, shapes, &opened.pools, communicators, &mut assembly.room) {
        Ok((messages, problems)) => {
            assembly.extend(messages, |all| &mut all.receives);
            let queues = [QueueKind::PendingReceives];
            problems.into_iter().for_each(|problem| assembly.fail(&queues, problem, communicators));
        }
        Err(error) => add_problem(&mut communicators.problems, format!("matched messages: {error}")),
    }
    let unexpected = unexpected::read(&decoder, &mut assembly.room);
    let (orphans, impossible) = (std::mem::take(&mut decoder.orphans), decoder.impossible);
    if impossible > 0 {
        let problem = format!("{impossible} requests make no sense: memory is damaged, or changed while it was read");
        assembly.lose(&OF_REQUESTS, impossible);
        assembly.fail(&OF_REQUESTS, problem, communicators);
    }
    let mut sends = 0;
    for (index, found) in communicators.found.iter_mut().enumerate() {
        let mut operations = assembly.take(index);
        sends += operations.sends.len();
        operations.receives.sort_by_key(|receive| receive.order);
        assembly.fill(found, operations, |decoded, _, _| *decoded.operation);
    }
    if sends > 1 {
        communicators.notes.push(ORDER_OF_SENDS.to_owned());
    }
    unexpected::sort(unexpected, communicators);
    communicators.notes.extend(of_absent(orphans, "requests on", FREED));
    assembly.end(communicators);
    Ok(())
}

/// Reads UCX's requests: those of the pool, and receives on stacks that wait in a list. Returns the links of all receives that were
/// met.
fn requests(
    decoder: &mut Decoder<'_>,
    assembly: &mut Assembly<usize, Decoded>,
    communicators: &mut Communicators,
) -> (Links, HashSet<TargetAddr>) {
    let workers: &Workers = decoder.workers;
    let (target, user) = (decoder.target, decoder.ucx.behind.size);
    let [worker] = workers.at[..] else { return Default::default() };
    let pool = match RequestPool::of(target, &workers.layout, worker, user) {
        Ok(pool) => pool,
        Err(error) => {
            assembly.fail(&OF_REQUESTS, error.to_string(), communicators);
            return Default::default();
        }
    };
    let link = workers.layout.request.link;
    let mut links = Links::new(pool.stride);
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    let room = &mut assembly.room;
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
                Role::Receive => receives.push(decoded),
                Role::Send(_) => sends.push(decoded),
            }
        }
        true
    });
    // The newest come first in the pool.
    assembly.extend(sends.into_iter().rev(), |all| &mut all.sends);
    problems.into_iter().for_each(|problem| assembly.fail(&OF_REQUESTS, problem, communicators));
    let posted = workers.posted(target, &mut links);
    if posted.is_some() {
        // What waits in no list has its message.
        let not_waiting = |one: &&mut Decoded| one.link.is_some_and(|link| !links.is_waiting(link));
        receives.iter_mut().filter(not_waiting).for_each(Decoded::set_matched);
    }
    assembly.extend(receives, |all| &mut all.receives);
    let Some(others) = posted else {
        let problem = "UCX's lists of posted receives are broken: which receives wait, and those of blocking calls, are not known";
        assembly.fail(&[QueueKind::PendingReceives], problem.to_owned(), communicators);
        return (links, HashSet::new());
    };
    let mut buffer = Vec::new();
    let size = workers.layout.request.size;
    for at in &others {
        if assembly.room == 0 {
            break;
        }
        assembly.room -= 1;
        let at = link.structure_of(*at);
        match Record::read(target, at, size, &mut buffer) {
            Ok(record) => {
                let flags = Flags::of(&workers.layout, &record);
                assembly.extend(decoder.receive(&record, flags, false), |all| &mut all.receives);
            }
            Err(error) => {
                let problem = format!("a posted receive could not be read: {error}");
                assembly.fail(&[QueueKind::PendingReceives], problem, communicators);
            }
        }
    }
    (links, others)
}
