//! Requests: what all of them have, and which file knows the rest.
//!
//! Every component has a class of its own for its requests; the class's name says which (ompi/request/request.h, v4.1.4 and
//! v5.0.7).

use std::collections::HashSet;

use serde_json::Value;

use super::{Depth, HandleReader, collective, one_sided, other_requests, point_to_point, status};
use crate::ReaderError;
use crate::openmpi::cm::held;
use crate::openmpi::pml::Pml;
use crate::openmpi::requests::{COMPLETED, RequestConstants};
use crate::record::{Record, shapes};
use model::{Handle, HandleKind, HandleState, Progress, RequestFacts, RequestSort};
use target::address::TargetAddr;
use target::printable;

shapes! {
    /// What all requests share.
    Common = ["ompi_request_t"] {
        kind: "req_type",
        status: "req_status",
        cancelled: "req_status._cancelled",
        complete: "req_complete",
        state: "req_state",
        persistent: "req_persistent",
        communicator: "req_mpi_object.comm",
    };
    /// The class of an object.
    Class = ["opal_class_t"] { name: "cls_name", bytes: "cls_sizeof", parent: "cls_parent" };
}

/// What the library's kinds of requests are called.
const TYPES: &[(&str, RequestSort)] = &[
    ("OMPI_REQUEST_PML", RequestSort::PointToPoint),
    ("OMPI_REQUEST_IO", RequestSort::File),
    ("OMPI_REQUEST_GEN", RequestSort::Generalized),
    ("OMPI_REQUEST_WIN", RequestSort::OneSided),
    ("OMPI_REQUEST_COLL", RequestSort::Collective),
    ("OMPI_REQUEST_NOOP", RequestSort::NoOp),
    ("OMPI_REQUEST_COMM", RequestSort::Communicator),
    ("OMPI_REQUEST_PART", RequestSort::Partitioned),
];

/// The types of requests that MPI_Cancel acts on (MPI-4.1, 3.8.4).
const CANCELLED: &[RequestSort] = &[RequestSort::PointToPoint, RequestSort::Generalized, RequestSort::Partitioned];

/// What of the status is meant for the program: all of it for a message (MPI-4.1, 3.2.5), else less, and components leave the
/// rest as it happens to be.
const MEANT: &[(RequestSort, &[&str])] = &[
    (RequestSort::File, &["error", "error_name", "bytes"]),
    (RequestSort::Collective, &["error", "error_name"]),
    (RequestSort::OneSided, &["error", "error_name"]),
    (RequestSort::Communicator, &["error", "error_name"]),
];

/// One request, as far as all requests are alike.
pub struct Request<'r> {
    /// With what it is read.
    pub reader: &'r HandleReader<'r>,
    /// How much of it.
    pub depth: Depth,
    /// Where it is.
    pub addr: TargetAddr,
    /// The name of its class.
    pub class: String,
    /// Whether the layouts know its class and the class has the size that they say.
    pub verified: bool,
    /// What sort of request it is.
    pub sort: Option<RequestSort>,
    /// Whether it can be started again.
    pub persistent: bool,
    /// Whether it is marked complete.
    pub complete: bool,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// Whether it waits to be started.
    pub inactive: bool,
    /// The communicator that it was made for.
    pub communicator: TargetAddr,
}

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = Common::resolve(reader.layouts)?;
    let constants = RequestConstants::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, addr, shape.size)?;
    let state = record.uint(shape.state);
    let kind = record.int(shape.kind);
    let sort = TYPES.iter().find(|(name, _)| reader.layouts.constant(name).ok() == Some(kind));
    let (class, bytes) = class_of(reader, addr)?;
    let point_to_point = sort.is_some_and(|(_, sort)| *sort == RequestSort::PointToPoint);
    if state == constants.state_invalid || point_to_point && is_back_with_ucx(reader, addr, &class)? {
        let detail = "its operation has completed or was never started: it belongs to the library again";
        handle.state = HandleState::Freed;
        handle.freed = Some(true);
        handle.summary = format!("freed MPI_Request: {detail}");
        handle.detail = Some(detail.to_owned());
        return Ok(());
    }
    let request = Request {
        reader,
        depth,
        addr,
        verified: reader.layouts.size_of(&class).is_ok_and(|known| known == bytes),
        class,
        sort: sort.map(|(_, sort)| *sort),
        persistent: record.uint(shape.persistent) != 0,
        complete: record.uint(shape.complete) == COMPLETED,
        // Nobody cancels other requests, and not all components fill in this member of the status.
        cancelled: record.uint(shape.cancelled) != 0 && sort.is_some_and(|(_, sort)| CANCELLED.contains(sort)),
        inactive: state == constants.state_inactive,
        communicator: record.pointer(shape.communicator),
    };
    let sort =
        request.sort.ok_or_else(|| "the library uses this object for all operations that are complete at once".into());
    let mut facts = RequestFacts::new(sort, request.progress(), request.persistent);
    if request.sort == Some(RequestSort::Collective) && !request.communicator.is_null() {
        facts.communicator = Some(request.communicator.to_string());
    }
    handle.set_request(facts);
    handle.fact("complete", request.complete);
    match request.class.as_str() {
        "mca_pml_ob1_send_request_t" | "mca_pml_ob1_recv_request_t" if request.verified => {
            point_to_point::read(&request, handle)?;
        }
        // The pml ucx has requests of the common class behind UCX's.
        "ompi_request_t" | "mca_pml_ucx_persistent_request_t"
            if *reader.pml == Pml::Ucx
                && request.verified
                && request.sort == Some(RequestSort::PointToPoint)
                && !request.is_empty()? =>
        {
            point_to_point::read(&request, handle)?;
        }
        held::SEND | held::RECEIVE if *reader.pml == Pml::Cm && request.verified => {
            point_to_point::read(&request, handle)?;
        }
        "ompi_coll_libnbc_request_t" if request.verified => collective::read(&request, handle)?,
        "ompi_osc_rdma_request_t" | "ompi_osc_pt2pt_request_t" if request.verified => {
            one_sided::read(&request, handle)?;
        }
        "ompi_grequest_t" => other_requests::generalized(&request, handle)?,
        "mca_ompio_request_t" if request.verified => other_requests::file(&request, handle)?,
        "mca_part_persist_request_t" => other_requests::partitioned(&request, handle)?,
        _ if request.is_empty()? => other_requests::empty(&request, handle)?,
        _ => other_requests::any(&request, handle),
    }
    if depth == Depth::Full {
        // Until then nobody has filled it in, or it is that of the run before.
        if request.complete && !request.inactive && request.sort != Some(RequestSort::Generalized) {
            let mut facts = status::of_bytes(reader, record.bytes(shape.status), None).facts;
            if let Some((_, meant)) = MEANT.iter().find(|(sort, _)| request.sort == Some(*sort)) {
                facts.retain(|name, _| meant.contains(&name.as_str()));
            }
            handle.fact("status", facts);
        } else if request.sort == Some(RequestSort::Generalized) {
            handle
                .unknown("status", "a generalized request's status is made by its query function when it is asked for");
        } else {
            handle.fact("status", Value::Null);
        }
    }
    Ok(())
}

