//! Requests and messages that MPICH leaves to libfabric (ch4:ofi).
//!
//! A receive has its context, buffer and length in MPICH's request (pmodels/mpich, src/mpid/ch4/netmod/ofi/ofi_{pre,recv}.h, v3.4
//! to v5.0). Source and tag are handed to libfabric, which keeps them until a message matches; where its provider is read, they
//! come from there, and so do the messages that nobody has asked for. A send's tag and destination are handed over as well, and
//! kept until the provider is done with it; those of a synchronous one longer: MPICH waits for its answer with a receive of its
//! own (ofi_send.h).

pub mod addresses;
mod arrived;
mod bits;
mod kept;
pub mod network;
mod sends;

pub use self::network::provider;

use std::collections::HashMap;

use self::kept::{Kept, Probe};
use self::network::Network;
use self::sends::Answer;
use super::communicators::{Communicators, Found};
use super::requests::{Kind, Request};
use super::transport::{Around, Decoded, Transport, Unexpected};
use crate::libfabric::Source;
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use model::{Operation, OperationStatus, QueueKind};
use target::address::TargetAddr;
use target::{Range, Reason, Target, TargetError};

const EVIDENCE: &str = "in MPICH's request for libfabric, whose context is that of the communicator";
const WAITING: &str = "on libfabric's list of receives, in the entry that leads to MPICH's request; its tag has the context of the communicator";
const TAKEN: &str = "MPICH hands it to libfabric, which does not keep it once a message has matched";
const DOES_NOT_FIT: &str = "what stands in MPICH's request for libfabric does not make sense";
const NO_RANK: &str =
    "the process that libfabric names is not in MPICH's table of addresses, or not in the communicator";

/// The network libfabric.
pub struct Ofi<'a> {
    target: &'a dyn Target,
    layouts: &'a Layouts,
    ranges: &'a [Range],
    kept: Kept,
    network: Option<Network>,
    /// The receives that wait for the answers to synchronous sends, by the sends' requests.
    answers: HashMap<TargetAddr, Answer>,
    /// Why the network could not be read: the process is gone.
    error: Option<TargetError>,
}

impl<'a> Ofi<'a> {
    /// Prepares to read; `None` where MPICH's layouts have nothing of libfabric. `ranges`: the library's variables.
    pub fn new(target: &'a dyn Target, layouts: &'a Layouts, ranges: &'a [Range]) -> Option<Self> {
        let kept = Kept::new(layouts)?;
        Some(Self { target, layouts, ranges, kept, network: None, answers: HashMap::new(), error: None })
    }

    /// Reads libfabric's lists, once.
    fn prepare(&mut self, communicators: &Communicators) {
        if self.network.is_some() {
            return;
        }
        let network = match Network::read(self.target, self.layouts, self.ranges, communicators) {
            Ok(network) => network,
            Err(error) => {
                let reason = Reason::of(&error);
                self.error = Some(error);
                Network { receives_problem: Some(reason.clone()), sends_problem: Some(reason), ..Network::default() }
            }
        };
        if let Some(told) = self.kept.told {
            // Only the receives of answers take one tag alone.
            for (_, receive) in network.receives.values().filter(|(_, receive)| receive.ignore == 0) {
                self.answers.extend(sends::answer(self.target, told, receive));
            }
        }
        self.network = Some(network);
    }

    /// The rank of a process in a communicator, by its address.
    fn rank(&self, found: &Found, address: u64) -> Option<i64> {
        let world = self.network.as_ref()?.addresses.of(address)?;
        found.local_rank(world)
    }

    /// Fills in what libfabric has of a receive. `comm`: its communicator; `context`: what MPICH says of it.
    fn waiting(&self, request: &Request<'_>, found: &Found, context: u64, operation: &mut Operation) -> Option<u64> {
        let network = self.network.as_ref()?;
        let bits = network.bits?;
        let (order, receive) = network.receives.get(&request.record.address_of(self.kept.told?))?;
        if !bits.has_context(receive.tag, context) {
            return None;
        }
        operation.tag_wild = bits.any_tag(receive.ignore);
        operation.desired_tag = (!operation.tag_wild).then(|| bits.tag(receive.tag));
        let source = match (bits.source(receive.tag, receive.ignore), receive.source) {
            (Some(source), _) => source.map(Some),
            (None, Source::Any) => None,
            (None, Source::Address(address)) => Some(self.rank(found, address)),
            (None, Source::NotKept) => Some(None),
        };
        operation.any_source = source.is_none();
        operation.desired_local_rank = source.flatten();
        if source == Some(None) {
            for fact in ["desired_local_rank", "desired_global_rank"] {
                operation.not_known(fact, NO_RANK);
            }
        }
        operation.evidence = Some(WAITING.into());
        Some(*order)
    }

