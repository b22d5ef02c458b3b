//! The communicators of a process.

use std::collections::{HashMap, HashSet};

use super::detect::required;
use super::groups::{Groups, WorldRanks};
use super::shapes::Shapes;
use crate::record::Record;
use crate::{ReaderError, add_problem};
use target::address::TargetAddr;
use target::{Target, TargetError, printable};

/// The table of communicators never has more slots than this (1 Mi); context ids have 16 to 20 bits.
const MAX_SLOTS: u64 = 1 << 20;

/// `OMPI_COMM_SENTINEL` marks a slot of the table that is reserved (ompi/communicator/communicator.h, v5.0.7).
const RESERVED_SLOT: u64 = 1;

/// Longest communicator name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// The library's object for the process itself (ompi/proc/proc.c, v4.1.4 and v5.0.7).
const OWN_PROCESS: &str = "ompi_proc_local_proc";

/// A communicator as it was read.
pub struct Found {
    /// Address of the object, which is the C handle.
    pub addr: TargetAddr,
    /// ob1's part of it.
    pub pml_comm: TargetAddr,
    /// World ranks of the processes that operations on it name: the remote group of an intercommunicator.
    pub peers: Option<WorldRanks>,
    /// The group of these processes.
    pub peer_group: TargetAddr,
    /// The internal communicator of an intercommunicator's local group, null otherwise. Collectives use it.
    pub local_comm: TargetAddr,
    /// Its extended context id, which Open MPI has since 5.0.
    pub extended: Option<(u64, u64)>,
    /// Whether ob1 numbers all of its messages: not where the application lets them overtake one another.
    pub numbered: bool,
    /// Whether it has a topology, and so neighbours.
    pub topology: bool,
    /// Its facts; the queues are still empty.
    pub facts: model::Communicator,
}

/// All communicators in the order of the library's table, and what could not be read.
pub struct Communicators {
    /// The communicators.
    pub found: Vec<Found>,
    /// Facts in words.
    pub notes: Vec<String>,
    /// What could not be read.
    pub problems: Vec<String>,
}

impl Communicators {
    /// Takes out the internal local communicators of intercommunicators, which no application can name: each with the
    /// index of the intercommunicator that it belongs to.
    pub fn take_internal(&mut self) -> Vec<(usize, Found)> {
        let owners: HashMap<TargetAddr, TargetAddr> =
            self.found.iter().map(|owner| (owner.local_comm, owner.addr)).collect();
        let mut internal = Vec::new();
        let mut listed = Vec::new();
        for found in std::mem::take(&mut self.found) {
            // One that has a name was made by the application.
            match owners.get(&found.addr).filter(|_| found.facts.name_set != Some(true)) {
                Some(owner) => internal.push((*owner, found)),
                None => listed.push(found),
            }
        }
        self.found = listed;
        let index: HashMap<TargetAddr, usize> =
            self.found.iter().enumerate().map(|(index, found)| (found.addr, index)).collect();
        internal.into_iter().filter_map(|(owner, found)| Some((*index.get(&owner)?, found))).collect()
    }
}

