//! Which processes a communicator is of: their ranks in MPI_COMM_WORLD.
//!
//! A process is known by its lpid, which for those that MPI_Init started together is the rank in MPI_COMM_WORLD
//! (pmodels/mpich, src/include/mpir_group.h, v4.0.2). Where the lpids of a communicator stand depends on the device
//! and release: in its group since 5.0, in a map of ch4 until 4.3, in a table of connections of ch3. Members are probed.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::members::MemberLists;
use crate::record::{Record, Slot, shapes};
use layouts::{LayoutError, Layouts};
use model::Group;
use target::address::TargetAddr;
use target::{Reason, Target, collect};

shapes! {
    /// How ch4 maps ranks to processes (src/mpid/ch4/include/mpidpre.h, v3.4 to v4.3).
    RankMap = ["MPIDI_rank_map_t"] {
        mode: "mode",
        table: "avtid",
        count: "size",
        offset: "reg.offset",
        stride_offset: "reg.stride.offset",
        stride: "reg.stride.stride",
        block: "reg.stride.blocksize",
        lpids: "irreg.lut.lpid",
        gpids: "irreg.mlut.gpid",
    };
    /// A group since 5.0 (src/include/mpir_group.h).
    MappedGroup = ["MPIR_Group"] {
        handle: "handle",
        count: "size",
        use_map: "pmap.use_map",
        map: "pmap.u.map",
        offset: "pmap.u.stride.offset",
        stride: "pmap.u.stride.stride",
    };
    /// A group until 4.3.
    ListedGroup = ["MPIR_Group"] { handle: "handle", count: "size", lpids: "lrank_to_lpid" };
    /// A process of a group until 4.3.
    ListedProcess = ["MPII_Group_pmap_t"] { lpid: "lpid" };
    /// ch3's table of connections, indexed by rank (src/mpid/ch3/include/mpidpre.h, src/mpid/ch3/src/mpid_vc.c).
    ConnectionTable = ["MPIDI_VCRT"] { count: "size", connections: "vcr_table" };
    /// A connection of ch3: to which process of which process group.
    Connection = ["MPIDI_VC"] { lpid: "lpid" } optional { group: "pg", rank: "pg_rank" };
}

/// Larger communicators (4 Mi) are not described rank by rank; what all together may have, the target says.
const MAX_GROUP: i64 = 1 << 22;

/// Where the processes of a communicator are to be found.
enum Kept {
    /// In its group.
    Group(MappedGroup),
    /// In the maps of ch4: for intercommunicators the second one is the local group's.
    Maps(Box<Maps>),
    /// In the tables of ch3: for intercommunicators the second one is the local group's.
    Tables { shape: ConnectionTable, connection: Connection, table: Slot, local_table: Slot },
}

/// What is known of ch4's maps.
struct Maps {
    shape: RankMap,
    map: Slot,
    local_map: Slot,
    modes: Modes,
}

/// The numbers of ch4's ways to map.
struct Modes {
    direct: [i64; 2],
    offset: [i64; 2],
    stride: [i64; 2],
    blocks: [i64; 2],
    table: [i64; 2],
    tables: i64,
}

/// How the library refers to a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InLibrary {
    /// Place in its table of worlds, since 5.0.
    Index(i64),
    /// A process group of ch3.
    ProcessGroup(TargetAddr),
}

/// A process: its world, and its rank there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Its world.
    pub world: InLibrary,
    /// Its rank in that world's MPI_COMM_WORLD.
    pub rank: i64,
}

impl Identity {
    /// Of an lpid since 5.0 (`MPIR_LPID_WORLD_INDEX`, src/include/mpir_lpid.h); those of connections that are being made are
    /// none.
    fn of_lpid(lpid: i64) -> Option<Self> {
        const DYNAMIC: i64 = 1 << 62;
        let world = lpid >> 32;
        (lpid >= 0 && lpid & DYNAMIC == 0).then_some(Self { world: InLibrary::Index(world), rank: lpid & 0xffff_ffff })
    }
}

