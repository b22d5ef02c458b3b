//! Corrects what Open MPI's plug-in says of requests by reading the requests themselves.
//!
//! The plug-in (open-mpi/ompi, ompi/debuggers/ompi_msgq_dll.c, 4.1.4 and 5.0.7 alike) reads one byte of the pointer
//! `req_complete`, so that a request that a thread waits for looks complete; calls a complete receive matched; shows as desired length of
//! a receive what has been received; and tells neither datatype nor count. It does name the request.

use std::collections::HashMap;
use std::sync::Arc;

use layouts::{Field, FieldKind, LayoutError, Layouts};
use model::{Operation, OperationStatus, QueueReport};
use target::address::TargetAddr;
use target::{Target, fit, printable};

const REQUEST: &str = "mca_pml_base_request_t";
const DATATYPE: &str = "ompi_datatype_t";

/// `REQUEST_COMPLETED` (ompi/request/request.h, 4.1.4 and 5.0.7).
const COMPLETED: u64 = 1;

/// Requests are smaller than this, in bytes.
const MAX_REQUEST: u64 = 1 << 16;

/// Longest datatype name, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 64;

struct Fields {
    size: usize,
    complete: Field,
    persistent: Field,
    count: Field,
    datatype: Field,
    type_bytes: Field,
    type_name: Field,
}

impl Fields {
    fn resolve(layouts: &Layouts) -> Result<Option<Self>, LayoutError> {
        let size = layouts.size_of(REQUEST)?;
        if size > MAX_REQUEST {
            return Ok(None);
        }
        Ok(Some(Self {
            size: size as usize,
            complete: layouts.field(REQUEST, "req_ompi.req_complete")?,
            persistent: layouts.field(REQUEST, "req_ompi.req_persistent")?,
            count: layouts.field(REQUEST, "req_count")?,
            datatype: layouts.field(REQUEST, "req_datatype")?,
            type_bytes: layouts.field(DATATYPE, "super.size")?,
            type_name: layouts.field(DATATYPE, "name")?,
        }))
    }
}

#[derive(Clone)]
struct Datatype {
    bytes: Option<u64>,
    name: Option<Arc<str>>,
}

/// Corrects the operations that name their request. Where a request or a layout is not at hand, they stay as they are.
pub fn correct(report: &mut QueueReport, target: &dyn Target, layouts: &Layouts) {
    let Ok(Some(fields)) = Fields::resolve(layouts) else { return };
    let mut reader = Reader { target, fields, datatypes: HashMap::new(), buffer: Vec::new() };
    for communicator in &mut report.communicators {
        for operation in &mut communicator.pending_sends.operations {
            reader.correct(operation, false);
        }
        for operation in &mut communicator.pending_receives.operations {
            reader.correct(operation, true);
        }
    }
}

struct Reader<'a> {
    target: &'a dyn Target,
    fields: Fields,
    datatypes: HashMap<u64, Datatype>,
    buffer: Vec<u8>,
}

impl Reader<'_> {
    fn correct(&mut self, operation: &mut Operation, receive: bool) -> Option<()> {
        let request = TargetAddr::new(operation.request?);
        fit(&mut self.buffer, self.fields.size).ok()?;
        self.target.read(request, &mut self.buffer).ok()?;
        let count = self.number(&self.fields.count)?;
        let complete = self.number(&self.fields.complete)? == COMPLETED;
        let persistent = self.number(&self.fields.persistent)? != 0;
        let datatype = self.number(&self.fields.datatype)?;
        let datatype = self.datatype(datatype);
        operation.persistent = persistent;
        operation.count = Some(count);
        operation.datatype = datatype.name.map(Into::into);
        if receive {
            let bytes = datatype.bytes.and_then(|bytes| bytes.checked_mul(count));
            operation.desired_length = bytes.or(operation.desired_length);
        }
        operation.status = match (complete, operation.status) {
            (true, OperationStatus::Matched) if receive => OperationStatus::Complete,
            // The status of a receive has a tag from the match on.
            (false, OperationStatus::Complete) if receive && operation.actual_tag.is_some_and(|tag| tag >= 0) => {
                OperationStatus::Matched
            }
            (false, OperationStatus::Complete) => OperationStatus::Pending,
            (_, status) => status,
        };
        if receive && operation.status == OperationStatus::Pending {
            (operation.actual_local_rank, operation.actual_global_rank) = (None, None);
            (operation.actual_tag, operation.actual_length) = (None, None);
        }
        Some(())
    }

    fn number(&self, field: &Field) -> Option<u64> {
        let start = usize::try_from(field.offset).ok()?;
        let end = start.checked_add(usize::try_from(field.size).ok()?)?;
        Some(self.target.abi().uint(self.buffer.get(start..end)?))
    }

    fn datatype(&mut self, at: u64) -> Datatype {
        if let Some(known) = self.datatypes.get(&at) {
            return known.clone();
        }
        let place = |field: &Field| TargetAddr::new(at).wrapping_add(field.offset);
        let name_at = match self.fields.type_name.kind {
            FieldKind::Pointer => self.target.read_pointer(place(&self.fields.type_name)).ok(),
            _ => Some(place(&self.fields.type_name)),
        };
        let name = name_at.and_then(|at| self.target.read_c_string(at, MAX_NAME).ok());
        let bytes = &self.fields.type_bytes;
        let found = Datatype {
            bytes: self.target.read_uint(place(bytes), bytes.size).ok(),
            name: name.filter(|name| !name.is_empty()).map(|name| printable(&name).into()),
        };
        self.datatypes.insert(at, found.clone());
        found
    }
}
