//! Windows (pmodels/mpich, src/include/mpir_win.h, v3.4 to v5.0).

use super::value::Object;
use super::{Depth, HandleReader, NO_HINTS, NO_OBJECT, attributes, epochs};
use crate::ReaderError;
use crate::record::{Record, shapes};
use model::handle::{self, Constant, WindowDetails};
use model::{Handle, HandleKind};
use target::{Reason, printable};

shapes! {
    /// Windows.
    Win = ["MPIR_Win"] {
        name: "name",
        comm: "comm_ptr",
        base: "base",
        bytes: "size",
        unit: "disp_unit",
        flavour: "create_flavor",
        model: "model",
        attributes: "attributes",
        errhandler: "errhandler",
    };
}

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 128).
const MAX_NAME: usize = 256;

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
    let shape = Win::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, at, shape.size)?;
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let comm = record.pointer(shape.comm);
    if reader.object_at(HandleKind::Comm, comm).is_none() {
        return Err(ReaderError::Damaged(format!("the window's communicator at {comm} is none")));
    }
    let known = &reader.shapes.communicator;
    let comm_record = Record::owned(reader.target, comm, known.size)?;
    let (rank, size) = (comm_record.int(known.rank), comm_record.int(known.group_size));
    handle.freed = Some(false);
    let epochs = reader.communicators().and_then(|all| {
        let found = all.at(comm).and_then(|index| all.found.get(index));
        let found = found.ok_or_else(|| ReaderError::Damaged("its communicator is not in use".to_owned()))?;
        epochs::read(reader, at, found)
    });
    let window = handle::Window { rank, size };
    window.describe(name, epochs.as_ref().ok().map(|epochs| &epochs.open), handle);
    if depth == Depth::Short {
        return Ok(());
    }
    let epochs = epochs.map_err(|error| Reason::new(format!("what the device keeps of it: {error}")));
    if epochs.as_ref().is_ok_and(|epochs| epochs.locks.as_ref().is_ok_and(|locks| !locks.is_empty())) {
        let reason = "only the process that is locked has the type of a lock";
        handle.unknown.insert("locks.type".to_owned(), reason.into());
    }
    let attributes = attributes::read(reader, record.pointer(shape.attributes), &mut handle.problems);
    let constant = |name: &str| reader.layouts.constant(name).ok();
    let device = reader.process.library.device.clone();
    let details = WindowDetails {
        communicator: Ok(reader.reference(HandleKind::Comm, comm)),
        group: reader.group(comm_record.pointer(known.local_group)),
        base: Ok(record.pointer(shape.base).to_string()),
        bytes: Ok(record.int(shape.bytes)),
        displacement_unit: Ok(record.int(shape.unit)),
        flavour: Constant::flavour(record.int(shape.flavour), constant),
        model: Ok(Constant::model(record.int(shape.model), constant)),
        component: device.ok_or_else(|| "the library's device was not found".into()),
        info: Err(NO_HINTS.into()),
        no_locks: epochs.as_ref().map(|epochs| epochs.no_locks).map_err(Clone::clone),
        lock_all: epochs.as_ref().map(|epochs| epochs.lock_all).map_err(Clone::clone),
        locks: epochs.as_ref().map_err(Clone::clone).and_then(|epochs| epochs.locks.clone()),
        started: epochs.as_ref().map_err(Clone::clone).and_then(|epochs| epochs.started.clone()),
        posted: epochs.as_ref().map_err(Clone::clone).and_then(|epochs| epochs.posted.clone()),
        epoch: epochs.map(|epochs| epochs.open),
        attributes: attributes.map(|found| attributes::facts(reader, &found)).map_err(Reason::of),
        errhandler: Some(reader.errhandler(record.pointer(shape.errhandler))),
    };
    details.describe(handle);
    Ok(())
}
