//! Communicators (pmodels/mpich, src/include/mpir_comm.h, v3.4 to v5.0).

use super::value::Object;
use super::{Depth, HandleReader, NO_HINTS, NO_OBJECT, attributes, file, topology};
use crate::ReaderError;
use crate::record::{Record, shapes};
use crate::references::Refers;
use model::handle::{self, CommunicatorDetails, References, WorldRanks};
use model::{Handle, HandleKind, Known};
use target::address::TargetAddr;
use target::{Reason, printable};

shapes! {
    /// What the reader of queues does not need.
    More = ["MPIR_Comm"] { errhandler: "errhandler", attributes: "attributes" };
}

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 128).
const MAX_NAME: usize = 256;

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let at = object.at.ok_or_else(|| ReaderError::NotRead(NO_OBJECT.to_owned()))?;
    let shape = &reader.shapes.communicator;
    let record = Record::owned(reader.target, at, shape.size)?;
    let inter = record.int(shape.kind) == reader.shapes.intercommunicator;
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let (rank, size) = (record.int(shape.rank), record.int(shape.group_size));
    let remote_size = inter.then(|| record.int(shape.remote_size));
    if size < 0 || rank >= size.max(1) || remote_size.is_some_and(|size| size < 0) {
        return Err(ReaderError::Damaged(format!("the communicator at {at} has {size} processes, this is {rank}")));
    }
    let predefined = object.constant.is_some();
    handle.freed_leaves_no_mark(predefined, "MPI_Comm_free", "operations");
    let (rank, named) = ((rank >= 0).then_some(rank), !name.is_empty());
    handle::Communicator { rank, size, inter, remote_size, name_set: named }.describe(name, handle);
    if depth == Depth::Short {
        return Ok(());
    }
    let shape = More::resolve(reader.layouts)?;
    let (known, problems) = (&reader.shapes.communicator, &mut handle.problems);
    let all = reader.communicators().map_err(Reason::of);
    let facts = all.clone().map(|all| Some(&all.found.get(all.at(at)?)?.facts));
    let members = |group: fn(&model::Communicator) -> Option<&model::Group>| -> Known<WorldRanks> {
        let group = facts.clone()?.and_then(group).map(|ranks| ranks.to_vec());
        group.ok_or_else(|| "the library has no list of these processes in a form that is read here".into())
    };
    let group = record.pointer(known.local_group);
    let attributes = attributes::read(reader, record.pointer(shape.attributes), problems).map_err(Reason::of);
    let topology = |found: &Vec<_>| topology::find(reader, found, size).map_err(Reason::of);
    // One that has a name was made by the application.
    let owners = [(HandleKind::Comm, "local_comm"), (HandleKind::Win, "comm_ptr")];
    let details = CommunicatorDetails {
        // MPICH gives a communicator no name of its own.
        origin: None,
        world_rank: all.map(|all| all.own_rank().filter(|rank| *rank >= 0)),
        group: members(|facts| facts.group.as_ref()).map(Some),
        remote_group: match members(|facts| facts.remote_group.as_ref()) {
            Err(_) if !inter && facts.is_ok() => Ok(None),
            ranks => ranks.map(Some),
        },
        group_handle: reader.group(group),
        remote_group_handle: reader.reference(HandleKind::Group, record.pointer(known.remote_group)),
        topology: attributes.as_ref().map_err(Clone::clone).and_then(topology),
        errhandler: Some(reader.errhandler(record.pointer(shape.errhandler))),
        context_id: facts.clone().and_then(|facts| match facts {
            Some(facts) => Ok(facts.context_id.as_deref().map(str::to_owned)),
            None => Err("it is not among the library's communicators that are in use".into()),
        }),
        info: Err(NO_HINTS.into()),
        attributes: attributes.map(|found| attributes::facts(reader, &found)),
        requests: reader.requests(|request| reader.communicator_of(request) == Some(at)),
        windows: windows(reader, at, problems),
        files: if file::exist(reader) { Err(file::NO_LIST.into()) } else { Ok(References::default()) },
        internal: if named { None } else { reader.first_referrer(&owners, at) },
    };
    details.tell(handle);
    Ok(())
}

/// The windows that use the communicator at `at`. A window has a duplicate of one that it was given, and nothing says of
/// which (src/mpid/ch4/src/mpidig_win.c and src/mpid/ch3/src/mpid_rma.c, v3.4 to v5.0); it is none of other processes.
fn windows(reader: &HandleReader<'_>, at: TargetAddr, problems: &mut Vec<String>) -> Known<References> {
    let windows = reader.pointing((HandleKind::Win, "comm_ptr"));
    let members = |at| {
        let all = reader.communicators().ok()?;
        let found = all.found.get(all.at(at)?)?;
        Some((found.inter, found.facts.group.clone()?))
    };
    let own = members(at);
    let possible = |comm: &TargetAddr| own.is_none() || members(*comm).is_none_or(|theirs| Some(theirs) == own);
    let mut targets = windows.by_target.keys();
    if !windows.by_target.contains_key(&at) && targets.any(possible) {
        return Err("a window keeps a duplicate of its communicator, but not which communicator that duplicates".into());
    }
    reader.referrers("windows", &[(HandleKind::Win, "comm_ptr")], &[at], problems)
}
