//! Requests and messages that MPICH leaves to libfabric (ch4:ofi).
//!
//! A receive has its context, buffer and length in MPICH's request (pmodels/mpich, src/mpid/ch4/netmod/ofi/ofi_{pre,recv}.h, v3.4
//! to v5.0). Source and tag are handed to libfabric, which keeps them until a message matches; where its provider is read, they
//! come from there, and so do the messages that nobody has asked for. A send's tag and destination are kept by nobody, but those
//! of synchronous ones: MPICH waits for their answer with a receive of its own (ofi_send.h).

mod addresses;
mod bits;
mod network;

use std::collections::HashMap;

use self::network::Network;
use super::active_messages::{matched_message, message};
use super::communicators::{Communicators, Found};
use super::datatypes::Datatypes;
use super::handle_value::{HandleValue, Place};
use super::requests::{Kind, Request};
use super::transport::{Around, Decoded, Transport, Unexpected};
use crate::libfabric::{Message, Receive, Source};
use crate::record::Slot;
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use model::{Operation, OperationStatus, QueueKind};
use target::address::TargetAddr;
use target::{Range, Reason, Target, TargetError};

const EVIDENCE: &str = "in MPICH's request for libfabric, whose context is that of the communicator";
const WAITING: &str = "on libfabric's list of receives, in the entry that leads to MPICH's request; its tag has the context of the communicator";
const TAKEN: &str = "MPICH hands it to libfabric, which does not keep it once a message has matched";
const OF_MESSAGE: &str =
    "on libfabric's list of messages that no receive has matched; its tag has the context of the communicator";
const OF_ANSWER: &str = "in the receive that waits in libfabric for the answer to this synchronous send";
const NOT_KEPT: &str = "this release of MPICH does not keep it for libfabric's receives";
const SENDS: &str = "MPICH hands it to libfabric and does not keep it in a send's request";
const DOES_NOT_FIT: &str = "what stands in MPICH's request for libfabric does not make sense";
const OF_HELD: &str = "in MPICH's request of a matching probe, in which libfabric has found a message";
const NO_RANK: &str =
    "the process that libfabric takes it from is not in MPICH's table of addresses, or not in the communicator";

/// No release has more events; another number is none.
const EVENTS: i64 = 64;

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

/// Where MPICH's request has what it keeps for libfabric, as far as the release does.
#[derive(Debug, Clone)]
struct Kept {
    /// What libfabric is given to tell of: the place of this field.
    told: Option<Slot>,
    event: Slot,
    context: Slot,
    /// Address and length of what libfabric is given; 3.4 leaves old values there (src/mpid/ch4/netmod/ofi/ofi_recv.h).
    vector: Option<(Slot, Slot)>,
    buffer: Option<Slot>,
    count: Option<Slot>,
    datatype: Option<Slot>,
    /// The application's buffer of a receive into a temporary one, and that.
    packed: Option<(Slot, Slot)>,
    /// The events of receives: plain, into a temporary buffer, into several pieces.
    receives: [Option<i64>; 4],
    peek: Option<Peek>,
}

/// How a probe goes (`MPIDI_OFI_do_iprobe`, pmodels/mpich, src/mpid/ch4/netmod/ofi/ofi_probe.h, v3.4 to v5.0).
#[derive(Debug, Clone)]
struct Peek {
    /// `MPIDI_OFI_EVENT_PEEK`.
    event: i64,
    status: Slot,
    found: i64,
    /// Libfabric has not answered, or has no message.
    nothing: [i64; 2],
}

/// What a request of a matching probe is.
enum Probe {
    /// Nothing was found yet, or the request is only being made: each attempt makes one.
    Searching,
    /// It holds a message, which its status describes.
    Found,
    /// The memory fits neither.
    Unknown,
}

impl Kept {
    fn new(layouts: &Layouts) -> Option<Self> {
        let slot = |names: &[&str]| {
            names.iter().find_map(|name| {
                Slot::probe(layouts, "MPIR_Request", &format!("dev.ch4.netmod.ofi.{name}")).ok().flatten()
            })
        };
        let event = |name: &str| layouts.constant(&format!("MPIDI_OFI_EVENT_{name}")).ok();
        Some(Self {
            told: slot(&["direct.context", "context"]),
            event: slot(&["direct.event_id", "event_id"])?,
            context: slot(&["direct.context_id", "context_id", "util_id.v", "util_id"])?,
            // Releases from 4.0 on, which write it with every receive, are those whose requests have a kind.
            vector: slot(&["direct.kind", "kind"])
                .and_then(|_| slot(&["direct.util.iov.iov_base", "util.iov.iov_base"]))
                .zip(slot(&["direct.util.iov.iov_len", "util.iov.iov_len"])),
            buffer: slot(&["direct.buf", "buf"]),
            count: slot(&["direct.count", "count"]),
            datatype: slot(&["direct.datatype", "datatype"]),
            packed: slot(&["noncontig.pack.buf"]).zip(slot(&["noncontig.pack.pack_buffer"])),
            receives: ["RECV", "RECV_HUGE", "RECV_PACK", "RECV_NOPACK"].map(event),
            peek: event("PEEK").and_then(|event| {
                let number = |name: &str| layouts.constant(&format!("MPIDI_OFI_PEEK_{name}")).ok();
                Some(Peek {
                    event,
                    status: slot(&["direct.peek_status", "peek_status", "util_id.v", "util_id"])?,
                    found: number("FOUND")?,
                    nothing: [number("START")?, number("NOT_FOUND")?],
                })
            }),
        })
    }