/// Reads the groups of communicators.
pub struct Groups<'a> {
    target: &'a dyn Target,
    kept: Option<Kept>,
    listed: Option<(ListedGroup, ListedProcess)>,
    /// How many processes MPI_COMM_WORLD has; `None` in a process that has only sessions.
    world_size: Option<i64>,
    lists: MemberLists,
    /// Those of groups and of ch3's tables, which communicators share: by address, size, and whether they may
    /// have more members.
    tables: RefCell<HashMap<(TargetAddr, i64, bool), Group>>,
}

/// World ranks in rank order; an element is `None` where that process's is not known.
pub type Members = Group;

impl<'a> Groups<'a> {
    /// A reader of groups; where the layouts have none of the known forms, no group is known.
    ///
    /// # Errors
    /// Where a form is there and lacks a member.
    pub fn new(target: &'a dyn Target, layouts: &Layouts, world_size: Option<i64>) -> Result<Self, LayoutError> {
        let kept = if layouts.has_field("MPIR_Group", "pmap.use_map") {
            Some(Kept::Group(MappedGroup::resolve(layouts)?))
        } else if layouts.has_field("MPIR_Comm", "dev.ch4.map") {
            let both = |name: &str| -> Result<[i64; 2], LayoutError> {
                Ok([layouts.constant(name)?, layouts.constant(&format!("{name}_INTRA"))?])
            };
            Some(Kept::Maps(Box::new(Maps {
                shape: RankMap::resolve(layouts)?,
                map: Slot::resolve(layouts, "MPIR_Comm", "dev.ch4.map")?,
                local_map: Slot::resolve(layouts, "MPIR_Comm", "dev.ch4.local_map")?,
                modes: Modes {
                    direct: both("MPIDI_RANK_MAP_DIRECT")?,
                    offset: both("MPIDI_RANK_MAP_OFFSET")?,
                    stride: both("MPIDI_RANK_MAP_STRIDE")?,
                    blocks: both("MPIDI_RANK_MAP_STRIDE_BLOCK")?,
                    table: both("MPIDI_RANK_MAP_LUT")?,
                    tables: layouts.constant("MPIDI_RANK_MAP_MLUT")?,
                },
            })))
        } else if layouts.has_field("MPIR_Comm", "dev.vcrt") {
            Some(Kept::Tables {
                shape: ConnectionTable::resolve(layouts)?,
                connection: Connection::resolve(layouts)?,
                table: Slot::resolve(layouts, "MPIR_Comm", "dev.vcrt")?,
                local_table: Slot::resolve(layouts, "MPIR_Comm", "dev.local_vcrt")?,
            })
        } else {
            None
        };
        let listed = layouts.has_field("MPIR_Group", "lrank_to_lpid");
        let listed =
            listed.then(|| Ok((ListedGroup::resolve(layouts)?, ListedProcess::resolve(layouts)?))).transpose()?;
        let (lists, tables) = (MemberLists::default(), RefCell::default());
        Ok(Self { target, kept, listed, world_size, lists, tables })
    }

    /// The local group of a communicator, and of an intercommunicator the remote one. `size` and `remote_size` are
    /// those that the communicator says.
    ///
    /// # Errors
    /// A sentence, where a group cannot be read.
    pub fn of(
        &self,
        comm: &Record<'_>,
        groups: [Slot; 2],
        inter: bool,
        size: i64,
        remote_size: i64,
    ) -> Result<(Option<Members>, Option<Members>), Reason> {
        let whole = |size: i64| (0..=MAX_GROUP).contains(&size);
        if !whole(size) || (inter && !whole(remote_size)) {
            return Err(Reason::new(format!("a group of {} processes", if whole(size) { remote_size } else { size })));
        }
        let Some(kept) = &self.kept else { return Ok((None, None)) };
        self.claim(size.saturating_add(if inter { remote_size } else { 0 }))?;
        let read = |local: bool| -> Result<Option<Members>, Reason> {
            let size = if local { size } else { remote_size };
            match kept {
                Kept::Group(shape) => self.mapped_group(comm.pointer(groups[usize::from(!local)]), shape, size, !inter),
                // Of an intracommunicator only the first is filled in; of an intercommunicator it is the remote group's.
                Kept::Maps(maps) => {
                    let Maps { shape, map, local_map, modes } = &**maps;
                    let slot = if inter && local { *local_map } else { *map };
                    self.mapped(
                        Record::new(comm.address_of(slot), comm.bytes(slot), self.target.abi()),
                        shape,
                        modes,
                        size,
                    )
                }
                Kept::Tables { shape, connection, table, local_table } => {
                    let slot = if inter && local { *local_table } else { *table };
                    self.connected(comm.pointer(slot), shape, connection, size)
                }
            }
        };
        Ok((read(true)?, if inter { read(false)? } else { None }))
    }