/// Whether a request of the pml ucx is in UCX's pool again: its own state says nothing of that
/// (`mca_pml_ucx_request_free`, ompi/mca/pml/ucx/pml_ucx_request.c, v4.1.4 and v5.0.10).
fn is_back_with_ucx(reader: &HandleReader<'_>, addr: TargetAddr, class: &str) -> Result<bool, ReaderError> {
    if *reader.pml != Pml::Ucx || class != "ompi_request_t" || is_completed_send(reader, addr)? {
        return Ok(false);
    }
    let Ok((opened, _)) = reader.ucx() else { return Ok(false) };
    Ok(!opened.is_taken(reader.target, addr)?)
}

/// Whether it is the one that the pml ucx gives for every send that was complete at once: a member of the pml itself
/// (`completed_send_req`, ompi/mca/pml/ucx/pml_ucx.h, v4.1.4 and v5.0.10).
pub fn is_completed_send(reader: &HandleReader<'_>, addr: TargetAddr) -> Result<bool, ReaderError> {
    let module = reader.symbol("ompi_pml_ucx")?.filter(|_| *reader.pml == Pml::Ucx);
    let size = reader.layouts.size_of("mca_pml_ucx_module_t").unwrap_or(0);
    Ok(module.is_some_and(|module| addr.get().wrapping_sub(module.get()) < size))
}

/// How the names of classes begin whose objects are those of their parents: a protocol of the wrapper v makes the pml's
/// requests its own (ompi/mca/vprotocol/base/vprotocol_base_request.c, v4.1.4 and v5.0.10), partitioned sends and receives are
/// the same request (ompi/mca/part/persist/part_persist_{sendreq,recvreq}.h, v5.0.10).
const AS_PARENTS: &[&str] = &["mca_vprotocol_", "mca_part_persist_psend_", "mca_part_persist_precv_"];

/// Name and size of the class of the object at `addr`, or of the parent that says the same.
fn class_of(reader: &HandleReader<'_>, addr: TargetAddr) -> Result<(String, u64), ReaderError> {
    let shape = Class::resolve(reader.layouts)?;
    let read = |class: TargetAddr| -> Result<(String, u64, TargetAddr), ReaderError> {
        let record = Record::owned(reader.target, class, shape.size)?;
        let name = printable(&record.text(shape.name, 64, reader.target)?);
        Ok((name, record.uint(shape.bytes), record.pointer(shape.parent)))
    };
    let (mut name, mut bytes, parent) = read(reader.shapes.object.class.read_pointer(reader.target, addr)?)?;
    if AS_PARENTS.iter().any(|start| name.starts_with(start)) {
        (name, bytes, _) = read(parent)?;
    }
    Ok((name, bytes))
}

impl Request<'_> {
    /// Its state, as far as all requests are alike.
    pub fn progress(&self) -> Progress {
        Progress::of(self.inactive, self.complete, self.cancelled)
    }

    /// The word of its state.
    pub fn status_word(&self) -> &'static str {
        self.progress().word()
    }

    /// Whether it is one of the objects that stand for every operation that was complete at once.
    fn is_empty(&self) -> Result<bool, ReaderError> {
        for symbol in ["ompi_request_empty", "ompi_request_empty_send"] {
            if self.reader.symbol(symbol)? == Some(self.addr) {
                return Ok(true);
            }
        }
        is_completed_send(self.reader, self.addr)
    }

    /// The communicator at `addr` as summaries name it.
    pub fn on(&self, addr: TargetAddr) -> String {
        self.reader.on(addr)
    }

    /// Adds the communicator as a reference.
    pub fn add_communicator(&self, handle: &mut Handle) {
        if self.depth == Depth::Full {
            handle.fact("communicator", self.reader.reference(HandleKind::Comm, self.communicator));
        }
    }
}

/// Adds objects that are in no table of the library, and why these are not all.
pub fn more(reader: &HandleReader<'_>, found: &mut Vec<TargetAddr>, reasons: &mut Vec<String>) {
    let all = reader.requests_in_use();
    let mut seen: HashSet<TargetAddr> = found.iter().copied().collect();
    found.extend(all.requests.iter().map(|one| one.request).filter(|request| seen.insert(*request)));
    reasons.extend(all.reasons.iter().cloned());
}
