//! The communicators of an MPICH process.

use std::collections::{HashMap, HashSet};

use super::groups::Groups;
use super::handle_value::{HandleValue, ObjectKind, Place};
use super::pools::Pools;
use super::shapes::Shapes;
use super::worlds::Worlds;
use crate::record::Record;
use crate::{ReaderError, add_problem};
use layouts::Layouts;
use model::{Communicator, HandleWord};
use target::address::TargetAddr;
use target::{Target, TargetError, printable};

/// Longest name in bytes (`MPI_MAX_OBJECT_NAME` is 128).
const MAX_NAME: usize = 256;

/// What is added to a communicator's context id for the messages of its collectives (`MPIR_CONTEXT_COLL_OFFSET`,
/// src/include/mpir_contextid.h, v4.0.2).
pub const COLLECTIVE: u64 = 1;

/// The handle of MPI_COMM_WORLD.
pub const WORLD: HandleValue = HandleValue::first(Place::Builtin, ObjectKind::Comm);

/// A communicator and what is needed to find what belongs to it.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its facts.
    pub facts: Communicator,
    /// Address of the object.
    pub at: TargetAddr,
    /// The handle in the object.
    pub value: HandleValue,
    /// The context of messages that it sends.
    pub send_context: u64,
    /// The context of messages that it receives.
    pub receive_context: u64,
    /// Whether it is an intercommunicator.
    pub inter: bool,
    /// Whether the library made it for itself, below one of the application's.
    pub internal: bool,
    /// The communicator of its processes on this node; null where the library has made none.
    pub node_comm: TargetAddr,
    /// How many of its processes are on this node, where the release notes it.
    pub on_node: Option<i64>,
}

impl Found {
    /// How many processes it sends to and receives from.
    pub fn peers(&self) -> i64 {
        let remote = self.facts.remote_group.as_ref().filter(|_| self.inter);
        remote.map_or(self.facts.size.unwrap_or(0), |remote| i64::try_from(remote.len()).unwrap_or(0))
    }

    /// Whether members of its groups are of other worlds, and nothing tells which.
    pub fn has_nameless_members(&self) -> bool {
        let facts = &self.facts;
        [(false, facts.group.as_deref()), (true, facts.remote_group.as_deref())].into_iter().any(|(remote, members)| {
            let named = |local| facts.elsewhere.iter().any(|run| run.remote == remote && run.rank_of(local).is_some());
            (0..).zip(members.unwrap_or_default()).any(|(local, rank)| rank.is_none() && !named(local))
        })
    }

    /// The rank in the group that it sends to, of a rank of MPI_COMM_WORLD.
    pub fn local_rank(&self, world: i64) -> Option<i64> {
        let peers = if self.inter { &self.facts.remote_group } else { &self.facts.group };
        i64::try_from(peers.as_ref()?.iter().position(|rank| *rank == Some(world))?).ok()
    }

    /// The world rank of a rank in the group that it sends to and receives from.
    pub fn world_rank(&self, local: i64) -> Option<i64> {
        let peers = if self.inter { &self.facts.remote_group } else { &self.facts.group };
        peers.as_ref()?.get(usize::try_from(local).ok()?).copied().flatten()
    }
}

/// All communicators.
#[derive(Debug, Default)]
pub struct Communicators {
    /// In the order of their handles: MPI_COMM_WORLD and MPI_COMM_SELF first; internal ones, too.
    pub found: Vec<Found>,
    /// What could not be read.
    pub problems: Vec<String>,
    /// What the library calls the process's world.
    pub world: Option<String>,
    by_address: HashMap<TargetAddr, usize>,
    by_context: HashMap<u64, usize>,
}

impl Communicators {
    /// What the library calls the world that spawned this process: that of the remote group of MPI_Comm_get_parent's
    /// communicator, which has the standard's name for it unless the program gave it another (`MPIR_Process.comm_parent`).
    pub fn parent_world(&self) -> Option<String> {
        let parent = self.found.iter().find(|found| found.inter && found.facts.name == "MPI_COMM_PARENT")?;
        parent.facts.elsewhere.iter().find(|run| run.remote).map(|run| run.world_key.clone())
    }

