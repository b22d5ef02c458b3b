//! Communicators (pmodels/mpich, src/include/mpir_comm.h, v3.4 to v5.0).

use serde_json::Value;

use super::value::Object;
use super::{Depth, HandleReader, NO_OBJECT, attributes, file, topology};
use crate::ReaderError;
use crate::record::{Record, shape};
use model::{Handle, HandleKind};
use target::address::TargetAddr;
use target::printable;

shape!(
    /// What the reader of queues does not need.
    More = ["MPIR_Comm"] { errhandler: "errhandler", attributes: "attributes" }
);

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 128).
const MAX_NAME: usize = 256;

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
    let shape = &reader.shapes.communicator;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
    let inter = record.int(shape.kind) == reader.shapes.intercommunicator;
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let (rank, size) = (record.int(shape.rank), record.int(shape.group_size));
    let remote_size = inter.then(|| record.int(shape.remote_size));
    if size < 0 || rank >= size.max(1) || remote_size.is_some_and(|size| size < 0) {
        return Err(ReaderError::Damaged(format!("the communicator at {at} has {size} processes, this is {rank}")));
    }
    let predefined = object.constant.is_some();
    let label = match (name.is_empty(), predefined) {
        (true, _) => if inter { "unnamed intercommunicator" } else { "unnamed communicator" }.to_owned(),
        (false, true) => name.clone(),
        (false, false) => format!("\"{name}\""),
    };
    let place = if rank >= 0 { format!("rank {rank} of {size}") } else { format!("{size} others") };
    let beyond = remote_size.map(|remote| format!(", {remote} remote")).unwrap_or_default();
    handle.summary = format!("{label}, {place}{beyond}");
    handle.freed = predefined.then_some(false);
    if !predefined {
        let reason = "MPI_Comm_free takes it away at once, or leaves no mark while operations still use it";
        handle.unknown.insert("freed".to_owned(), reason.into());
    }
    handle.fact("rank", (rank >= 0).then_some(rank));
    handle.fact("size", size);
    handle.fact("inter", inter);
    handle.fact("remote_size", remote_size);
    handle.fact("name_set", !name.is_empty());
    handle.name = Some(name).filter(|name| !name.is_empty());
    if depth == Depth::Full {
        more(reader, at, &record, handle)?;
    }
    Ok(())
}

fn more(
    reader: &HandleReader<'_>,
    at: TargetAddr,
    record: &Record<'_>,
    handle: &mut Handle,
) -> Result<(), ReaderError> {
    let (known, shape) = (&reader.shapes.communicator, More::resolve(reader.layouts)?);
    let size = record.int(known.group_size);
    // MPICH gives a communicator no name of its own.
    handle.fact("origin", Value::Null);
    match reader.communicators() {
        Ok(all) => {
            let world = all.found.first().and_then(|world| world.facts.local_rank);
            handle.fact("world_rank", world.filter(|rank| *rank >= 0));
            let found = all.at(at).and_then(|index| all.found.get(index));
            let inter = handle.facts.get("inter") == Some(&Value::Bool(true));
            let not_kept = "the library has no list of these processes in a form that is read here";
            match found.and_then(|found| found.facts.group.clone()) {
                Some(ranks) => handle.fact("group", &*ranks),
                None => handle.unknown("group", not_kept),
            }
            match found.and_then(|found| found.facts.remote_group.clone()) {
                Some(ranks) => handle.fact("remote_group", &*ranks),
                None if inter => handle.unknown("remote_group", not_kept),
                None => handle.fact("remote_group", Value::Null),
            }
            if let Some(context) = found.and_then(|found| found.facts.context_id.clone()) {
                handle.fact("context_id", context);
            }
        }
        Err(error) => {
            for fact in ["world_rank", "group", "remote_group", "context_id"] {
                handle.unknown(fact, error.to_string());
            }
        }
    }
    for (fact, slot) in [("group_handle", known.local_group), ("remote_group_handle", known.remote_group)] {
        let group = record.pointer(slot);
        if group.is_null() && fact == "group_handle" {
            handle.unknown(fact, "the library makes the group when somebody asks for it");
        } else {
            handle.fact(fact, reader.reference(HandleKind::Group, group));
        }
    }
    let attributes = attributes::read(reader, record.pointer(shape.attributes), &mut handle.problems);
    match attributes {
        Ok(found) => {
            match topology::find(reader, &found, size) {
                Ok(topology) => {
                    if !topology.is_null() {
                        let reason = "MPICH does not keep whether ranks might be reordered";
                        handle.unknown.insert("topology.reorder".to_owned(), reason.into());
                    }
                    handle.fact("topology", topology);
                }
                Err(error) => handle.unknown("topology", error.to_string()),
            }
            attributes::add(reader, &found, handle);
        }
        Err(error) => {
            handle.unknown("topology", error.to_string());
            handle.unknown("attributes", error.to_string());
        }
    }
    let errhandler = record.pointer(shape.errhandler);
    if errhandler.is_null() {
        // A communicator without one of its own (src/mpi/errhan/errutil.c, v4.0.2).
        handle.fact("errhandler", reader.reference_of_value(HandleKind::Errhandler, super::errhandler::DEFAULT));
    } else {
        handle.fact("errhandler", reader.reference(HandleKind::Errhandler, errhandler));
    }
    handle.unknown("info", "MPICH keeps hints as settings of its own, not as keys and values");
    reader.add_requests(handle, |request| reader.communicator_of(request) == Some(at));
    add_windows(reader, at, handle);
    if file::exist(reader) {
        handle.unknown("files", file::NO_LIST);
    } else {
        handle.fact("files", Vec::<Value>::new());
    }
    // One that has a name was made by the application.
    let named = handle.facts.get("name_set") == Some(&Value::Bool(true));
    let owners = [(HandleKind::Comm, "local_comm"), (HandleKind::Win, "comm_ptr")];
    handle.fact("internal", if named { Value::Null } else { reader.first_referrer(&owners, at) });
    Ok(())
}

/// Adds the windows that use the communicator at `at`. A window has a duplicate of one that it was given, and nothing says of
/// which (src/mpid/ch4/src/mpidig_win.c and src/mpid/ch3/src/mpid_rma.c, v3.4 to v5.0); it is none of other processes.
fn add_windows(reader: &HandleReader<'_>, at: TargetAddr, handle: &mut Handle) {
    let windows = reader.pointing(HandleKind::Win, "comm_ptr");
    let members = |at| {
        let all = reader.communicators().ok()?;
        let found = all.found.get(all.at(at)?)?;
        Some((found.inter, found.facts.group.clone()?))
    };
    let own = members(at);
    let possible = |comm: &TargetAddr| own.is_none() || members(*comm).is_none_or(|theirs| Some(theirs) == own);
    let its_own = windows.targets().any(|comm| *comm == at);
    if !its_own && windows.targets().any(possible) {
        handle.unknown("windows", "a window keeps a duplicate of its communicator, and not of which it is one");
    } else {
        reader.referrers("windows", &[(HandleKind::Win, "comm_ptr")], &[at], handle);
    }
}
