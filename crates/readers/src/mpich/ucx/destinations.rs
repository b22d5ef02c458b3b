//! Which rank a connection of UCX leads to, by MPICH's table of addresses.
//!
//! The table is found in the library's variables by what it says twice.

use std::collections::HashMap;

use crate::mpich::address_table::{MAX_PROCESSES, ManagerShape, TableShape, world_table};
use crate::mpich::variables;
use crate::record::shapes;
use crate::ucx::Workers;
use layouts::Layouts;
use target::address::TargetAddr;
use target::{Range, Target, TargetError, zeroed};

shapes! {
    /// One process: its connections, by pairs of interfaces.
    EntryShape = ["MPIDI_av_entry_t"] { connections: "netmod.ucx.dest" };
}

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

    /// Finds the table. `world_size`: ranks of MPI_COMM_WORLD, where there is one.
    ///
    /// # Errors
    /// Where the process is gone.
    pub fn find(
        target: &dyn Target,
        layouts: &Layouts,
        ranges: &[Range],
        workers: &Workers,
        world_size: Option<i64>,
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

/// Reads a table; `None` where it is not that of the world, or none of its connections is one of our workers'.
fn read(
    target: &dyn Target,
    table: &TableShape,
    entry: &EntryShape,
    workers: &Workers,
    at: TargetAddr,
    world_size: Option<i64>,
) -> Option<Destinations> {
    let count = table.count.read_uint(target, at).ok()?;
    if world_size.is_some_and(|size| i64::try_from(count) != Ok(size)) || count > MAX_PROCESSES {
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
        let here = table.entries.address_in(at).wrapping_add(rank * entry.size as u64);
        for own in 0..used {
            let first = here.wrapping_add((entry.connections.offset + own * interfaces * width) as u64);
            target.read(first, &mut row).ok()?;
            for bytes in row.chunks_exact(width) {
                let endpoint = TargetAddr::new(target.abi().uint(bytes));
                // A process that nothing was sent to may have no connection yet.
                let worker = belongs.read_pointer(target, endpoint);
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
