//! Requests (pmodels/mpich, src/include/mpir_request.h, v3.4 to v5.0). What a message is, the reader of the queues says: it
//! depends on the transport.

use serde_json::{Value, json};

use super::super::handle_value::{HandleValue, Place};
use super::super::requests::{Kind, Kinds, RequestShape};
use super::value::Object;
use super::{Depth, HandleReader, NO_OBJECT, list, other_requests, point_to_point, status};
use crate::ReaderError;
use crate::record::{Record, Slot};
use crate::references::Refers;
use model::handle::References;
use model::{Handle, HandleKind, Known, Progress, RequestFacts, RequestSort};
use target::address::TargetAddr;

/// One request.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Where it is.
    pub at: TargetAddr,
    /// What it is for.
    pub kind: Kind,
    /// The communicator, null where it names none.
    pub communicator: TargetAddr,
    /// Whether it is complete.
    pub complete: bool,
    /// Whether it can be started again, and is not started.
    pub inactive: bool,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// Of a persistent one that is active: the request that does the work.
    pub real: TargetAddr,
    /// How many hold it.
    pub references: i64,
}

impl Request {
    /// Its state, as far as all requests are alike.
    pub const fn progress(&self) -> Progress {
        Progress::of(self.inactive, self.complete, self.cancelled)
    }

    /// The word of its state.
    pub const fn status_word(&self) -> &'static str {
        self.progress().word()
    }

    /// Whether the program has freed its handle; else why that is not known. A request that the library still works on has two
    /// references, the program's and the library's (`MPIR_Request_free_impl`, src/mpi/request/request_impl.c, v4.0;
    /// `MPIR_Request_free_unsafe`, src/include/mpir_request.h): measured so on ch3 and ch4, 3.4 to 5.0.
    const fn freed(&self) -> Result<bool, &'static str> {
        use Kind::{Collective, Generalized, PersistentCollective, PersistentReceive, PersistentSend, Receive, Send};
        match (self.kind, self.complete, self.references) {
            // MPI_Request_free gives these back at once.
            (PersistentSend | PersistentReceive | PersistentCollective, ..) => Ok(false),
            // Nobody but the program holds one that is complete.
            (Send | Receive | Generalized | Collective, true, _) => Ok(false),
            (Send | Receive | Generalized | Collective, false, 2) => Ok(false),
            (Send | Receive | Generalized, false, 1) => Ok(true),
            _ => Err("its references do not show it: MPICH holds requests of this kind by different numbers of them"),
        }
    }

    const fn sort(&self) -> Option<RequestSort> {
        match self.kind {
            Kind::Send | Kind::Receive | Kind::PersistentSend | Kind::PersistentReceive | Kind::MatchedProbe => {
                Some(RequestSort::PointToPoint)
            }
            Kind::PersistentCollective | Kind::Collective => Some(RequestSort::Collective),
            Kind::PartitionedSend | Kind::PartitionedReceive | Kind::Partition => Some(RequestSort::Partitioned),
            Kind::Generalized => Some(RequestSort::Generalized),
            Kind::Rma => Some(RequestSort::OneSided),
            Kind::Other => None,
        }
    }

    const fn is_persistent(&self) -> bool {
        use Kind::{PartitionedReceive, PartitionedSend, PersistentCollective, PersistentReceive, PersistentSend};
        matches!(
            self.kind,
            PersistentSend | PersistentReceive | PersistentCollective | PartitionedSend | PartitionedReceive
        )
    }
}

