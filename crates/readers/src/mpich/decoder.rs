//! Who knows a request: active messages, ch3, the lists within one process, or the network.

use std::collections::HashMap;

use super::active_messages::{ActiveMessages, completed};
use super::ch3::Ch3;
use super::communicators::{Communicators, c_handle};
use super::lists::{Links, List};
use super::persistent::{self, Persistent};
use super::requests::{Kind, Request};
use super::transport::{Around, Decoded, Transport};
use crate::record::Slot;
use crate::send_mode::SendMode;
use layouts::{LayoutError, Layouts};
use model::{Operation, QueueKind};
use target::Target;
use target::address::TargetAddr;

/// Receives of the network come after those on lists, whose order is none of theirs.
const AFTER_LISTS: u64 = 1 << 62;

/// What a request turned out to be.
pub enum Outcome {
    /// Operations.
    Rows(Vec<Row>),
    /// A persistent request that has started another one.
    Persistent(Persistent),
    /// A persistent request that is not started, on a communicator.
    Inactive(usize, Box<Operation>),
    /// A message for a communicator that does not exist, with its context.
    Unplaced(u64),
    /// A request on a communicator that has been freed, by its context.
    Abandoned(u64),
    /// An operation of a queue of which nothing is known, perhaps not even the communicator.
    Unknown(QueueKind, Option<usize>),
    /// No operation of a queue.
    Nothing,
}

/// An operation, and what places it in a list.
pub struct Row {
    /// The request that does the work.
    pub at: TargetAddr,
    /// The application's, where that is a persistent one.
    pub persistent: Option<TargetAddr>,
    /// Its neighbours, where its kind of request is kept in lists.
    pub links: Option<Links>,
    /// Where the rest of its facts lies; null where there is none.
    pub more: TargetAddr,
    /// Whether it is one within a communicator of one process, which is done with when it leaves its list.
    pub own: bool,
    /// Whether it is on a list that was found.
    pub listed: bool,
    /// Whether it is an operation only where it is on a list: a request without a communicator that is complete.
    pub doubtful: bool,
    /// The operation.
    pub decoded: Decoded,
}

enum Device {
    Ch4(Box<ActiveMessages>),
    Ch3(Box<Ch3>),
}

/// Decodes requests of one device.
pub struct Decoder {
    device: Device,
    persistent: persistent::Reader,
    /// Whether C handles are pointers (the MPI-5 ABI).
    abi: bool,
    old_posted: Option<Slot>,
    old_unexpected: Option<Slot>,
    any_source: i64,
    any_tag: i64,
}

impl Decoder {
    /// For the device that the layouts have; `device` is what the library says of it.
    ///
    /// # Errors
    /// Names what is missing.
    pub fn new(layouts: &Layouts, device: &str, abi: bool) -> Result<Self, LayoutError> {
        let is_ch3 = device.starts_with("ch3") || layouts.has_field("MPIR_Request", "dev.match.parts.tag");
        let device = if is_ch3 {
            Device::Ch3(Box::new(Ch3::new(layouts)?))
        } else {
            Device::Ch4(Box::new(ActiveMessages::new(layouts)?))
        };
        Ok(Self {
            device,
            persistent: persistent::Reader::new(layouts)?,
            abi,
            old_posted: Slot::probe(layouts, "MPIR_Comm", "dev.ch4.am.posted_list")?,
            old_unexpected: Slot::probe(layouts, "MPIR_Comm", "dev.ch4.am.unexp_list")?,
            any_source: layouts.constant("MPI_ANY_SOURCE")?,
            any_tag: layouts.constant("MPI_ANY_TAG")?,
        })
    }

    /// MPI_ANY_SOURCE and MPI_ANY_TAG.
    pub fn wildcards(&self) -> (i64, i64) {
        (self.any_source, self.any_tag)
    }

    /// Whether messages go through a network's library.
    pub fn uses_network(&self) -> bool {
        matches!(self.device, Device::Ch4(_))
    }