    /// A group object, by its address; `None` where it has no list of processes (yet).
    ///
    /// # Errors
    /// A sentence, where it cannot be read or its size is not `size`.
    pub fn group(&self, at: TargetAddr, size: i64) -> Result<Option<Members>, Reason> {
        if at.is_null() {
            return Ok(None);
        }
        if let Some(Kept::Group(shape)) = &self.kept {
            self.claim(size)?;
            return self.mapped_group(at, shape, size, false);
        }
        let Some((group, process)) = &self.listed else { return Ok(None) };
        let record = Record::owned(self.target, at, group.size)?;
        same_size(record.int(group.count), size)?;
        self.claim(size)?;
        let lpids = record.pointer(group.lpids);
        if lpids.is_null() {
            return Ok(None);
        }
        let lpids = self.numbers(lpids, size, process.size, process.lpid.offset, process.lpid.size)?;
        self.keep(size, lpids.into_iter().map(|lpid| self.world_rank(lpid)))
    }

    /// The first `size` members of a group object that has a map. A communicator for a topology of fewer processes than it was
    /// made from keeps that one's group, in which its processes come first (`MPII_Comm_copy`, src/mpi/comm/commutil.c,
    /// v5.0.1): `fewer` allows that.
    fn mapped_group(
        &self,
        at: TargetAddr,
        shape: &MappedGroup,
        size: i64,
        fewer: bool,
    ) -> Result<Option<Members>, Reason> {
        if at.is_null() {
            return Ok(None);
        }
        if let Some(known) = self.tables.borrow().get(&(at, size, fewer)) {
            return Ok(Some(Group::clone(known)));
        }
        let lpids = self.lpids(at, shape, size, fewer)?;
        let members = self.keep(size, lpids.into_iter().map(|lpid| self.world_rank(lpid?)))?;
        self.tables.borrow_mut().extend(members.clone().map(|members| ((at, size, fewer), members)));
        Ok(members)
    }

    fn lpids(&self, at: TargetAddr, shape: &MappedGroup, size: i64, fewer: bool) -> Result<Vec<Option<i64>>, Reason> {
        let group = Record::owned(self.target, at, shape.size)?;
        let count = group.int(shape.count);
        if !fewer || count < size {
            same_size(count, size)?;
        }
        if group.uint(shape.use_map) == 0 {
            let (offset, stride) = (group.int(shape.offset), group.int(shape.stride));
            let lpid = |rank: i64| rank.checked_mul(stride).and_then(|step| step.checked_add(offset));
            return collect(size.unsigned_abs(), (0..size).map(lpid)).map_err(Reason::of);
        }
        Ok(self.numbers(group.pointer(shape.map), size, 8, 0, 8)?.into_iter().map(Some).collect::<Vec<_>>())
    }