    /// These, to be found by address and by context.
    pub fn of(found: Vec<Found>, problems: Vec<String>) -> Self {
        let mut all = Self { problems, ..Self::default() };
        for (index, found) in found.iter().enumerate() {
            all.by_address.insert(found.at, index);
            // A context that two claim (damage, or one that is being freed) belongs to the first.
            all.by_context.entry(found.receive_context).or_insert(index);
        }
        Self { found, ..all }
    }

    /// The communicator at an address, by its place in `found`.
    pub fn at(&self, at: TargetAddr) -> Option<usize> {
        self.by_address.get(&at).copied()
    }

    /// Whether all processes that MPI_Init started together are on this node, as far as MPICH uses that: MPI_COMM_WORLD's
    /// communicator of a node is as large as itself (`MPIR_Comm_create_subcomms`, src/mpi/comm/commutil.c, v4.0), or the
    /// number says so from which that is made when it is needed (`num_local`, the same file, v5.0).
    pub fn one_node(&self) -> bool {
        let Some(world) = self.world() else { return false };
        let node = self.at(world.node_comm).and_then(|index| self.found.get(index));
        (world.on_node.is_some() && world.on_node == world.facts.size)
            || node.is_some_and(|node| node.facts.size == world.facts.size)
    }

    /// Whether no other process that MPI_Init started is on this node, as far as MPICH uses that.
    pub fn alone_on_node(&self) -> bool {
        let Some(world) = self.world() else { return false };
        let node = self.at(world.node_comm).and_then(|index| self.found.get(index));
        world.on_node == Some(1) || node.is_some_and(|node| node.facts.size == Some(1))
    }

    /// The application's communicator of which one is a part: the upper bits of their context ids are the same
    /// (`MPIR_CONTEXT_PREFIX_SHIFT`, src/include/mpir_contextid.h, v3.4 to v5.0). Itself, where it is the application's.
    pub fn owner(&self, index: usize) -> usize {
        const PREFIX_SHIFT: u64 = 4;
        let Some(part) = self.found.get(index).filter(|found| found.internal) else { return index };
        let prefix = part.receive_context >> PREFIX_SHIFT;
        let owner = |found: &Found| !found.internal && found.receive_context >> PREFIX_SHIFT == prefix;
        self.found.iter().position(owner).unwrap_or(0)
    }

    /// MPI_COMM_WORLD; `None` in a process that has only sessions.
    pub fn world(&self) -> Option<&Found> {
        self.found.first().filter(|first| first.value == WORLD)
    }

    /// How many processes MPI_COMM_WORLD has; `None` in a process that has only sessions.
    pub fn world_size(&self) -> Option<i64> {
        self.world()?.facts.size
    }

    /// This process's rank in MPI_COMM_WORLD; of a process that has only sessions that in the world from which their sets of
    /// processes are.
    pub fn own_rank(&self) -> Option<i64> {
        let own = |found: &Found| {
            let local = usize::try_from(found.facts.local_rank?).ok()?;
            found.facts.group.as_ref()?.get(local).copied().flatten()
        };
        self.world().map_or_else(|| self.found.iter().find_map(own), |world| world.facts.local_rank)
    }

    /// The communicator that receives messages of a context, and whether they are those of its collectives.
    pub fn receiving(&self, context: u64) -> Option<(usize, bool)> {
        let plain = self.by_context.get(&context).map(|index| (*index, false));
        plain.or_else(|| {
            let index = self.by_context.get(&context.checked_sub(COLLECTIVE)?)?;
            Some((*index, true))
        })
    }

    /// The communicators that send messages of a context, and whether they are those of their collectives: an
    /// intercommunicator sends in a context of the other group's, which may be that of another communicator here. Zero is
    /// MPI_COMM_WORLD's; of others it says that they are still being made (`MPIR_Get_contextid_nonblock`,
    /// src/mpi/comm/contextid.c, v4.0.2).
    pub fn senders(&self, context: u64) -> Vec<(usize, bool)> {
        let collective = context.checked_sub(COLLECTIVE);
        let of = |found: &Found| match found.send_context {
            plain if plain == context => Some(false),
            plain if Some(plain) == collective => Some(true),
            _ => None,
        };
        let made = |(_, found): &(usize, &Found)| found.value == WORLD || found.send_context != 0;
        (0..).zip(&self.found).filter(made).filter_map(|(index, found)| Some((index, of(found)?))).collect()
    }
}

