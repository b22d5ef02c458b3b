//! Communicators (ompi/communicator/communicator.h, v4.1.4 and v5.0.7).

use serde_json::Value;

use super::super::communicators::ids;
use super::object::Found;
use super::origins::{origin, written_ids};
use super::references::{FILE_COMM, LOCAL_COMM, WIN_COMM};
use super::{Depth, HandleReader, attributes, hints, kinds, object, topology};
use crate::ReaderError;
use crate::record::{Record, Slot, shape};
use model::{Handle, HandleKind};
use target::address::TargetAddr;
use target::printable;

shape!(
    /// What the reader of queues does not need.
    Communicator = ["ompi_communicator_t"] {
        errhandler: "error_handler",
        attributes: "c_keyhash",
        topology: "c_topo",
        info: "super.s_info",
    }
);

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let (shape, constants) = (&reader.shapes.communicator, &reader.shapes.constants);
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, addr, shape.size, &mut buffer)?;
    let flags = record.uint(shape.flags);
    let inter = flags & constants.comm_inter != 0;
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let named = flags & constants.comm_name_is_set != 0;
    let predefined = flags & constants.comm_intrinsic != 0 || is_parent(reader, addr)?;
    let rank = record.int(shape.my_rank);
    let size = size_of(reader, record.pointer(shape.local_group))?;
    let remote_size = if inter { Some(size_of(reader, record.pointer(shape.remote_group))?) } else { None };

    let label = match (named && !predefined, name.is_empty()) {
        (_, true) => if inter { "unnamed intercommunicator" } else { "unnamed communicator" }.to_owned(),
        (true, _) => format!("\"{name}\""),
        (false, _) => name.clone(),
    };
    let place = if rank >= 0 { format!("rank {rank} of {size}") } else { format!("{size} others") };
    let beyond = remote_size.map(|remote| format!(", {remote} remote")).unwrap_or_default();
    handle.summary = format!("{label}, {place}{beyond}");
    handle.predefined = Some(predefined);
    handle.freed = predefined.then_some(false);
    if !predefined {
        let reason = "MPI_Comm_free takes it away at once, or leaves no mark while operations still use it";
        handle.unknown.insert("freed".to_owned(), reason.into());
    }
    handle.fact("rank", (rank >= 0).then_some(rank));
    handle.fact("size", size);
    handle.fact("inter", inter);
    handle.fact("remote_size", remote_size);
    handle.fact("name_set", named);
    if depth == Depth::Full {
        handle.fact("origin", if named { None } else { origin(&name) });
        more(reader, addr, handle, &record, inter)?;
    }
    handle.name = Some(name).filter(|name| !name.is_empty());
    Ok(())
}

fn more(
    reader: &HandleReader<'_>,
    addr: TargetAddr,
    handle: &mut Handle,
    record: &Record<'_>,
    inter: bool,
) -> Result<(), ReaderError> {
    let (known, shape) = (&reader.shapes.communicator, Communicator::resolve(reader.layouts)?);
    match world_rank(reader) {
        Ok(rank) => handle.fact("world_rank", rank),
        Err(error) => handle.unknown("world_rank", error.to_string()),
    }
    add_group(reader, "group", record.pointer(known.local_group), handle);
    let remote = if inter { record.pointer(known.remote_group) } else { TargetAddr::NULL };
    add_group(reader, "remote_group", remote, handle);
    handle.fact("group_handle", reader.reference(HandleKind::Group, record.pointer(known.local_group)));
    handle.fact("remote_group_handle", reader.reference(HandleKind::Group, remote));
    let size = handle.facts.get("size").and_then(Value::as_i64).unwrap_or_default();
    match topology::read(reader, record.pointer(shape.topology), record.uint(known.flags), size) {
        Ok(topology) => handle.fact("topology", topology),
        Err(error) => handle.unknown("topology", error.to_string()),
    }
    handle.fact("errhandler", reader.reference(HandleKind::Errhandler, record.pointer(shape.errhandler)));
    handle.fact("context_id", ids(reader.shapes, record).1);
    hints::add(reader, record.pointer(shape.info), handle);
    attributes::add(reader, record.pointer(shape.attributes), handle);
    reader.add_requests(handle, |found| found.communicator == addr);
    reader.referrers("windows", &[WIN_COMM], addr, handle);
    reader.add_windows(&written_ids(reader, record), record.pointer(known.local_group), handle);
    reader.referrers("files", &[(HandleKind::File, "f_comm")], addr, handle);
    let owners = [(HandleKind::Comm, LOCAL_COMM), FILE_COMM, WIN_COMM];
    // One that has a name was made by the application.
    let named = handle.facts.get("name_set") == Some(&Value::Bool(true));
    handle.fact("internal", if named { Value::Null } else { reader.first_referrer(&owners, addr) });
    Ok(())
}

/// Adds world ranks; null for a null pointer.
fn add_group(reader: &HandleReader<'_>, name: &str, group: TargetAddr, handle: &mut Handle) {
    if group.is_null() {
        handle.fact(name, Value::Null);
        return;
    }
    match reader.world_ranks(group, &mut handle.problems) {
        Ok(ranks) => handle.fact(name, ranks),
        Err(reason) => handle.unknown(name, reason),
    }
}

/// How many members the group of a communicator has; none for a null pointer and for MPI_GROUP_NULL.
///
/// # Errors
/// Where no group stands there.
fn size_of(reader: &HandleReader<'_>, group: TargetAddr) -> Result<u64, ReaderError> {
    let Some(place) = kinds::of(HandleKind::Group).filter(|_| !group.is_null()) else { return Ok(0) };
    match object::find(reader, place, group)? {
        Found::Live => {}
        Found::Null => return Ok(0),
        Found::Freed(_) | Found::Invalid(_) => {
            return Err(ReaderError::Damaged(format!("the communicator's group at {group} is none")));
        }
    }
    let Slot { offset, size, .. } = reader.shapes.group.count;
    Ok(reader.target.read_uint(group.wrapping_add(offset as u64), size as u64)?)
}

/// Whether it is what MPI_Comm_get_parent returns.
fn is_parent(reader: &HandleReader<'_>, addr: TargetAddr) -> Result<bool, ReaderError> {
    match reader.symbol("ompi_mpi_comm_parent")? {
        Some(symbol) => Ok(reader.target.read_pointer(symbol)? == addr),
        None => Ok(false),
    }
}

/// This process's rank in MPI_COMM_WORLD; none in a process that has only sessions.
fn world_rank(reader: &HandleReader<'_>) -> Result<Option<i64>, ReaderError> {
    let world = super::super::detect::required(reader.target, super::super::detect::MARK)?.addr;
    let shape = &reader.shapes.communicator;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, world, shape.size, &mut buffer)?;
    let rank = record.int(shape.my_rank);
    Ok((!record.pointer(shape.local_group).is_null() && rank >= 0).then_some(rank))
}
