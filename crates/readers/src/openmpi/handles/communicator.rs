//! Communicators (ompi/communicator/communicator.h, v4.1.4 and v5.0.7).

use super::super::communicators::ids;
use super::object::Found;
use super::origins::{origin, written_ids};
use super::references::{FILE_COMM, LOCAL_COMM, WIN_COMM};
use super::{Depth, HandleReader, attributes, hints, kinds, object, topology};
use crate::ReaderError;
use crate::record::{Record, Slot, shapes};
use crate::references::Refers;
use model::handle::{self, CommunicatorDetails, References};
use model::{Handle, HandleKind, Known};
use target::Reason;
use target::address::TargetAddr;
use target::printable;

shapes! {
    /// What the reader of queues does not need.
    Communicator = ["ompi_communicator_t"] {
        errhandler: "error_handler",
        attributes: "c_keyhash",
        topology: "c_topo",
        info: "super.s_info",
    };
}

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let (shape, constants) = (&reader.shapes.communicator, &reader.shapes.constants);
    let record = Record::owned(reader.target, addr, shape.size)?;
    let flags = record.uint(shape.flags);
    let inter = flags & constants.comm_inter != 0;
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let named = flags & constants.comm_name_is_set != 0;
    let predefined = flags & constants.comm_intrinsic != 0 || is_parent(reader, addr)?;
    let rank = record.int(shape.my_rank);
    let size = size_of(reader, record.pointer(shape.local_group))?;
    let remote_size = if inter { Some(size_of(reader, record.pointer(shape.remote_group))?) } else { None };

    handle.predefined = Some(predefined);
    handle.freed_leaves_no_mark(predefined, "MPI_Comm_free", "operations");
    let origin = if named { None } else { origin(&name) };
    let rank = (rank >= 0).then_some(rank);
    handle::Communicator { rank, size, inter, remote_size, name_set: named }.describe(name, handle);
    if depth == Depth::Short {
        return Ok(());
    }
    let shape = Communicator::resolve(reader.layouts)?;
    let (known, problems) = (&reader.shapes.communicator, &mut handle.problems);
    let local = record.pointer(known.local_group);
    let remote = if inter { record.pointer(known.remote_group) } else { TargetAddr::NULL };
    // One that has a name was made by the application.
    let owners = [(HandleKind::Comm, LOCAL_COMM), FILE_COMM, WIN_COMM];
    let details = CommunicatorDetails {
        origin,
        world_rank: world_rank(reader).map_err(Reason::of),
        group: reader.world_ranks_of(local, problems),
        remote_group: reader.world_ranks_of(remote, problems),
        group_handle: Ok(reader.reference(HandleKind::Group, local)),
        remote_group_handle: reader.reference(HandleKind::Group, remote),
        topology: topology::read(reader, record.pointer(shape.topology), flags, size).map_err(Reason::of),
        errhandler: reader.reference(HandleKind::Errhandler, record.pointer(shape.errhandler)),
        context_id: Ok(ids(reader.shapes, &record.view()).1),
        info: hints::read(reader, record.pointer(shape.info), problems),
        attributes: attributes::read(reader, record.pointer(shape.attributes), problems),
        requests: reader.requests(|found| found.communicator == addr),
        windows: windows(reader, addr, &record.view(), problems),
        files: reader.referrers("files", &[(HandleKind::File, "f_comm")], &[addr], problems),
        internal: if named { None } else { reader.first_referrer(&owners, addr) },
    };
    details.tell(handle);
    Ok(())
}

/// The windows that use the communicator, and those that seem to have been made of it.
fn windows(
    reader: &HandleReader<'_>,
    addr: TargetAddr,
    record: &Record<'_>,
    problems: &mut Vec<String>,
) -> Known<References> {
    let mut found = reader.referrers("windows", &[WIN_COMM], &[addr], problems)?;
    let group = record.pointer(reader.shapes.communicator.local_group);
    found.shown.extend(reader.windows_made_of(&written_ids(reader, record), group));
    Ok(found)
}

/// How many members the group of a communicator has; none for a null pointer and for MPI_GROUP_NULL.
///
/// # Errors
/// Where no group stands there.
fn size_of(reader: &HandleReader<'_>, group: TargetAddr) -> Result<i64, ReaderError> {
    let Some(place) = kinds::of(HandleKind::Group).filter(|_| !group.is_null()) else { return Ok(0) };
    match object::find(reader, place, group)? {
        Found::Live => {}
        Found::Null => return Ok(0),
        Found::Freed(_) | Found::Invalid(_) => {
            return Err(ReaderError::Damaged(format!("the communicator's group at {group} is none")));
        }
    }
    let Slot { offset, size, .. } = reader.shapes.group.count;
    let size = reader.target.read_uint(group.wrapping_add(offset as u64), size as u64)?;
    Ok(i64::try_from(size).unwrap_or(i64::MAX))
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
    let record = Record::owned(reader.target, world, shape.size)?;
    let rank = record.int(shape.my_rank);
    Ok((!record.pointer(shape.local_group).is_null() && rank >= 0).then_some(rank))
}
