//! Requests and messages that MPICH leaves to UCX (ch4:ucx, and ch4:ucx,ofi where UCX was chosen).
//!
//! MPICH's own request says only where UCX's is. That one lies in front of the address and leads back to MPICH's, has what the
//! message is matched by, the buffer and the length (pmodels/mpich, src/mpid/ch4/netmod/ucx/ucx_{send,recv}.h). Messages that
//! nobody has asked for are on a list of UCX's worker.

mod calibrate;
pub mod destinations;
pub mod global;
mod native;
mod tag;
#[cfg(test)]
mod tests;

pub use tag::{Open, Split};

use std::collections::HashSet;

pub use calibrate::Calibration;

use self::calibrate::Calibrated;
use self::destinations::Destinations;
use super::active_messages::{matched_message, message as arrived};
use super::communicators::Found;
use super::requests::{Kind, Request};
use super::transport::{Around, Decoded, Transport, Unexpected};
use crate::record::Slot;
use crate::ucx::{Data, IN_TRANSIT, Native, Sample, UcxLayout, Workers};
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use model::{Operation, OperationStatus, QueueKind};
use target::TargetError;
use target::address::TargetAddr;

/// How receives and sends were found.
const BY_LAYOUT: &str =
    "in UCX's own request, which leads back to MPICH's; its tag, mask and worker agree with the communicator";
const BY_TAG: &str = "in UCX's own request, which leads back to MPICH's; only its tag and mask were recognised";
const OF_SEND: &str = "in UCX's own request, which leads back to MPICH's; its tag has this process's rank, its \
    connection is one of \
                       MPICH's table of addresses";
const OF_SEND_BY_TAG: &str = "in UCX's own request, which leads back to MPICH's; its tag has this process's rank";
/// Rings have room for no more messages than this.
const MAX_IN_TRANSIT: usize = 1 << 20;

const OF_MESSAGE: &str = "on the list of unexpected messages of UCX's worker, which MPICH's variables lead to";

const OF_HELD: &str = "in the message of UCX that MPICH's request leads to, which a matching probe has taken";

const RELEASE_NOT_KNOWN: &str = "this release of UCX is not known, so where it keeps it is not either";
const NO_DATATYPE: &str = "UCX keeps bytes, not datatypes";

/// The network UCX.
pub struct Ucx<'a> {
    calibration: Calibration<'a>,
    layouts: &'a Layouts,
    /// The workers by every layout that fits them, until one is chosen.
    candidates: Vec<Workers>,
    prepared: bool,
    /// Why that was not possible: the process is gone.
    error: Option<TargetError>,
    /// Where MPICH has the address behind UCX's request.
    request: Slot,
    /// Where it has the address of a message that a matching probe took.
    message: Option<Slot>,
    /// Where it keeps what an unpacked receive is for, where the release does.
    unpacked: Option<native::Unpacked>,
    split: Option<Split>,
    workers: Option<Workers>,
    /// Whether requests are as the workers' layout says.
    fits_requests: bool,
    destinations: Destinations,
    /// The receives that nothing has matched, where they could be listed.
    waiting: Option<HashSet<TargetAddr>>,
}

impl<'a> Ucx<'a> {
    /// Finds the workers; `None` where MPICH's layouts have nothing of UCX.
    ///
    /// # Errors
    /// Where the process is gone.
    pub fn new(layouts: &'a Layouts, calibration: Calibration<'a>) -> Result<Option<Self>, ReaderError> {
        let fields = ["dev.ch4.netmod.ucx.s.ucp_request", "dev.ch4.netmod.ucx.ucp_request"];
        let request = fields.into_iter().find_map(|field| Slot::probe(layouts, "MPIR_Request", field).ok().flatten());
        let Some(request) = request else { return Ok(None) };
        let target = calibration.target;
        let candidates = global::find(target, layouts, &calibration.pools.ranges, &UcxLayout::shipped(target.abi()))?;
        let unpacked = native::Unpacked::resolve(layouts);
        let fields = ["dev.ch4.netmod.ucx.s.message_handler", "dev.ch4.netmod.ucx.message_handler"];
        let message = fields.into_iter().find_map(|field| Slot::probe(layouts, "MPIR_Request", field).ok().flatten());
        Ok(Some(Self {
            calibration,
            layouts,
            candidates,
            prepared: false,
            error: None,
            request,
            message,
            unpacked,
            split: Split::configured(layouts),
            workers: None,
            fits_requests: false,
            destinations: Destinations::default(),
            waiting: None,
        }))
    }

