//! Messages that libfabric has and that nobody has asked for.

use std::collections::HashMap;

use super::network::Network;
use super::requests::Decoder;
use crate::openmpi::communicators::{Communicators, Found};
use crate::openmpi::queues::named;
use crate::queues::NOT_CREATED;
use model::Operation;
use target::Reason;
use target::address::TargetAddr;

const OF_MESSAGE: &str = "on libfabric's list of messages that no receive has matched; its tag names the communicator";

/// Messages that nobody has asked for.
#[derive(Default)]
pub struct Arrived {
    /// By communicator.
    pub by_comm: HashMap<TargetAddr, Vec<Operation>>,
    /// Why there may be more.
    pub missing: Option<String>,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// Reads them. `me`: this process's rank in MPI_COMM_WORLD.
pub fn arrived(
    network: &Result<Network, Reason>,
    decoder: &Decoder<'_>,
    communicators: &Communicators,
    room: &mut usize,
    me: Option<i64>,
) -> Arrived {
    let network = match network {
        Ok(network) => network,
        Err(reason) => return Arrived { missing: Some(reason.to_string()), ..Arrived::default() },
    };
    let mut all = Arrived { missing: network.messages_problem.as_ref().map(ToString::to_string), ..Arrived::default() };
    let numbers: HashMap<u64, &Found> =
        communicators.found.iter().map(|found| (found.facts.unique_id, found)).collect();
    let mut elsewhere = 0_u64;
    let bits = network.bits;
    for message in network.messages.iter().filter(|message| !bits.is_answer(message.tag) && message.claimed.is_none()) {
        let Some(found) = numbers.get(&bits.communicator(message.tag)) else {
            elsewhere += 1;
            continue;
        };
        if *room == 0 {
            break;
        }
        *room -= 1;
        let by_address = || found.local_rank(network.rank(message.source?)?);
        let rank = bits.sender(message.tag, message.data).or_else(by_address);
        let tag = bits.tag(message.tag);
        let (internal, extra_text) = decoder.of_tag(tag);
        let mut operation = Operation {
            desired_local_rank: rank,
            desired_tag: Some(tag),
            desired_length: Some(message.length),
            actual_local_rank: rank,
            actual_tag: Some(tag),
            actual_length: Some(message.length),
            system_buffer: true,
            internal,
            extra_text,
            sender_request: message.number.and_then(|number| number.request(me)),
            evidence: Some(OF_MESSAGE.into()),
            ..Operation::default()
        };
        operation.not_known("buffer", "it is in libfabric's own memory, perhaps not whole");
        if rank.is_none() {
            for fact in ["desired_local_rank", "desired_global_rank"] {
                operation.not_known(fact, "libfabric does not say which process sent it");
            }
        }
        all.by_comm.entry(found.addr).or_default().push(named(operation, found));
    }
    if elsewhere > 0 {
        all.notes.push(format!("messages for communicators that {NOT_CREATED}: {elsewhere}"));
    }
    all
}