impl HandleReader<'_> {
    /// The request at `at`.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(super) fn request(&self, at: TargetAddr) -> Result<Request, ReaderError> {
        let (shape, kinds) = (RequestShape::resolve(self.layouts)?, Kinds::resolve(self.layouts)?);
        let record = Record::owned(self.target, at, shape.size)?;
        self.decode(&shape, &kinds, &record.view())
    }

    fn decode(&self, shape: &RequestShape, kinds: &Kinds, record: &Record<'_>) -> Result<Request, ReaderError> {
        let counter = |record: &Record<'_>| match record.pointer(shape.counter) {
            own if own == record.address_of(shape.own_counter) => Ok(record.uint(shape.own_counter)),
            other => self.target.read_uint(other, shape.own_counter.size as u64),
        };
        let cancelled = |record: &Record<'_>| shape.count_high.is_some_and(|slot| record.uint(slot) & 1 != 0);
        let mut request = Request {
            at: record.addr,
            kind: kinds.of(record.int(shape.kind)),
            communicator: record.pointer(shape.comm),
            complete: counter(record)? == 0,
            inactive: false,
            cancelled: cancelled(record),
            real: TargetAddr::NULL,
            references: record.int(shape.references),
        };
        match request.kind {
            Kind::PersistentSend | Kind::PersistentReceive | Kind::PersistentCollective => {
                let slot = match request.kind {
                    Kind::PersistentCollective => {
                        Slot::resolve(self.layouts, "MPIR_Request", "u.persist_coll.real_request")?
                    }
                    _ => shape.real_request,
                };
                request.real = record.pointer(slot);
                request.inactive = request.real.is_null();
                if !request.inactive {
                    let real = Record::owned(self.target, request.real, shape.size)?;
                    request.complete = counter(&real.view())? == 0;
                    request.cancelled = cancelled(&real.view());
                }
            }
            Kind::PartitionedSend | Kind::PartitionedReceive => {
                request.inactive = shape.active_partitions.is_some_and(|slot| record.uint(slot) == 0);
            }
            _ => {}
        }
        // A persistent request that waits for its start is complete for MPI_Wait.
        request.complete |= request.inactive;
        Ok(request)
    }

    /// References to those that `uses` accepts.
    pub(super) fn requests(&self, uses: impl Fn(&Request) -> bool) -> Known<References> {
        let (objects, reasons) = list::objects(self, HandleKind::Request);
        let mut problems = reasons;
        let found = objects.into_iter().filter(|object| match object.at.map(|at| self.request(at)) {
            Some(Ok(request)) => uses(&request),
            Some(Err(error)) => {
                if problems.is_empty() {
                    problems.push(error.to_string());
                }
                false
            }
            None => false,
        });
        let found: Vec<(HandleKind, Object)> = found.map(|object| (HandleKind::Request, object)).collect();
        if found.is_empty() && !problems.is_empty() {
            return Err(problems.join("; ").into());
        }
        Ok(self.references(&found))
    }
}

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    if object.value.place() == Place::Builtin {
        shared(object.value, &Kinds::resolve(reader.layouts)?, handle);
        return Ok(());
    }
    let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
    let (shape, kinds) = (RequestShape::resolve(reader.layouts)?, Kinds::resolve(reader.layouts)?);
    let record = Record::owned(reader.target, at, shape.size)?;
    let request = reader.decode(&shape, &kinds, &record.view())?;
    let sort = request.sort().ok_or_else(|| format!("the kind {} is not known here", record.int(shape.kind)).into());
    let mut facts = RequestFacts::new(sort, request.progress(), request.is_persistent());
    if facts.sort == Ok(RequestSort::Collective) && !request.communicator.is_null() {
        facts.communicator = reader.handle_of(HandleKind::Comm, request.communicator);
    }
    handle.set_request(facts);
    handle.fact("complete", request.complete);
    match request.kind {
        Kind::Send | Kind::Receive | Kind::PersistentSend | Kind::PersistentReceive | Kind::MatchedProbe => {
            point_to_point::read(reader, &request, depth, handle);
        }
        Kind::Generalized => other_requests::generalized(reader, &request, depth, handle)?,
        Kind::PartitionedSend | Kind::PartitionedReceive => {
            other_requests::partitioned(reader, &request, depth, handle)?;
        }
        Kind::Rma => other_requests::one_sided(reader, &request, depth, handle)?,
        _ => other_requests::other(reader, &request, depth, handle),
    }
    match request.freed() {
        Ok(freed) => handle.freed = Some(freed),
        Err(reason) => {
            handle.unknown.insert("freed".to_owned(), reason.into());
        }
    }
    if handle.freed == Some(true) {
        handle.summary.push_str(", freed by the application");
    }
    if depth == Depth::Full {
        add_status(reader, &request, handle)?;
    }
    Ok(())
}

/// One of the objects that stand for every operation that was complete at once.
fn shared(value: HandleValue, kinds: &Kinds, handle: &mut Handle) {
    // MPIR_REQUEST_COMPLETE_SEND and its like: the number is that of the kind of request, in 3.4 or in this release
    // (src/include/mpir_request.h, v3.4.3 to v5.0.1).
    let (sort, what) = match value.index() {
        1 => (Some(RequestSort::PointToPoint), "a send that was complete at once"),
        2 => (Some(RequestSort::PointToPoint), "a receive that was complete at once"),
        6 => (Some(RequestSort::Collective), "a collective that was complete at once"),
        8 => (Some(RequestSort::OneSided), "a one-sided operation that was complete at once"),
        0x10 => (Some(RequestSort::PointToPoint), "a receive from MPI_PROC_NULL"),
        other if kinds.of(i64::from(other)) == Kind::Rma => {
            (Some(RequestSort::OneSided), "a one-sided operation that was complete at once")
        }
        other if kinds.of(i64::from(other)) == Kind::Collective => {
            (Some(RequestSort::Collective), "a collective that was complete at once")
        }
        _ => (None, "an operation that was complete at once"),
    };
    let reason = "the library uses this object for all operations that are complete at once";
    let sort = sort.ok_or_else(|| reason.into());
    handle.set_request(RequestFacts::new(sort, Progress::Complete, false));
    handle.unknown("call", reason);
    handle.unknown("communicator", reason);
    handle.predefined = Some(true);
    handle.summary = format!("{what}, complete");
}

/// Adds the status of a complete request.
fn add_status(reader: &HandleReader<'_>, request: &Request, handle: &mut Handle) -> Result<(), ReaderError> {
    if request.kind == Kind::Generalized {
        let reason = "a generalized request's status is made by its query function when it is asked for";
        handle.unknown("status", reason);
    } else if !request.complete || request.inactive {
        // Until then nobody has filled it in, or it is that of the run before.
        handle.fact("status", Value::Null);
    } else {
        let at = if request.real.is_null() { request.at } else { request.real };
        let slot = Slot::resolve(reader.layouts, "MPIR_Request", "status")?;
        let bytes = reader.target.read_bytes(slot.address_in(at), slot.size)?;
        let mut facts = status::of_bytes(reader, &bytes, None).facts;
        // What of the status is meant for the program: all of it for a message (MPI-4.1, 3.2.5), else less.
        match request.kind {
            Kind::Receive | Kind::PersistentReceive | Kind::MatchedProbe => {}
            Kind::Send | Kind::PersistentSend => {
                facts.retain(|name, _| ["error", "error_name", "cancelled"].contains(&name.as_str()));
            }
            _ => facts.retain(|name, _| ["error", "error_name"].contains(&name.as_str())),
        }
        handle.fact("status", json!(facts));
    }
    Ok(())
}