    /// Chooses the layout, and how tags are packed, once. That takes another pass over the requests, so it is done only
    /// where one of them is UCX's: `first`.
    fn prepare(&mut self, first: Option<TargetAddr>) {
        if !std::mem::replace(&mut self.prepared, true)
            && let Err(error) = self.choose(first)
        {
            (self.workers, self.error) = (None, Some(error));
        }
    }

    fn choose(&mut self, first: Option<TargetAddr>) -> Result<(), TargetError> {
        let candidates = std::mem::take(&mut self.candidates);
        let Calibration { target, communicators, pools, .. } = self.calibration;
        let Calibrated { workers, fits_requests, mut samples } = match first {
            Some(first) => self.calibration.choose(self.request, first, candidates)?,
            None => Calibrated::by_workers(candidates),
        };
        self.fits_requests = fits_requests;
        if let Some(workers) = &workers {
            let arrived = workers.at.iter().flat_map(|worker| workers.arrived(target, *worker).0);
            samples.extend(arrived.take(calibrate::SAMPLES).map(|message| Sample::Arrived(message.word)));
            self.split = Split::choose(self.split, &samples, communicators);
            if first.is_some() {
                let world = communicators.world_size();
                self.destinations = Destinations::find(target, self.layouts, &pools.ranges, workers, world)?;
                self.waiting = workers.waiting(target);
            }
        }
        self.workers = workers;
        Ok(())
    }

    /// Whether UCX is the network of this process: with two in the library, only one is started.
    pub fn is_running(&self) -> bool {
        !self.candidates.is_empty() || self.workers.is_some()
    }

    /// What UCX has of a request, where all of it makes sense, with the communicator.
    fn read(&self, request: &Request<'_>, around: &Around<'_>) -> Option<(Native, Split, usize, bool)> {
        let split = self.split?;
        let place = |sample| split.place(sample, around.communicators);
        let (behind, receive) = (request.record.pointer(self.request), request.kind == Kind::Receive);
        let native = match self.workers.as_ref().filter(|_| self.fits_requests) {
            Some(workers) => native::by_layout(around.target, &workers.layout, request.at, receive, behind),
            None => native::by_search(around.target, request.at, receive, behind, |sample| place(sample).is_some()),
        }?;
        let mut places = split.places(native.sample, around.communicators);
        if places.len() > 1 {
            // Only one of them has the process that the message goes to.
            let world = native.more.and_then(|more| self.destinations.of(more.owner));
            let found = |index: usize| around.communicators.found.get(index);
            places.retain(|(index, _)| world.and_then(|world| found(*index)?.local_rank(world)).is_some());
        }
        let [(comm, collective)] = places[..] else { return None };
        Some((native, split, comm, collective))
    }

    /// Fills in what UCX has of a receive.
    fn receive(&self, native: &Native, split: Split, word: u64, mask: u64, operation: &mut Operation) {
        let Some(open) = split.open(mask) else { return };
        operation.any_source = open.any_source;
        operation.tag_wild = open.any_tag;
        operation.desired_local_rank = (!open.any_source).then(|| split.rank(word));
        operation.desired_tag = (!open.any_tag).then(|| split.tag(word));
        let Some(more) = native.more else { return };
        let (sender, length) = more.sender;
        let matched = self.waiting.as_ref().is_some_and(|waiting| !waiting.contains(&more.link));
        if matched && (sender ^ word) & mask == 0 {
            operation.status = OperationStatus::Matched;
            operation.actual_local_rank = Some(split.rank(sender));
            operation.actual_tag = Some(split.tag(sender));
            operation.actual_length = Some(length);
        }
    }