    /// The processes that a map of ch4 says; `None` where it says nothing (yet).
    fn mapped(&self, map: Record<'_>, shape: &RankMap, modes: &Modes, size: i64) -> Result<Option<Members>, Reason> {
        let mode = map.int(shape.mode);
        let (offset, stride_offset) = (map.int(shape.offset), map.int(shape.stride_offset));
        let (stride, block) = (map.int(shape.stride), map.int(shape.block));
        let is = |of: [i64; 2]| of.contains(&mode);
        // Those of the release's INTRA modes are in the first table of addresses.
        let table =
            if [modes.direct, modes.offset, modes.stride, modes.blocks, modes.table].iter().any(|of| of[1] == mode) {
                0
            } else {
                map.int(shape.table)
            };
        let regular = |lpid: &dyn Fn(i64) -> Option<i64>| {
            self.keep(
                size,
                (0..size).map(|rank| lpid(rank).filter(|_| table == 0).and_then(|lpid| self.world_rank(lpid))),
            )
        };
        if is(modes.direct) {
            regular(&Some)
        } else if is(modes.offset) {
            regular(&|rank| rank.checked_add(offset))
        } else if is(modes.stride) {
            regular(&|rank| rank.checked_mul(stride)?.checked_add(stride_offset))
        } else if is(modes.blocks) {
            if block == 0 {
                return Err(Reason::new("a map of ranks in blocks of 0 processes"));
            }
            regular(&|rank| (rank / block).checked_mul(stride)?.checked_add(rank % block)?.checked_add(stride_offset))
        } else if is(modes.table) {
            same_size(map.int(shape.count), size)?;
            let lpids = self.numbers(map.pointer(shape.lpids), size, 4, 0, 4)?.into_iter();
            let rank = |lpid| Some(lpid).filter(|_| table == 0).and_then(|lpid| self.world_rank(lpid));
            self.keep(size, lpids.map(rank))
        } else if mode == modes.tables {
            same_size(map.int(shape.count), size)?;
            // Pairs of a table and an lpid.
            let at = map.pointer(shape.gpids);
            let tables = self.numbers(at, size, 8, 0, 4)?;
            let lpids = self.numbers(at, size, 8, 4, 4)?;
            let pairs = tables.into_iter().zip(lpids);
            let rank = |(table, lpid)| Some(lpid).filter(|_| table == 0).and_then(|lpid| self.world_rank(lpid));
            self.keep(size, pairs.map(rank))
        } else {
            Ok(None)
        }
    }

    /// Asks for room for the members of one communicator.
    fn claim(&self, count: i64) -> Result<(), Reason> {
        let count = u64::try_from(count).map_err(|_| format!("a group of {count} processes"))?;
        self.target.claim_members(count).map_err(Reason::of)
    }

    /// The list of these members.
    fn keep(&self, size: i64, members: impl Iterator<Item = Option<i64>>) -> Result<Option<Members>, Reason> {
        let size = u64::try_from(size).map_err(|_| format!("a group of {size} processes"))?;
        self.lists.keep(size, members).map(Some).map_err(Reason::of)
    }

    /// So many members of whom nothing is known.
    pub fn nobody_known(&self, size: i64) -> Option<Members> {
        let size = (0..=MAX_GROUP).contains(&size).then_some(size)?;
        self.claim(size).ok()?;
        self.keep(size, std::iter::repeat_n(None, usize::try_from(size).ok()?)).ok().flatten()
    }

    /// The processes of ch3's table of connections at `at`.
    fn connected(
        &self,
        at: TargetAddr,
        shape: &ConnectionTable,
        connection: &Connection,
        size: i64,
    ) -> Result<Option<Members>, Reason> {
        if at.is_null() {
            return Ok(None);
        }
        if let Some(known) = self.tables.borrow().get(&(at, size, false)) {
            return Ok(Some(Group::clone(known)));
        }
        let lpid = |at: TargetAddr| {
            let at = connection.lpid.address_in(at);
            self.target.read_uint(at, connection.lpid.size as u64).ok()
        };
        let connections = self.connections(at, shape, size)?.into_iter();
        let rank = |at| self.world_rank(i64::try_from(lpid(at)?).ok()?);
        let members = self.keep(size, connections.map(rank))?;
        self.tables.borrow_mut().extend(members.clone().map(|members| ((at, size, false), members)));
        Ok(members)
    }