    /// The value that the application has in its variable.
    fn handle(&self, request: &Request<'_>) -> u64 {
        c_handle(request.value, request.at, self.abi)
    }

    /// What a request is.
    pub fn decode(&self, request: &Request<'_>, network: &mut dyn Transport, around: &mut Around<'_>) -> Outcome {
        let operation =
            Operation { status: request.status(), request: Some(self.handle(request)), ..Operation::default() };
        match request.kind {
            Kind::PersistentSend | Kind::PersistentReceive => return self.persistent(request, around),
            Kind::Send | Kind::Receive | Kind::MatchedProbe => {}
            _ => return Outcome::Nothing,
        }
        match &self.device {
            Device::Ch3(ch3) => match ch3.decode(request, operation, around) {
                Ok(Some(decoded)) if decoded.queue == QueueKind::PendingSends => {
                    Outcome::Rows(vec![without_list(request, decoded)])
                }
                Ok(Some(decoded)) => {
                    let links = Some(ch3.links(request));
                    let doubtful = request.comm.is_none() && request.complete();
                    Outcome::Rows(vec![Row { links, doubtful, ..without_list(request, decoded) }])
                }
                Ok(None) => Outcome::Nothing,
                Err(context) => Outcome::Unplaced(context),
            },
            Device::Ch4(messages) => {
                let comm = request.comm.and_then(|comm| Some((comm, around.communicators.found.get(comm)?)));
                if let Some((comm, _)) = comm.filter(|(_, found)| messages.is_own(found)) {
                    let decoded = messages.own(request, operation, comm, around);
                    let rows = decoded.into_iter().map(|decoded| Row { own: true, ..without_list(request, decoded) });
                    let links = links_of(request);
                    return Outcome::Rows(rows.map(|row| Row { links, ..row }).collect());
                }
                if !messages.has(request) {
                    return self.of_network(request, operation, network, around);
                }
                let more = messages.more_of(request);
                match messages.decode(request, operation, around) {
                    Ok(Some(decoded)) if decoded.queue == QueueKind::PendingSends => {
                        Outcome::Rows(vec![without_list(request, decoded)])
                    }
                    Ok(Some(decoded)) => {
                        let links = links_of(request);
                        Outcome::Rows(vec![Row { links, more, ..without_list(request, decoded) }])
                    }
                    Ok(None) => Outcome::Nothing,
                    Err(context) => Outcome::Unplaced(context),
                }
            }
        }
    }

    /// A request that the network's library works on.
    fn of_network(
        &self,
        request: &Request<'_>,
        operation: Operation,
        network: &mut dyn Transport,
        around: &mut Around<'_>,
    ) -> Outcome {
        // The half at shared memory of a receive from any source has all its facts, and is the application's.
        if request.partner().is_some() || (request.kind == Kind::MatchedProbe && network.is_searching(request)) {
            return Outcome::Nothing;
        }
        let queue = if request.kind == Kind::Send { QueueKind::PendingSends } else { QueueKind::PendingReceives };
        match network.decode(request, operation, around) {
            Some(mut decoded) => {
                // Whatever the network keeps: MPI_Wait gives what stands in the status.
                if request.kind == Kind::Receive && request.complete() {
                    completed(request, &mut decoded.operation);
                }
                if decoded.queue == QueueKind::PendingReceives {
                    decoded.order = decoded.order.saturating_add(AFTER_LISTS);
                }
                Outcome::Rows(vec![without_list(request, decoded)])
            }
            // The library keeps complete requests of its own, which belong to no communicator.
            None if request.complete() && request.comm.is_none() => Outcome::Nothing,
            None => match network.abandoned(request, around) {
                Some(context) => Outcome::Abandoned(context),
                None => Outcome::Unknown(queue, request.comm),
            },
        }
    }

