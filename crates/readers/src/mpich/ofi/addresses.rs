//! Which rank an address of libfabric is, by MPICH's table of addresses.

use std::collections::HashMap;

use crate::libfabric::ANY_ADDRESS;
use crate::mpich::address_table::{MAX_PROCESSES, ManagerShape, TableShape, world_table};
use crate::mpich::variables;
use crate::record::shapes;
use layouts::Layouts;
use target::address::TargetAddr;
use target::{Range, Target, TargetError};

shapes! {
    /// One process: its address at the first interface (pmodels/mpich, src/mpid/ch4/netmod/ofi/ofi_pre.h, v4.0 to v5.0).
    EntryShape = ["MPIDI_av_entry_t"] { address: "netmod.ofi.root_dest" | "netmod.ofi.dest" };
}

/// World ranks by address. Empty where the table was not found.
#[derive(Debug, Default)]
pub struct Addresses {
    ranks: HashMap<u64, i64>,
}

impl Addresses {
    /// The rank of MPI_COMM_WORLD that has an address.
    pub fn of(&self, address: u64) -> Option<i64> {
        self.ranks.get(&address).copied()
    }

    /// Finds the table. `world_size`: ranks of MPI_COMM_WORLD, where there is one.
    ///
    /// # Errors
    /// Where the process is gone.
    pub fn find(
        target: &dyn Target,
        layouts: &Layouts,
        ranges: &[Range],
        world_size: Option<i64>,
    ) -> Result<Self, TargetError> {
        let shapes = (ManagerShape::resolve(layouts), TableShape::resolve(layouts), EntryShape::resolve(layouts));
        let (Ok(manager), Ok(table), Ok(entry)) = shapes else { return Ok(Self::default()) };
        let found = variables::find(target, ranges, manager.size, |record| {
            read(target, &table, &entry, world_table(target, &manager, record)?, world_size)
        })?;
        Ok(found.unwrap_or_default())
    }
}

/// Reads a table; `None` where it is not that of the world, or says twice that a process is at one address.
fn read(
    target: &dyn Target,
    table: &TableShape,
    entry: &EntryShape,
    at: TargetAddr,
    world_size: Option<i64>,
) -> Option<Addresses> {
    let count = table.count.read_uint(target, at).ok()?;
    if world_size.is_some_and(|size| i64::try_from(count) != Ok(size)) || count > MAX_PROCESSES {
        return None;
    }
    // fi_addr_t
    let width = 8;
    let mut ranks = HashMap::new();
    for rank in 0..count {
        let here = at.wrapping_add((table.entries.offset + entry.address.offset) as u64);
        let here = here.wrapping_add(rank.checked_mul(entry.size as u64)?);
        // An array of them, or one: the first is that of the first interfaces.
        let address = target.read_uint(here, width).ok()?;
        // A process that nothing was sent to may have none yet.
        if address == ANY_ADDRESS {
            continue;
        }
        if ranks.insert(address, rank as i64).is_some() {
            return None;
        }
    }
    (!ranks.is_empty()).then_some(Addresses { ranks })
}