/// Reads the table of communicators, without MPI_COMM_NULL.
///
/// # Errors
/// Where the table itself cannot be read.
pub fn read_all(target: &dyn Target, shapes: &Shapes, groups: &Groups<'_>) -> Result<Communicators, ReaderError> {
    let table = required(target, "ompi_mpi_communicators")?.addr;
    let null = required(target, "ompi_mpi_comm_null")?.addr;
    let world = required(target, super::detect::MARK)?.addr;
    let record = Record::owned(target, table, shapes.pointer_array.size)?;
    let slots = record.int(shapes.pointer_array.len);
    if !(0..=MAX_SLOTS as i64).contains(&slots) {
        return Err(ReaderError::Damaged(format!("the table of communicators has {slots} slots")));
    }
    let abi = target.abi();
    let width = abi.pointer_width.bytes();
    let bytes = target.read_bytes(record.pointer(shapes.pointer_array.addr), slots as usize * width as usize)?;
    let mut out = Communicators { found: Vec::new(), notes: Vec::new(), problems: Vec::new() };

    learn_world(target, shapes, groups, world, &mut out.problems);
    // MPI_COMM_WORLD has the first place (ompi/communicator/comm_init.c, v4.1.4 and v5.0.7). Of a process without it, with
    // sessions only, the place is empty, or MPI_COMM_NULL's (v5.0.11).
    let first = bytes.get(..width as usize).map_or(TargetAddr::NULL, |slot| TargetAddr::new(abi.uint(slot)));
    if !groups.knows_world() && out.problems.is_empty() && !first.is_null() && first != world && first != null {
        let problem = format!(
            "world ranks are not known: the symbol of MPI_COMM_WORLD is at {world}, but the library has it at {first}"
        );
        add_problem(&mut out.problems, problem);
    }
    let class = class(target);
    let mut seen = HashSet::new();
    for slot in bytes.chunks_exact(width as usize) {
        let addr = TargetAddr::new(abi.uint(slot));
        if addr.is_null() || addr.get() == RESERVED_SLOT || addr == null || !seen.insert(addr) {
            continue;
        }
        let problem = match class_of(target, shapes, addr) {
            Err(error) => error.to_string(),
            Ok(found) if class.is_some_and(|class| class != found) => "it is not a communicator".to_owned(),
            Ok(_) => match read_one(target, shapes, groups, addr, &mut out.problems) {
                Ok(found) => {
                    out.found.push(found);
                    continue;
                }
                Err(error) => error.to_string(),
            },
        };
        add_problem(&mut out.problems, format!("the communicator at {addr} could not be read: {problem}"));
    }
    Ok(out)
}

/// The class that every communicator has, where the library's symbols tell.
pub fn class(target: &dyn Target) -> Option<TargetAddr> {
    target.symbol("ompi_communicator_t_class").ok().flatten().map(|symbol| symbol.addr)
}

/// The class of the object at `addr`.
///
/// # Errors
/// Where it cannot be read.
pub fn class_of(target: &dyn Target, shapes: &Shapes, addr: TargetAddr) -> Result<TargetAddr, TargetError> {
    shapes.object.class.read_pointer(target, addr)
}

/// Reads the group of MPI_COMM_WORLD, so that `groups` can tell world ranks.
pub fn learn_world(
    target: &dyn Target,
    shapes: &Shapes,
    groups: &Groups<'_>,
    world: TargetAddr,
    problems: &mut Vec<String>,
) {
    let shape = &shapes.communicator;
    let learned = Record::owned(target, world, shape.size).map_err(ReaderError::from).and_then(|record| {
        let group = record.pointer(shape.local_group);
        // With sessions only there is no MPI_COMM_WORLD: the process itself is of our job.
        if group.is_null() {
            target.symbol(OWN_PROCESS)?.map_or(Ok(()), |own| groups.set_own(target.read_pointer(own.addr)?))
        } else {
            groups.set_world(group, record.int(shape.my_rank))
        }
    });
    if let Err(error) = learned {
        add_problem(problems, format!("world ranks are not known: {error}"));
    }
}