/// Reads all communicators. `abi`: C handles are pointers (the MPI-5 ABI), not integers.
///
/// # Errors
/// Where MPI_COMM_WORLD itself cannot be read though there is one, or the process is gone.
pub fn read_all(
    target: &dyn Target,
    layouts: &Layouts,
    shapes: &Shapes,
    pools: &Pools,
    abi: bool,
) -> Result<Communicators, ReaderError> {
    let mut all = Communicators::default();
    let world = pools.address_of(target, WORLD);
    if world.is_none() && !pools.has_session(target) {
        return Err(ReaderError::Damaged("MPI_COMM_WORLD was not found in the library".to_owned()));
    }
    let size = &shapes.communicator.group_size;
    let read = |world: TargetAddr| size.read_uint(target, world);
    let world_size = world.map(read).transpose()?.map(|size| i64::try_from(size).unwrap_or(0));
    let groups = Groups::new(target, layouts, world_size)?;
    let worlds = Worlds::new(target, layouts, &pools.ranges, world_size)?;
    let mut buffer = Vec::new();
    let mut parts = HashSet::new();
    for (at, value) in live(target, shapes, pools, ObjectKind::Comm, &mut all.problems)? {
        let shape = &shapes.communicator;
        let record = match Record::read(target, at, shape.size, &mut buffer) {
            Ok(record) => record,
            Err(TargetError::Gone) => return Err(TargetError::Gone.into()),
            Err(error) => {
                add_problem(&mut all.problems, format!("the communicator {:#x}: {error}", value.0));
                continue;
            }
        };
        for part in [shape.node_comm, shape.node_roots_comm] {
            parts.insert(record.pointer(part));
        }
        // An intracommunicator may still have the one of an intercommunicator that was at its place: MPII_Comm_init leaves the
        // field as it is (src/mpi/comm/commutil.c, v4.0 to v5.0), and what it points to may be the application's now.
        if record.int(shape.kind) == shapes.intercommunicator {
            parts.insert(record.pointer(shape.local_comm));
        }
        if Some(at) == world {
            let slots = [shape.local_group, shape.remote_group];
            // Whoever it is, all of MPI_COMM_WORLD are of our world.
            let size = world_size.unwrap_or(0).min(1);
            let first = groups.identities(&record, slots, false, false, size).unwrap_or_default();
            all.world = first.first().copied().flatten().and_then(|identity| worlds.name(identity.world));
        }
        let found = describe(target, shapes, &(&groups, &worlds), &record, value, abi, &mut all.problems);
        all.found.push(found);
    }
    for found in &mut all.found {
        // The third predefined one of some releases is the library's own copy of MPI_COMM_WORLD.
        found.internal =
            parts.contains(&found.at) || (found.value.place() == Place::Builtin && found.value.index() > 1);
    }
    let world = all.world;
    Ok(Communicators { world, ..Communicators::of(all.found, all.problems) })
}