    /// Whether libfabric has a receive for a request, whatever it says.
    fn is_listed(&self, request: &Request<'_>) -> bool {
        let listed = |network: &Network| {
            self.kept.told.is_none_or(|told| network.receives.contains_key(&request.record.address_of(told)))
        };
        self.network.as_ref().is_none_or(listed)
    }

    fn receive(&self, request: &Request<'_>, mut operation: Operation, around: &mut Around<'_>) -> Option<Decoded> {
        let Some((comm, collective, which)) = self.kept.place(request, around) else {
            for fact in everything() {
                operation.not_known(fact, DOES_NOT_FIT);
            }
            return Some(Decoded {
                comm: request.comm?,
                queue: QueueKind::PendingReceives,
                order: u64::MAX,
                operation,
            });
        };
        operation.evidence = Some(EVIDENCE.into());
        let found = around.communicators.found.get(comm)?;
        let context = request.record.uint(self.kept.context);
        let order = if request.complete() { None } else { self.waiting(request, found, context, &mut operation) };
        if order.is_none() {
            let problem = self.network.as_ref().and_then(|network| network.receives_problem.as_ref());
            // It has left a list that was read whole.
            if !request.complete() && problem.is_none() && !self.is_listed(request) {
                operation.status = OperationStatus::Matched;
            }
            let reason = problem.map_or(TAKEN.to_owned(), |problem| {
                format!("MPICH hands it to libfabric and does not keep it; of libfabric's own lists: {problem}")
            });
            for fact in PEER {
                operation.not_known(fact, reason.clone());
            }
        }
        self.kept.data(request, which, &mut operation, &mut around.datatypes);
        operation.internal |= collective;
        Some(Decoded { comm, queue: QueueKind::PendingReceives, order: order.unwrap_or(u64::MAX), operation })
    }
}

/// Who an operation is with, and its tag.
const PEER: [&str; 3] = ["desired_local_rank", "desired_global_rank", "desired_tag"];

fn everything() -> impl Iterator<Item = &'static str> {
    PEER.into_iter().chain(["desired_length", "buffer", "count", "datatype"])
}

impl Transport for Ofi<'_> {
    fn decode(&mut self, request: &Request<'_>, operation: Operation, around: &mut Around<'_>) -> Option<Decoded> {
        if !request.complete() && matches!(request.kind, Kind::Send | Kind::Receive) {
            self.prepare(around.communicators);
        }
        match request.kind {
            Kind::Send => self.send(request, operation, around),
            Kind::Receive => self.receive(request, operation, around),
            Kind::MatchedProbe => self.kept.held(request, operation),
            _ => None,
        }
    }

    fn is_searching(&self, request: &Request<'_>) -> bool {
        matches!(self.kept.probe(request), Probe::Searching)
    }

    fn unexpected(&mut self, around: &mut Around<'_>) -> Result<Unexpected, ReaderError> {
        self.prepare(around.communicators);
        if let Some(error) = self.error.take() {
            return Err(error.into());
        }
        let mut found = Unexpected::default();
        let Some(network) = &self.network else { return Ok(found) };
        let mut problems: Vec<String> = network.messages_problem.iter().map(ToString::to_string).collect();
        if network.bits.is_none() && !network.messages.is_empty() {
            let many = network.messages.len();
            problems.push(format!("how this build packs its tags is not known, and so not what {many} of them are"));
        }
        for (order, message) in (0..).zip(&network.messages) {
            match self.arrived(message, order, around) {
                Ok(message) => found.messages.extend(message),
                Err(problem) => add_problem(&mut problems, problem.into()),
            }
        }
        found.incomplete = (!problems.is_empty())
            .then(|| format!("messages that have arrived are on libfabric's lists: {}", problems.join("; ")));
        Ok(found)
    }
}