/// Reads one communicator object.
///
/// # Errors
/// Where the object cannot be read or its numbers cannot be right. What its groups lack goes to `problems`.
pub fn read_one(
    target: &dyn Target,
    shapes: &Shapes,
    groups: &Groups<'_>,
    addr: TargetAddr,
    problems: &mut Vec<String>,
) -> Result<Found, ReaderError> {
    let (shape, constants) = (&shapes.communicator, &shapes.constants);
    let record = Record::owned(target, addr, shape.size)?;
    let flags = record.uint(shape.flags);
    let inter = flags & constants.comm_inter != 0;
    let name = match record.text(shape.name, MAX_NAME, target) {
        Ok(bytes) => printable(&bytes),
        Err(error) => {
            add_problem(problems, format!("the name of the communicator at {addr} could not be read: {error}"));
            String::new()
        }
    };
    let mut group_of = |slot, which: &str| {
        let group = record.pointer(slot);
        if group.is_null() {
            return None;
        }
        let tell = |error| add_problem(problems, format!("the {which} group of {name:?} could not be read: {error}"));
        groups.of_communicator(group).map_err(tell).ok()
    };
    let local = group_of(shape.local_group, "local");
    let remote = if inter { group_of(shape.remote_group, "remote") } else { None };
    let mut elsewhere = groups.elsewhere(record.pointer(shape.local_group), false);
    if inter {
        elsewhere.extend(groups.elsewhere(record.pointer(shape.remote_group), true));
    }
    let my_rank = record.int(shape.my_rank);
    let (unique_id, context_id) = ids(shapes, &record.view());
    let facts = model::Communicator {
        name_set: Some(flags & constants.comm_name_is_set != 0),
        unique_id,
        context_id: context_id.map(Into::into),
        handle: Some(model::HandleWord(addr.get())),
        local_rank: (my_rank >= 0).then_some(my_rank),
        size: local.as_ref().map(|ranks| ranks.len() as i64),
        group: local.clone(),
        remote_group: remote.clone(),
        elsewhere: elsewhere.into(),
        // libnbc and adapt count the tags of a communicator down (`ompi_coll_base_nbc_reserve_tags`,
        // ompi/mca/coll/base/coll_base_util.h, v4.1.4 and v5.0.8).
        next_sequence: shape.next_tag.map(|slot| record.int(slot).wrapping_neg()),
        name: name.into(),
        ..model::Communicator::default()
    };
    let peers = if inter { remote } else { local };
    let peer_group = record.pointer(if inter { shape.remote_group } else { shape.local_group });
    let local_comm = if inter { record.pointer(shape.local_comm) } else { TargetAddr::NULL };
    let assertions = shape.assertions.map(|slot| record.uint(slot));
    let numbered = assertions.zip(constants.comm_may_overtake).is_some_and(|(found, overtake)| found & overtake == 0);
    let extended = shape.context_base.zip(shape.context_sub);
    let extended = extended.map(|(base, sub)| (record.uint(base), record.uint(sub)));
    let topology = flags & constants.comm_topology() != 0;
    let pml_comm = record.pointer(shape.pml_comm);
    Ok(Found { addr, pml_comm, peers, peer_group, local_comm, extended, numbered, topology, facts })
}

/// The number that ob1 sends with each message, and the context id as people see it: the same on all members. Since 5.0 the
/// number is that where the members have agreed on it, and the extended id is then that of every such communicator;
/// only where the number is each process's own does the extended id tell them apart (`ompi_comm_nextcid_nb` in
/// ompi/communicator/comm_cid.c, v5.0.0 to v5.0.8 and v6.0.x).
pub fn ids(shapes: &Shapes, record: &Record<'_>) -> (u64, Option<String>) {
    let shape = &shapes.communicator;
    match (shape.context_base, shape.context_sub, shape.index) {
        (Some(base), Some(sub), Some(index)) => {
            let (index, flags) = (record.uint(index), record.uint(shape.flags));
            let agreed = shapes.constants.comm_global_index.is_some_and(|agreed| flags & agreed != 0);
            let extended = || format!("{:#x}:{:#x}", record.uint(base), record.uint(sub));
            (index, Some(if agreed { index.to_string() } else { extended() }))
        }
        _ => shape.context.map_or((0, None), |context| {
            let id = record.uint(context);
            (id, Some(id.to_string()))
        }),
    }
}

/// What Open MPI calls the world that spawned this process: that of the remote group of MPI_Comm_get_parent's communicator
/// (`ompi_mpi_comm_parent`, ompi/dpm/dpm.c, v4.1.4 and v5.0.7). `None` where nobody of another world is known here.
pub fn parent_world(target: &dyn Target, found: &[Found]) -> Option<String> {
    if found.iter().all(|found| found.facts.elsewhere.is_empty()) {
        return None;
    }
    let parent = target.symbol("ompi_mpi_comm_parent").ok().flatten()?;
    let parent = target.read_pointer(parent.addr).ok()?;
    let parent = found.iter().find(|found| found.addr == parent)?;
    parent.facts.elsewhere.iter().find(|run| run.remote).map(|run| run.world_key.clone())
}

impl Found {
    /// The rank that operations name of a rank of MPI_COMM_WORLD.
    pub fn local_rank(&self, world: i64) -> Option<i64> {
        let peers = self.peers.as_ref()?;
        i64::try_from(peers.iter().position(|rank| *rank == Some(world))?).ok()
    }

    /// The world rank of a peer that an operation names by its rank.
    pub fn world_rank(&self, rank: i64) -> Option<i64> {
        let peers = self.peers.as_ref()?;
        usize::try_from(rank).ok().and_then(|rank| peers.get(rank)).copied().flatten()
    }
}