    /// Fills in what UCX has of a send.
    fn send(&self, native: &Native, split: Split, word: u64, found: &Found, operation: &mut Operation) {
        operation.desired_tag = Some(split.tag(word));
        let reason = match native.more {
            None => RELEASE_NOT_KNOWN.to_owned(),
            Some(more) => match self.destinations.of(more.owner) {
                None => format!(
                    "UCX sends it over the connection {}, which is not in MPICH's table of addresses",
                    more.owner
                ),
                Some(world) => match found.local_rank(world) {
                    Some(rank) => {
                        operation.desired_local_rank = Some(rank);
                        return;
                    }
                    None => format!(
                        "rank {world} of MPI_COMM_WORLD, where it goes, was not found in the communicator's group"
                    ),
                },
            },
        };
        operation.not_known("desired_local_rank", reason.clone());
        operation.not_known("desired_global_rank", reason);
    }

    /// A message that MPI_Mprobe took off UCX's list: MPICH's request has its address
    /// (src/mpid/ch4/netmod/ucx/ucx_probe.h, v4.0.2).
    fn held(&self, request: &Request<'_>, mut operation: Operation, around: &Around<'_>) -> Option<Decoded> {
        let (workers, split) = (self.workers.as_ref()?, self.split?);
        let message = workers.held(around.target, request.record.pointer(self.message?)).ok()?;
        let (comm, _) = split.place(Sample::Arrived(message.word), around.communicators)?;
        arrived(&mut operation, split.rank(message.word), split.tag(message.word), Some(message.length));
        matched_message(&mut operation);
        operation.sender_request = message.sender;
        operation.evidence = Some(OF_HELD.into());
        Some(Decoded { comm, queue: QueueKind::PendingReceives, order: u64::MAX, operation })
    }

    /// Fills in buffer and length, where the owner of the request is known.
    fn data(&self, native: &Native, request: &Request<'_>, operation: &mut Operation, around: &mut Around<'_>) {
        let reason = match (native.more, &self.workers) {
            (Some(more), Some(workers)) if workers.own(around.target, native) => {
                self.keep(more.data, request, operation, around);
                return;
            }
            (Some(_), Some(_)) => "UCX's request belongs to none of the workers that MPICH has",
            _ => RELEASE_NOT_KNOWN,
        };
        for fact in ["desired_length", "buffer", "datatype", "count"] {
            operation.not_known(fact, reason);
        }
    }

    fn keep(&self, data: Data, request: &Request<'_>, operation: &mut Operation, around: &mut Around<'_>) {
        operation.desired_length = Some(data.length);
        if self.unpacked.is_some_and(|unpacked| unpacked.fill(request, operation, &mut around.datatypes)) {
            return;
        }
        operation.buffer = data.buffer.map(TargetAddr::get);
        if data.buffer.is_none() {
            operation.not_known("buffer", "the data is in several pieces");
        }
        for fact in ["datatype", "count"] {
            operation.not_known(fact, NO_DATATYPE);
        }
    }
}