    fn persistent(&self, request: &Request<'_>, around: &mut Around<'_>) -> Outcome {
        let persistent = self.persistent.read(request, self.handle(request), around);
        match request.comm {
            _ if !persistent.started.is_null() => Outcome::Persistent(persistent),
            None => Outcome::Nothing,
            Some(comm) => {
                let mut operation = Operation::default();
                self.persistent.complete(&persistent, &mut operation);
                Outcome::Inactive(comm, Box::new(operation))
            }
        }
    }

    /// What a persistent request was made with, also of one that is not started.
    pub fn made_with(&self, request: &Request<'_>, around: &mut Around<'_>) -> Operation {
        let mut operation = Operation::default();
        let persistent = self.persistent.read(request, self.handle(request), around);
        self.persistent.complete(&persistent, &mut operation);
        operation
    }

    /// Adds to an operation what the persistent request that started it says.
    pub fn started(&self, persistent: &Persistent, operation: &mut Operation) {
        self.persistent.complete(persistent, operation);
    }

    /// The mode of a send; `None` where the request does not have it.
    pub fn mode(&self, request: &Request<'_>) -> Option<SendMode> {
        self.persistent.mode(request)
    }

    /// Whether a receive that is on no list is under way; it is then described as such. Other operations are not matched.
    pub fn is_matched(
        &self,
        more: TargetAddr,
        queue: QueueKind,
        operation: &mut Operation,
        around: &Around<'_>,
    ) -> bool {
        match (&self.device, queue) {
            (Device::Ch4(messages), QueueKind::PendingReceives) if messages.was_matched(more, around) == Some(true) => {
                ActiveMessages::matched(operation);
                true
            }
            (Device::Ch3(_), QueueKind::PendingReceives) => {
                Ch3::matched(operation);
                true
            }
            _ => false,
        }
    }

    /// Whether requests do not name their communicator, which keeps the lists itself (ch4 of 3.4).
    pub fn lists_in_communicators(&self) -> bool {
        self.old_posted.is_some()
    }

    /// The receives on the lists of 3.4, with their communicators by place. At most `known` of each list.
    pub fn old_receives(
        &self,
        target: &dyn Target,
        communicators: &Communicators,
        known: usize,
    ) -> HashMap<TargetAddr, usize> {
        let (Device::Ch4(messages), Some(posted)) = (&self.device, self.old_posted) else { return HashMap::new() };
        let mut found = HashMap::new();
        for (index, communicator) in communicators.found.iter().enumerate() {
            let first = posted.read_pointer(target, communicator.at).unwrap_or_default();
            let requests = messages.old_list(target, first, known).unwrap_or_default();
            found.extend(requests.into_iter().map(|request| (request, index)));
        }
        found
    }

    /// The lists of 3.4, of which each communicator has its own (`MPIDIG_comm_t`, src/mpid/ch4/include/mpidpre.h, v3.4.3; one
    /// configured without that has none here). At most `known` elements of each.
    pub fn old_lists(&self, target: &dyn Target, communicators: &Communicators, known: usize) -> Vec<List> {
        let (Device::Ch4(messages), Some(posted), Some(unexpected)) =
            (&self.device, self.old_posted, self.old_unexpected)
        else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for communicator in &communicators.found {
            for slot in [posted, unexpected] {
                let head_at = slot.address_in(communicator.at);
                let first = target.read_pointer(head_at).unwrap_or_default();
                let requests = messages.old_list(target, first, known).filter(|requests| !requests.is_empty());
                found.extend(requests.map(|requests| List { head_at, requests }));
            }
        }
        found
    }
}

/// The neighbours of a request of ch4, whose lists have two directions.
fn links_of(request: &Request<'_>) -> Option<Links> {
    let (next, prev) = request.shape.next.zip(request.shape.prev)?;
    Some(Links { next: request.record.pointer(next), prev: Some(request.record.pointer(prev)) })
}

fn without_list(request: &Request<'_>, decoded: Decoded) -> Row {
    Row {
        at: request.at,
        persistent: None,
        links: None,
        more: TargetAddr::NULL,
        own: false,
        listed: false,
        doubtful: false,
        decoded,
    }
}