    fn connections(&self, at: TargetAddr, shape: &ConnectionTable, size: i64) -> Result<Vec<TargetAddr>, Reason> {
        let read = |offset: u64, size: u64| self.target.read_uint(at.wrapping_add(offset), size);
        let count = read(shape.count.offset as u64, shape.count.size as u64)?;
        // A communicator of the first processes of another shares that one's table (src/mpid/ch3/src/ch3u_comm.c, v4.0.2).
        if i64::try_from(count).unwrap_or(-1) < size {
            return Err(Reason::new(format!("a table of {count} connections for {size} processes")));
        }
        let width = self.target.abi().pointer_width.bytes();
        let first = shape.connections.address_in(at);
        // Numbers have a sign, addresses none.
        let address = |number: i64| TargetAddr::new(number as u64 & u64::MAX >> (64 - 8 * width.min(8)));
        let width = usize::try_from(width).unwrap_or(8);
        Ok(self.numbers(first, size, width, 0, width)?.into_iter().map(address).collect())
    }

    /// Who the members of a communicator's local or remote group are, where the library has names of their worlds: by rank.
    ///
    /// # Errors
    /// As [`Groups::of`].
    pub fn identities(
        &self,
        comm: &Record<'_>,
        groups: [Slot; 2],
        inter: bool,
        remote: bool,
        size: i64,
    ) -> Result<Vec<Option<Identity>>, Reason> {
        if !(0..=MAX_GROUP).contains(&size) {
            return Ok(Vec::new());
        }
        match &self.kept {
            Some(Kept::Group(shape)) => {
                let at = comm.pointer(groups[usize::from(remote)]);
                if at.is_null() {
                    return Ok(Vec::new());
                }
                let lpids = self.lpids(at, shape, size, !inter)?;
                Ok(lpids.into_iter().map(|lpid| lpid.and_then(Identity::of_lpid)).collect())
            }
            Some(Kept::Tables { shape, connection, table, local_table }) => {
                let at = comm.pointer(if inter && !remote { *local_table } else { *table });
                let (Some(group), Some(rank)) = (connection.group, connection.rank) else { return Ok(Vec::new()) };
                if at.is_null() {
                    return Ok(Vec::new());
                }
                let read = |at: TargetAddr| {
                    let number = |slot: Slot| slot.read_uint(self.target, at).ok();
                    let rank = i64::try_from(number(rank)?).ok()?;
                    Some(Identity { world: InLibrary::ProcessGroup(TargetAddr::new(number(group)?)), rank })
                };
                Ok(self.connections(at, shape, size)?.into_iter().map(read).collect())
            }
            // ch4 numbers tables of addresses until 4.3, of which only the process itself knows whose they are.
            Some(Kept::Maps(_)) | None => Ok(Vec::new()),
        }
    }

    /// `count` numbers of `size` bytes, `stride` bytes apart, the first one `offset` bytes from `at`.
    fn numbers(
        &self,
        at: TargetAddr,
        count: i64,
        stride: usize,
        offset: usize,
        size: usize,
    ) -> Result<Vec<i64>, Reason> {
        let count = usize::try_from(count).unwrap_or(0);
        let bytes = self.target.read_bytes(at, count.saturating_mul(stride))?;
        let abi = self.target.abi();
        Ok(bytes
            .chunks_exact(stride.max(1))
            .filter_map(|item| Some(abi.int(item.get(offset..offset + size)?)))
            .collect())
    }

    /// The rank in MPI_COMM_WORLD of an lpid: the upper half says which of several worlds it belongs to (spawned or
    /// connected jobs), or in ch3 those of others follow those of this one: there nothing tells them apart where the size of
    /// the world is not known.
    fn world_rank(&self, lpid: i64) -> Option<i64> {
        let most = match (self.world_size, &self.kept) {
            (Some(size), _) => size,
            (None, Some(Kept::Tables { .. })) => 0,
            (None, _) => MAX_GROUP,
        };
        Some(lpid).filter(|lpid| (0..most).contains(lpid))
    }
}

fn same_size(found: i64, said: i64) -> Result<(), Reason> {
    if found == said {
        Ok(())
    } else {
        Err(Reason::new(format!("a group of {found} processes in a communicator of {said}")))
    }
}