impl Transport for Ucx<'_> {
    fn decode(&mut self, request: &Request<'_>, mut operation: Operation, around: &mut Around<'_>) -> Option<Decoded> {
        if !request.complete() || request.kind == Kind::MatchedProbe {
            self.prepare(Some(request.at));
        }
        let queue = match request.kind {
            Kind::Send => QueueKind::PendingSends,
            Kind::Receive => QueueKind::PendingReceives,
            Kind::MatchedProbe => return self.held(request, operation, around),
            _ => return None,
        };
        let read = if request.complete() { None } else { self.read(request, around) };
        let Some((native, split, comm, collective)) = read else {
            let reason = if request.complete() {
                "UCX has forgotten a request that is complete"
            } else {
                "what stands where UCX's request should be does not lead back to MPICH's, or names no communicator \
                 of this process"
            };
            let peer = ["desired_local_rank", "desired_global_rank", "desired_tag"];
            for fact in peer.into_iter().chain(["desired_length", "buffer", "datatype", "count"]) {
                operation.not_known(fact, reason);
            }
            return Some(Decoded { comm: request.comm?, queue, order: u64::MAX, operation });
        };
        let found = around.communicators.found.get(comm)?;
        let known = native.more.is_some();
        match native.sample {
            Sample::Receive(word, mask) => {
                self.receive(&native, split, word, mask, &mut operation);
                operation.evidence = Some(if known { BY_LAYOUT } else { BY_TAG }.into());
            }
            Sample::Send(word) | Sample::Arrived(word) => {
                self.send(&native, split, word, found, &mut operation);
                operation.library_request = native.more.and_then(|more| more.id);
                let connected = operation.desired_local_rank.is_some();
                operation.evidence = Some(if connected { OF_SEND } else { OF_SEND_BY_TAG }.into());
            }
        }
        let (Sample::Receive(word, _) | Sample::Send(word) | Sample::Arrived(word)) = native.sample;
        operation.internal |= collective || split.is_protocol(word);
        self.data(&native, request, &mut operation, around);
        if queue == QueueKind::PendingSends {
            operation.actual_local_rank = operation.desired_local_rank;
            operation.actual_tag = operation.desired_tag;
            operation.actual_length = operation.desired_length;
        }
        let order = if queue == QueueKind::PendingReceives { native.sequence } else { u64::MAX };
        Some(Decoded { comm, queue, order, operation })
    }

    fn abandoned(&self, request: &Request<'_>, around: &Around<'_>) -> Option<u64> {
        self.split?;
        let workers = self.workers.as_ref().filter(|_| self.fits_requests && !request.complete())?;
        let (behind, receive) = (request.record.pointer(self.request), request.kind == Kind::Receive);
        // Only a request that leads back is believed: without a communicator nothing else confirms it.
        let native = native::by_layout(around.target, &workers.layout, request.at, receive, behind)?;
        let (Sample::Receive(word, _) | Sample::Send(word) | Sample::Arrived(word)) = native.sample;
        let context = Split::context(word);
        let all = around.communicators;
        let known = if receive { all.receiving(context).is_some() } else { !all.senders(context).is_empty() };
        (!known).then_some(context)
    }

    fn unexpected(&mut self, around: &mut Around<'_>) -> Result<Unexpected, ReaderError> {
        self.prepare(None);
        if let Some(error) = self.error.take() {
            return Err(error.into());
        }
        let Some(workers) = &self.workers else {
            let incomplete = "messages that have arrived are on a list of UCX's worker, which was not found: this \
                release of UCX is \
                              not known";
            return Ok(Unexpected { incomplete: Some(incomplete.to_owned()), ..Unexpected::default() });
        };
        let Some(split) = self.split else {
            let incomplete = "how this build packs rank and tag for UCX is not known, so the messages that have \
                arrived cannot be distinguished";
            return Ok(Unexpected { incomplete: Some(incomplete.to_owned()), ..Unexpected::default() });
        };
        let mut found = Unexpected::default();
        let mut problems = Vec::new();
        for worker in &workers.at {
            let (messages, problem) = workers.arrived(around.target, *worker);
            problems.extend(problem);
            let (letters, problem) = workers.in_transit(around.target, *worker, MAX_IN_TRANSIT);
            found.in_transit = found.in_transit.take().or(problem);
            let all = messages.into_iter().map(|message| (message, OperationStatus::Pending));
            let letters = letters.into_iter().map(|message| (message, OperationStatus::InTransit));
            for (order, (message, status)) in (0..).zip(all.chain(letters)) {
                if split.is_protocol(message.word) {
                    continue;
                }
                let Some((comm, collective)) = split.place(Sample::Arrived(message.word), around.communicators) else {
                    let context = Split::context(message.word);
                    add_problem(
                        &mut problems,
                        format!("a message has the context {context}, which no communicator here receives"),
                    );
                    continue;
                };
                let (rank, tag) = (Some(split.rank(message.word)), Some(split.tag(message.word)));
                let evidence = if status == OperationStatus::InTransit { IN_TRANSIT } else { OF_MESSAGE };
                let mut operation = Operation {
                    status,
                    desired_local_rank: rank,
                    desired_tag: tag,
                    desired_length: Some(message.length),
                    actual_local_rank: rank,
                    actual_tag: tag,
                    actual_length: Some(message.length),
                    system_buffer: true,
                    buffer: message.buffer.map(TargetAddr::get),
                    sender_request: message.sender,
                    internal: collective,
                    evidence: Some(evidence.into()),
                    ..Operation::default()
                };
                if message.buffer.is_none() {
                    operation.not_known("buffer", "not all of the message is here yet");
                }
                found.messages.push(Decoded { comm, queue: QueueKind::UnexpectedMessages, order, operation });
            }
        }
        found.incomplete = (!problems.is_empty()).then(|| problems.join("; "));
        Ok(found)
    }
}
