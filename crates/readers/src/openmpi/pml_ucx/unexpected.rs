//! Messages that have arrived and that no receive has taken: they are on one list of UCX's worker, in the order in which they came.

use std::collections::BTreeMap;

use super::decoder::Decoder;
use super::tag;
use crate::add_problem;
use crate::openmpi::communicators::Communicators;
use crate::openmpi::queues::{fail, named};
use crate::queues::{NOT_CREATED, in_transit, of_absent};
use crate::ucx::IN_TRANSIT;
use model::{Operation, OperationStatus, Remark};
use target::address::TargetAddr;

const EVIDENCE: &str = "on the list of unexpected messages of UCX's worker, which the pml leads to";

const OFFLOADED: &str = "a network card matches messages itself: those that it holds are not seen";

/// What was read.
#[derive(Default)]
pub struct Arrived {
    /// Messages with the places of their communicators.
    messages: Vec<(usize, Operation)>,
    /// How many there are for communicators that are not here, by their numbers.
    unplaced: BTreeMap<u64, u64>,
    problem: Option<String>,
    /// Why there may be more in transit.
    in_transit: Option<String>,
}

/// Reads them.
pub fn read(decoder: &Decoder<'_>, room: &mut usize) -> Arrived {
    let mut found = Arrived::default();
    for worker in &decoder.workers.at {
        let (messages, problem) = decoder.workers.arrived(decoder.target, *worker);
        found.problem = found.problem.take().or(problem);
        if decoder.workers.is_offloading(decoder.target, *worker) {
            found.problem.get_or_insert(OFFLOADED.to_owned());
        }
        let (letters, problem) = decoder.workers.in_transit(decoder.target, *worker, *room);
        found.in_transit = found.in_transit.take().or(problem);
        let all = messages.into_iter().map(|message| (message, OperationStatus::Pending));
        let letters = letters.into_iter().map(|message| (message, OperationStatus::InTransit));
        for (message, status) in all.chain(letters) {
            if *room == 0 {
                break;
            }
            *room -= 1;
            let Some(comm) = decoder.places.arrived(message.word) else {
                let context = tag::context(message.word);
                if decoder.places.knows(context) {
                    let problem = "a message comes from a rank that its communicator does not have";
                    found.problem.get_or_insert(problem.to_owned());
                } else {
                    *found.unplaced.entry(context).or_default() += 1;
                }
                continue;
            };
            let (rank, tag) = (Some(tag::rank(message.word)), tag::tag(message.word));
            let evidence = if status == OperationStatus::InTransit { IN_TRANSIT } else { EVIDENCE };
            let mut operation = Operation {
                status,
                desired_local_rank: rank,
                desired_tag: Some(tag),
                desired_length: Some(message.length),
                actual_local_rank: rank,
                actual_tag: Some(tag),
                actual_length: Some(message.length),
                system_buffer: true,
                buffer: message.buffer.map(TargetAddr::get),
                extra_text: vec![if message.announced { Remark::Rendezvous } else { Remark::Eager }],
                evidence: Some(evidence.into()),
                ..Operation::default()
            };
            if message.buffer.is_none() {
                operation.not_known("buffer", "not all of the message is here yet");
            }
            decoder.internal(comm, tag, &mut operation);
            found.messages.push((comm, operation));
        }
    }
    found
}

/// Sorts them into the queues of their communicators.
pub fn sort(arrived: Arrived, communicators: &mut Communicators) {
    for (comm, operation) in arrived.messages {
        if let Some(found) = communicators.found.get_mut(comm) {
            let operation = named(operation, found);
            found.facts.unexpected_messages.operations.push(operation);
        }
    }
    for found in &mut communicators.found {
        fail(&mut found.facts.unexpected_messages, arrived.problem.as_deref());
    }
    if let Some(problem) = arrived.problem {
        add_problem(&mut communicators.problems, problem);
    }
    communicators.notes.extend(arrived.in_transit.map(|problem| in_transit(&problem)));
    communicators.notes.extend(of_absent(arrived.unplaced, "messages for", NOT_CREATED));
}