fn describe(
    target: &dyn Target,
    shapes: &Shapes,
    (groups, worlds): &(&Groups<'_>, &Worlds<'_>),
    record: &Record<'_>,
    value: HandleValue,
    abi: bool,
    problems: &mut Vec<String>,
) -> Found {
    let shape = &shapes.communicator;
    let inter = record.int(shape.kind) == shapes.intercommunicator;
    let (size, remote_size) = (record.int(shape.group_size), record.int(shape.remote_size));
    let name = record.text(shape.name, MAX_NAME, target).map(|name| printable(&name)).unwrap_or_default();
    let group_slots = [shape.local_group, shape.remote_group];
    let (group, remote_group) = groups.of(record, group_slots, inter, size, remote_size).unwrap_or_else(|problem| {
        add_problem(problems, format!("the group of the communicator {:#x} ({name:?}): {problem}", value.0));
        (None, None)
    });
    let mut elsewhere = Vec::new();
    for (remote, members) in [(false, group.as_deref()), (true, remote_group.as_deref())] {
        elsewhere.extend(worlds.elsewhere(groups, record, group_slots, inter, remote, members.unwrap_or_default()));
    }
    let (send_context, receive_context) = (record.uint(shape.context), record.uint(shape.receive_context));
    let context = if inter { format!("{send_context}/{receive_context}") } else { receive_context.to_string() };
    let facts = Communicator {
        name_set: Some(!name.is_empty()),
        name: name.into(),
        unique_id: u64::from(value.0),
        context_id: Some(context.into()),
        handle: Some(HandleWord(c_handle(value, record.addr, abi))),
        local_rank: Some(record.int(shape.rank)),
        size: Some(size),
        // The sizes of a remote group of which no member is known are still known.
        remote_group: if inter {
            remote_group.or_else(|| groups.nobody_known(remote_size)).or_else(|| Some([].into()))
        } else {
            None
        },
        group,
        elsewhere: elsewhere.into(),
        // The tags of non-blocking collectives (`MPIDU_Sched_next_tag`, src/mpid/common/sched/mpidu_sched.c, v3.2 to v5.0).
        next_sequence: shape.next_tag.map(|slot| record.int(slot)),
        ..Communicator::default()
    };
    let node_comm = record.pointer(shape.node_comm);
    let on_node = shape.on_node.map(|slot| record.int(slot));
    Found { facts, at: record.addr, value, send_context, receive_context, inter, internal: false, node_comm, on_node }
}

/// The value that the application's variable has: the integer, or in the MPI-5 ABI the address of the object, and
/// small numbers for predefined ones (pmodels/mpich, src/include/mpi_abi.h, v5.0).
pub fn c_handle(value: HandleValue, at: TargetAddr, abi: bool) -> u64 {
    match (abi, value.place(), value.kind()) {
        (false, ..) => u64::from(value.0),
        (true, Place::Builtin, Some(ObjectKind::Comm)) => 0x101 + u64::from(value.index()),
        (true, ..) => at.get(),
    }
}

/// The objects of a kind that are in use: predefined ones first, then by block.
///
/// # Errors
/// Where the process is gone.
pub fn live(
    target: &dyn Target,
    shapes: &Shapes,
    pools: &Pools,
    kind: ObjectKind,
    problems: &mut Vec<String>,
) -> Result<Vec<(TargetAddr, HandleValue)>, ReaderError> {
    let mut found = Vec::new();
    if let Some(builtins) = pools.builtins(kind) {
        for index in 0..builtins.count {
            let at = builtins.at.wrapping_add(index * builtins.stride);
            match target.read_uint(shapes.header.handle.address_in(at), 4) {
                Ok(value) => {
                    let value = HandleValue(u32::try_from(value).unwrap_or(0));
                    // Not every place of an array is in use.
                    if value.kind() == Some(kind) && value.place() == Place::Builtin {
                        found.push((at, value));
                    }
                }
                Err(TargetError::Gone) => return Err(TargetError::Gone.into()),
                Err(error) => add_problem(problems, format!("the {} at {at}: {error}", kind.type_name())),
            }
        }
    }
    let header = &shapes.header;
    let mut buffer = Vec::new();
    for pool in pools.of(kind).filter(|pool| pool.verified && pool.head.initialized) {
        let (free, broken) = pool.free(target, header.next.offset as u64);
        if let Some(problem) = broken {
            add_problem(problems, problem);
        }
        for block in pool.blocks(target, &mut |problem| add_problem(problems, problem)) {
            for index in 0..block.count {
                let at = block.at.wrapping_add(index * block.stride);
                if free.contains(&at) {
                    continue;
                }
                match Record::read(target, at, header.size, &mut buffer) {
                    Ok(record) => {
                        let value = HandleValue(u32::try_from(record.uint(header.handle)).unwrap_or(0));
                        if value.kind() == Some(kind) && matches!(value.place(), Place::Direct | Place::Indirect) {
                            found.push((at, value));
                        } else {
                            add_problem(problems, format!("the object at {at} is no {}", kind.type_name()));
                        }
                    }
                    Err(TargetError::Gone) => return Err(TargetError::Gone.into()),
                    Err(error) => add_problem(problems, format!("the {} at {at}: {error}", kind.type_name())),
                }
            }
        }
    }
    Ok(found)
}
