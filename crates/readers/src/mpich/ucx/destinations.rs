//! Which rank a connection of UCX leads to, by MPICH's table of addresses.
//!
//! `MPIDI_global.avt_mgr` has a table for the processes of MPI_COMM_WORLD, in the order of their ranks (pmodels/mpich,
//! src/mpid/ch4/src/ch4_types.h, v4.0 to v5.0). It is found in the library's variables by what it says twice.

use std::collections::HashMap;

use super::variables;
use crate::record::{Record, shape};
use crate::ucx::Workers;
use layouts::Layouts;
use target::address::TargetAddr;
use target::{Range, Target, TargetError, zeroed};

shape!(
    /// What knows all tables of addresses.
    ManagerShape = ["MPIDIU_avt_manager"] { most: "max_n_avts", count: "n_avts", world: "av_table0", tables: "av_tables" }
);
shape!(
    /// The table of one group of processes.
    TableShape = ["MPIDI_av_table_t"] { count: "size", entries: "table" }
);
shape!(
    /// One process: its connections, by pairs of interfaces.
    EntryShape = ["MPIDI_av_entry_t"] { connections: "netmod.ucx.dest" }
);

/// More processes than this (16 Mi) have no table here.
const MAX_PROCESSES: u64 = 1 << 24;

/// World ranks by connection. Empty where the table was not found.
#[derive(Debug, Default)]
pub struct Destinations {
    ranks: HashMap<TargetAddr, i64>,
}

impl Destinations {
    /// The world rank that a connection leads to.
    pub fn of(&self, endpoint: TargetAddr) -> Option<i64> {
        self.ranks.get(&endpoint).copied()
    }

    /// Finds the table. `world_size`: ranks of MPI_COMM_WORLD.
    ///
    /// # Errors
    /// Where the process is gone.
    pub fn find(
        target: &dyn Target,
        layouts: &Layouts,
        ranges: &[Range],
        workers: &Workers,
        world_size: u64,
    ) -> Result<Self, TargetError> {
        let shapes = (ManagerShape::resolve(layouts), TableShape::resolve(layouts), EntryShape::resolve(layouts));
        let (Ok(manager), Ok(table), Ok(entry)) = shapes else { return Ok(Self::default()) };
        let found = variables::find(target, ranges, manager.size, |record| {
            let world = world_table(target, &manager, record)?;
            read(target, &table, &entry, workers, world, world_size)
        })?;
        Ok(found.unwrap_or_default())
    }
}

/// The table of MPI_COMM_WORLD, if a record may be the manager: the first of all tables is that one.
pub fn world_table(target: &dyn Target, manager: &ManagerShape, record: &Record<'_>) -> Option<TargetAddr> {
    let (most, count) = (record.int(manager.most), record.int(manager.count));
    let (world, tables) = (record.pointer(manager.world), record.pointer(manager.tables));
    let likely = (1..=1 << 20).contains(&most) && (1..=most).contains(&count) && !world.is_null() && !tables.is_null();
    (likely && target.read_pointer(tables).is_ok_and(|first| first == world)).then_some(world)
}

/// Reads a table; `None` where it is not that of the world, or none of its connections is one of our workers'.
fn read(
    target: &dyn Target,
    table: &TableShape,
    entry: &EntryShape,
    workers: &Workers,
    at: TargetAddr,
    world_size: u64,
) -> Option<Destinations> {
    let count = target.read_uint(at.wrapping_add(table.count.offset as u64), table.count.size as u64).ok()?;
    if count != world_size || count > MAX_PROCESSES {
        return None;
    }
    let width = usize::try_from(target.abi().pointer_width.bytes()).ok()?;
    let belongs = workers.layout.endpoint.worker;
    // By pairs of interfaces, ours and theirs; what lies beyond those in use is not filled in.
    let interfaces = entry.connections.size.checked_div(width)?.isqrt();
    let used = workers.at.len().min(interfaces);
    let mut ranks = HashMap::new();
    let mut row = zeroed(used.checked_mul(width)?).ok()?;
    for rank in 0..count {
        let here = at.wrapping_add(table.entries.offset as u64).wrapping_add(rank * entry.size as u64);
        for own in 0..used {
            let first = here.wrapping_add((entry.connections.offset + own * interfaces * width) as u64);
            target.read(first, &mut row).ok()?;
            for bytes in row.chunks_exact(width) {
                let endpoint = TargetAddr::new(target.abi().uint(bytes));
                // A process that nothing was sent to may have no connection yet.
                let worker = target.read_pointer(endpoint.wrapping_add(belongs.offset as u64));
                if endpoint.is_null() || !worker.is_ok_and(|worker| workers.at.contains(&worker)) {
                    continue;
                }
                if ranks.insert(endpoint, rank as i64).is_some_and(|other| other != rank as i64) {
                    return None;
                }
            }
        }
    }
    (!ranks.is_empty()).then_some(Destinations { ranks })
}
