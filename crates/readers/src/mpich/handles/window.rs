//! Windows (pmodels/mpich, src/include/mpir_win.h, v3.4 to v5.0).

use serde_json::{Value, json};

use super::epochs::{self, Epochs};
use super::value::Object;
use super::{Depth, HandleReader, NO_OBJECT, attributes};
use crate::ReaderError;
use crate::record::{Record, shape};
use model::{Handle, HandleKind};
use target::printable;

shape!(
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
    }
);

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 128).
const MAX_NAME: usize = 256;

/// How windows are made, and memory models.
const FLAVOURS: &[&str] =
    &["MPI_WIN_FLAVOR_CREATE", "MPI_WIN_FLAVOR_ALLOCATE", "MPI_WIN_FLAVOR_DYNAMIC", "MPI_WIN_FLAVOR_SHARED"];
const MODELS: &[&str] = &["MPI_WIN_UNIFIED", "MPI_WIN_SEPARATE"];

/// What the device keeps.
const OF_DEVICE: &[&str] = &["lock_all", "locks", "started", "posted", "epoch", "no_locks"];

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
    let shape = Win::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let comm = record.pointer(shape.comm);
    if reader.object_at(HandleKind::Comm, comm).is_none() {
        return Err(ReaderError::Damaged(format!("the window's communicator at {comm} is none")));
    }
    let known = &reader.shapes.communicator;
    let mut comm_buffer = Vec::new();
    let comm_record = Record::read(reader.target, comm, known.size, &mut comm_buffer)?;
    let (rank, size) = (comm_record.int(known.rank), comm_record.int(known.group_size));
    let place = format!("rank {rank} of {size}");
    handle.summary = if name.is_empty() { place } else { format!("\"{name}\", {place}") };
    handle.name = Some(name).filter(|name| !name.is_empty());
    handle.freed = Some(false);
    let epochs = reader.communicators().and_then(|all| {
        let found = all.at(comm).and_then(|index| all.found.get(index));
        let found = found.ok_or_else(|| ReaderError::Damaged("its communicator is not in use".to_owned()))?;
        epochs::read(reader, at, found)
    });
    if let Some(epochs) = epochs.as_ref().ok().filter(|epochs| !epochs.open.is_empty()) {
        handle.summary = format!("{}, epoch: {}", handle.summary, crate::epochs::word(&epochs.open));
    }
    if depth == Depth::Short {
        return Ok(());
    }
    handle.fact("communicator", reader.reference(HandleKind::Comm, comm));
    let group = comm_record.pointer(known.local_group);
    if group.is_null() {
        handle.unknown("group", "the library makes the group when somebody asks for it");
    } else {
        handle.fact("group", reader.reference(HandleKind::Group, group));
    }
    handle.fact("rank", rank);
    handle.fact("size", size);
    handle.fact("base", record.pointer(shape.base).to_string());
    handle.fact("bytes", record.uint(shape.bytes));
    handle.fact("displacement_unit", record.int(shape.unit));
    for (fact, names, slot) in [("flavour", FLAVOURS, shape.flavour), ("model", MODELS, shape.model)] {
        let value = record.int(slot);
        let name = names.iter().find(|name| reader.layouts.constant(name).is_ok_and(|constant| constant == value));
        handle.fact(fact, name.map_or_else(|| json!(value), |name| Value::from(*name)));
    }
    let device = reader.process.library.device.as_deref();
    match device {
        Some(device) => handle.fact("component", device),
        None => handle.unknown("component", "the library's device was not found"),
    }
    handle.unknown("info", "MPICH keeps hints as settings of its own, not as keys and values");
    match epochs {
        Ok(epochs) => synchronisation(epochs, handle),
        Err(error) => {
            for fact in OF_DEVICE {
                handle.unknown(fact, format!("what the device keeps of it: {error}"));
            }
        }
    }
    match attributes::read(reader, record.pointer(shape.attributes), &mut handle.problems) {
        Ok(found) => attributes::add(reader, &found, handle),
        Err(error) => handle.unknown("attributes", error.to_string()),
    }
    let errhandler = record.pointer(shape.errhandler);
    if errhandler.is_null() {
        handle.fact("errhandler", reader.reference_of_value(HandleKind::Errhandler, super::errhandler::DEFAULT));
    } else {
        handle.fact("errhandler", reader.reference(HandleKind::Errhandler, errhandler));
    }
    Ok(())
}

/// Adds what is open.
fn synchronisation(epochs: Epochs, handle: &mut Handle) {
    handle.fact("no_locks", epochs.no_locks);
    handle.fact("lock_all", epochs.lock_all);
    match epochs.locks {
        Ok(ranks) => {
            if !ranks.is_empty() {
                let reason = "only the process that is locked has the type of a lock";
                handle.unknown.insert("locks.type".to_owned(), reason.into());
            }
            let locks = ranks.into_iter().map(|rank| json!({ "rank": rank, "type": null }));
            handle.fact("locks", locks.collect::<Vec<_>>());
        }
        Err(reason) => handle.unknown("locks", reason),
    }
    for (fact, ranks) in [("started", epochs.started), ("posted", epochs.posted)] {
        match ranks {
            Ok(ranks) => handle.fact(fact, ranks.map(|ranks| ranks.to_vec())),
            Err(reason) => handle.unknown(fact, reason),
        }
    }
    handle.fact("epoch", crate::epochs::word(&epochs.open));
}