    fn probe(&self, request: &Request<'_>) -> Probe {
        let Some(peek) = &self.peek else { return Probe::Unknown };
        let (event, status) = (request.record.int(self.event), request.record.int(peek.status));
        match event == peek.event {
            true if status == peek.found => Probe::Found,
            true if peek.nothing.contains(&status) => Probe::Searching,
            // The event is written as the last thing before libfabric is asked; until then an earlier one stands there.
            false if (0..EVENTS).contains(&event) => Probe::Searching,
            _ => Probe::Unknown,
        }
    }

    /// A message that MPI_Mprobe took; 3.4 does not name its communicator.
    fn held(&self, request: &Request<'_>, mut operation: Operation) -> Option<Decoded> {
        let (Probe::Found, Some(comm)) = (self.probe(request), request.comm) else { return None };
        let (source, tag) = (request.record.int(request.shape.source), request.record.int(request.shape.tag));
        message(&mut operation, source, tag, request.received());
        matched_message(&mut operation);
        operation.evidence = Some(OF_HELD.into());
        Some(Decoded { comm, queue: QueueKind::PendingReceives, order: u64::MAX, operation })
    }

    /// The communicator of a receive by its place, whether it is one of a collective, and which kind of receive it is; `None` where
    /// the request does not make sense.
    fn place(&self, request: &Request<'_>, around: &Around<'_>) -> Option<(usize, bool, usize)> {
        let event = Some(request.record.int(self.event));
        let which = self.receives.iter().position(|receive| receive.is_some() && *receive == event)?;
        let (comm, collective) = around.communicators.receiving(request.record.uint(self.context))?;
        // Newer releases name it as well.
        request.comm.is_none_or(|named| named == comm).then_some((comm, collective, which))
    }

