//! Sends that MPICH has handed to libfabric.

use super::{NO_RANK, Ofi, PEER};
use crate::libfabric::{Number, Receive, Send, Source};
use crate::mpich::requests::Request;
use crate::mpich::transport::{Around, Decoded};
use crate::record::Slot;
use model::{Operation, QueueKind};
use target::Target;
use target::address::TargetAddr;

const OF_ANSWER: &str = "in the receive that waits in libfabric for the answer to this synchronous send";
const LISTED: &str =
    "among libfabric's sends, in the entry that leads to MPICH's request; its tag has the context of the communicator";
const NOT_KEPT: &str = "MPICH hands it to libfabric and does not keep it in a send's request";
const NOT_OF_PROVIDER: &str = "libfabric's provider does not keep to which process it sends";
const COPIED: &str = "MPICH has copied the data, and its request does not keep from where";
const ANNOUNCED: &str = "only its announcement was handed to libfabric";

/// Where a send belongs and what it is matched by.
struct Placed {
    comm: usize,
    /// Whether it is one of a collective.
    collective: bool,
    address: Option<u64>,
    tag: i64,
    evidence: &'static str,
}

impl Ofi<'_> {
    pub(super) fn send(&self, request: &Request<'_>, mut operation: Operation, around: &Around<'_>) -> Option<Decoded> {
        let sent = self.sent(request);
        let number = sent.and_then(|(_, send)| send.number).or_else(|| self.number(request));
        self.data_sent(request, sent.map(|(_, send)| send), &mut operation);
        let order = sent.filter(|(_, send)| send.in_order).map_or(u64::MAX, |(order, _)| order);
        let queue = QueueKind::PendingSends;
        let Some(placed) = self.placed(request, sent.map(|(_, send)| send), around) else {
            let problem = self.network.as_ref().and_then(|network| network.sends_problem.as_ref());
            let reason = match problem {
                Some(problem) => format!("{NOT_KEPT}; of what libfabric has: {problem}"),
                None => NOT_KEPT.to_owned(),
            };
            for fact in PEER {
                operation.not_known(fact, reason.clone());
            }
            operation.library_request = number.and_then(|number| number.request(None));
            return Some(Decoded { comm: request.comm?, queue, order, operation });
        };
        let Placed { comm, collective, address, tag, evidence } = placed;
        let found = around.communicators.found.get(comm)?;
        let rank = address.and_then(|address| self.rank(found, address));
        operation.evidence = Some(evidence.into());
        (operation.desired_tag, operation.actual_tag) = (Some(tag), Some(tag));
        (operation.desired_local_rank, operation.actual_local_rank) = (rank, rank);
        operation.internal |= collective;
        if rank.is_none() {
            for fact in ["desired_local_rank", "desired_global_rank"] {
                operation.not_known(fact, if address.is_some() { NO_RANK } else { NOT_OF_PROVIDER });
            }
        }
        operation.library_request =
            number.and_then(|number| number.request(rank.and_then(|rank| found.world_rank(rank))));
        Some(Decoded { comm, queue, order, operation })
    }

    /// By what its message names a send, whatever libfabric has of it.
    fn number(&self, request: &Request<'_>) -> Option<Number> {
        let told = self.kept.told.filter(|_| !request.complete())?;
        let named = self.network.as_ref().is_some_and(|network| network.named_by_given);
        named.then(|| Number::given(request.record.address_of(told)))
    }

    /// What libfabric has of a send, with its place among all.
    fn sent(&self, request: &Request<'_>) -> Option<(u64, Send)> {
        let told = self.kept.told.filter(|_| !request.complete())?;
        self.network.as_ref()?.sends.get(&request.record.address_of(told)).copied()
    }

    /// Fills in what is sent from where.
    fn data_sent(&self, request: &Request<'_>, sent: Option<Send>, operation: &mut Operation) {
        let bits = self.network.as_ref().and_then(|network| network.bits);
        let announced = sent.zip(bits).is_some_and(|(send, bits)| bits.is_announced(send.tag));
        let copy = self.kept.copy.map(|slot| request.record.pointer(slot)).filter(|at| !at.is_null());
        let whole = sent.filter(|_| !announced);
        operation.desired_length = whole.map(|send| send.length);
        operation.actual_length = operation.desired_length;
        let buffer = whole.and_then(|send| send.buffer);
        operation.buffer = buffer.filter(|at| Some(*at) != copy).map(TargetAddr::get);
        let reason = match (announced, buffer.is_some() && buffer == copy) {
            (true, _) => ANNOUNCED,
            (_, true) => COPIED,
            _ => NOT_KEPT,
        };
        for (fact, missing) in
            [("desired_length", operation.desired_length.is_none()), ("buffer", operation.buffer.is_none())]
        {
            if missing {
                operation.not_known(fact, reason);
            }
        }
        for fact in ["count", "datatype"] {
            operation.not_known(fact, NOT_KEPT);
        }
    }

    /// Where a send belongs: by the receive that waits for its answer, where it is a synchronous one, else by what libfabric has.
    fn placed(&self, request: &Request<'_>, sent: Option<Send>, around: &Around<'_>) -> Option<Placed> {
        let bits = self.network.as_ref()?.bits?;
        let answer = self.answers.get(&request.at).filter(|answer| bits.is_own(answer.word));
        let (word, address, evidence) = match (answer, sent.filter(|send| !bits.is_own(send.tag))) {
            (Some(answer), sent) => {
                (answer.word, answer.source.address().or(sent.and_then(|send| send.destination)), OF_ANSWER)
            }
            (None, Some(send)) => (send.tag, send.destination, LISTED),
            (None, None) => return None,
        };
        let places = around.communicators.senders(bits.context(word));
        let named = |place: &&(usize, bool)| request.comm.is_none_or(|comm| comm == place.0);
        let fitting: Vec<(usize, bool)> = places.iter().filter(named).copied().collect();
        // An intercommunicator's context may be that of another communicator here, which need not have the receiver.
        let has = |place: &&(usize, bool)| {
            let found = around.communicators.found.get(place.0);
            found.is_some_and(|found| address.is_some_and(|address| self.rank(found, address).is_some()))
        };
        let receivers: Vec<(usize, bool)> = fitting.iter().filter(has).copied().collect();
        let (([(comm, collective)], _) | (_, [(comm, collective)])) = (fitting.as_slice(), receivers.as_slice()) else {
            return None;
        };
        let (comm, collective) = (*comm, *collective);
        Some(Placed { comm, collective, address, tag: bits.tag(word), evidence })
    }
}

/// The send whose answer a receive waits for, and from which process, if that is kept (`MPIDI_OFI_issue_ack_recv`, ofi_send.h).
///
/// Behind what libfabric is given stand the event and the request of the send (`MPIDI_OFI_ssendack_request_t`, ofi_types.h, v4.0;
/// `MPIDI_OFI_ack_request_t`, v5.0); newer releases have the process there as well, just before what the answer is matched by.
pub(super) fn answer(target: &dyn Target, told: Slot, receive: &Receive) -> Option<(TargetAddr, Answer)> {
    const WORDS: usize = 8;
    let at = receive.context.wrapping_add(told.size as u64);
    let send = target.read_pointer(at.wrapping_add(target.abi().pointer_width.bytes())).ok()?;
    let mut source = receive.source;
    if source.address().is_none()
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
pub(super) struct Answer {
    /// Who is to answer.
    source: Source,
    /// What it is matched by.
    word: u64,
}