    /// Fills in where the data of a receive goes. `which`: its place in `receives`.
    fn data(&self, request: &Request<'_>, which: usize, operation: &mut Operation, datatypes: &mut Datatypes<'_>) {
        const PACKED: usize = 2;
        const IN_PIECES: usize = 3;
        let record = &request.record;
        let handle = self.datatype.map(|slot| u32::try_from(record.uint(slot)).unwrap_or(0));
        let known = handle.map(|handle| datatypes.of(handle));
        // Of other types libfabric is given the address of the first byte with data.
        let plain = handle.is_some_and(|handle| HandleValue(handle).place() == Place::Builtin);
        let count = self.count.map(|slot| record.uint(slot));
        let counted = known.as_ref().and_then(|known| count?.checked_mul(known.bytes?));
        // Releases that keep what the application asked for give libfabric less of it: long messages come in pieces.
        let vector = || self.vector.filter(|_| which != IN_PIECES).map(|(_, length)| record.uint(length));
        // An event of an earlier use may have stayed, but without its temporary buffer.
        let packed = self.packed.filter(|(_, temporary)| which == PACKED && record.uint(*temporary) != 0);
        operation.desired_length = if self.count.is_some() { counted } else { vector() };
        operation.count = count;
        known.unwrap_or_default().put_into(operation);
        let buffer = match (self.buffer, packed, self.vector) {
            (Some(slot), ..) | (None, Some((slot, _)), _) => Some(record.uint(slot)),
            (None, None, Some((slot, _))) if which != IN_PIECES && plain => Some(record.uint(slot)),
            _ => None,
        };
        operation.buffer = buffer;
        for (fact, missing) in [
            ("desired_length", operation.desired_length.is_none()),
            ("count", count.is_none()),
            ("datatype", operation.datatype.is_none() && operation.datatype_value.0.is_none()),
            ("buffer", buffer.is_none()),
        ] {
            if missing {
                operation.not_known(fact, NOT_KEPT);
            }
        }
    }
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
                Network { receives_problem: Some(reason), ..Network::default() }
            }
        };
        if let Some(told) = self.kept.told {
            // Only the receives of answers take one tag alone.
            for (_, receive) in network.receives.values().filter(|(_, receive)| receive.ignore == 0) {
                self.answers.extend(answer(self.target, told, receive));
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

    fn send(&self, request: &Request<'_>, mut operation: Operation, around: &Around<'_>) -> Option<Decoded> {
        for fact in ["desired_length", "buffer", "count", "datatype"] {
            operation.not_known(fact, SENDS);
        }
        let queue = QueueKind::PendingSends;
        if let Some((comm, collective, rank, tag)) = self.answered(request, around) {
            operation.evidence = Some(OF_ANSWER.into());
            (operation.desired_tag, operation.actual_tag) = (Some(tag), Some(tag));
            (operation.desired_local_rank, operation.actual_local_rank) = (rank, rank);
            operation.internal |= collective;
            if rank.is_none() {
                for fact in ["desired_local_rank", "desired_global_rank"] {
                    operation.not_known(fact, NO_RANK);
                }
            }
            return Some(Decoded { comm, queue, order: u64::MAX, operation });
        }
        for fact in PEER {
            operation.not_known(fact, SENDS);
        }
        Some(Decoded { comm: request.comm?, queue, order: u64::MAX, operation })
    }

    /// Communicator, whether it is one of a collective, destination and tag of a synchronous send, by the receive that waits for
    /// its answer.
    fn answered(&self, request: &Request<'_>, around: &Around<'_>) -> Option<(usize, bool, Option<i64>, i64)> {
        let answer = self.answers.get(&request.at)?;
        let bits = self.network.as_ref()?.bits.filter(|bits| bits.is_own(answer.word))?;
        let places = around.communicators.senders(bits.context(answer.word));
        let named = |place: &&(usize, bool)| request.comm.is_none_or(|comm| comm == place.0);
        let mut fitting = places.iter().filter(named);
        let (comm, collective) = fitting.next()?;
        // An intercommunicator's context may be that of another communicator here.
        if fitting.next().is_some() {
            return None;
        }
        let rank = || self.rank(around.communicators.found.get(*comm)?, answer.source.address()?);
        Some((*comm, *collective, rank(), bits.tag(answer.word)))
    }

    /// A message that nobody has asked for, where it is one of the application's or of a collective.
    fn arrived(&self, message: &Message, order: u64, around: &Around<'_>) -> Result<Option<Decoded>, Reason> {
        let Some((network, bits)) = self.network.as_ref().and_then(|network| Some((network, network.bits?))) else {
            return Ok(None);
        };
        if bits.is_own(message.tag) || message.claimed.is_some() {
            return Ok(None);
        }
        let context = bits.context(message.tag);
        let Some((comm, collective)) = around.communicators.receiving(context) else {
            let text = format!("a message has the context {context}, which no communicator here receives");
            return Err(Reason::new(text));
        };
        let Some(found) = around.communicators.found.get(comm) else { return Ok(None) };
        let by_address = || found.local_rank(network.addresses.of(message.source?)?);
        let rank = bits.sender(message.tag, message.data).or_else(by_address);
        let length = (!bits.is_announced(message.tag)).then_some(message.length);
        let tag = Some(bits.tag(message.tag));
        let mut operation = Operation {
            desired_local_rank: rank,
            desired_tag: tag,
            desired_length: length,
            actual_local_rank: rank,
            actual_tag: tag,
            actual_length: length,
            system_buffer: true,
            internal: collective,
            evidence: Some(OF_MESSAGE.into()),
            ..Operation::default()
        };
        operation.not_known("buffer", "it is in libfabric's own memory, perhaps not whole");
        if rank.is_none() {
            for fact in ["desired_local_rank", "desired_global_rank"] {
                operation.not_known(fact, "libfabric does not say which process sent it");
            }
        }
        if length.is_none() {
            operation.not_known("desired_length", "only the announcement of the message has come");
        }
        Ok(Some(Decoded { comm, queue: QueueKind::UnexpectedMessages, order, operation }))
    }
}

/// The send whose answer a receive waits for, and from which process, if that is kept (`MPIDI_OFI_issue_ack_recv`, ofi_send.h).
///
/// Behind what libfabric is given stand the event and the request of the send (`MPIDI_OFI_ssendack_request_t`, ofi_types.h, v4.0;
/// `MPIDI_OFI_ack_request_t`, v5.0); newer releases have the process there as well, just before what the answer is matched by.
fn answer(target: &dyn Target, told: Slot, receive: &Receive) -> Option<(TargetAddr, Answer)> {
    const WORDS: usize = 8;
    let at = receive.context.wrapping_add(told.size as u64);
    let send = target.read_pointer(at.wrapping_add(target.abi().pointer_width.bytes())).ok()?;
    let mut source = receive.source;
    if source == Source::Any
        && let Ok(bytes) = target.read_bytes(at, 8 * WORDS)
    {
        let words: Vec<u64> = bytes.chunks_exact(8).map(|word| target.abi().uint(word)).collect();
        let place = words.iter().skip(3).position(|word| *word == receive.tag);
        source = place.and_then(|place| words.get(place + 2)).map_or(Source::NotKept, |word| Source::Address(*word));
    }
    Some((send, Answer { source, word: receive.tag }))
}

/// What is known of the answer to a synchronous send.
#[derive(Debug, Clone, Copy)]
struct Answer {
    /// Who is to answer.
    source: Source,
    /// What it is matched by.
    word: u64,
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
