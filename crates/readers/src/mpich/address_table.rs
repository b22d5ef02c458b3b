//! MPICH's tables of addresses, which both networks have: `MPIDI_global.avt_mgr` (pmodels/mpich, src/mpid/ch4/src/ch4_types.h, v4.0 to
//! v5.0). The first of all tables is that of MPI_COMM_WORLD, in the order of its ranks.

use crate::record::{Record, shapes};
use target::Target;
use target::address::TargetAddr;

shapes! {
    /// What knows all tables of addresses.
    ManagerShape = ["MPIDIU_avt_manager"] { most: "max_n_avts", count: "n_avts", world: "av_table0", tables: "av_tables" };
    /// The table of one group of processes.
    TableShape = ["MPIDI_av_table_t"] { count: "size", entries: "table" };
}

/// More processes than this (16 Mi) have no table here.
pub const MAX_PROCESSES: u64 = 1 << 24;

/// The table of MPI_COMM_WORLD, if a record may be the manager: the first of all tables is that one.
pub fn world_table(target: &dyn Target, manager: &ManagerShape, record: &Record<'_>) -> Option<TargetAddr> {
    let (most, count) = (record.int(manager.most), record.int(manager.count));
    let (world, tables) = (record.pointer(manager.world), record.pointer(manager.tables));
    let likely = (1..=1 << 20).contains(&most) && (1..=most).contains(&count) && !world.is_null() && !tables.is_null();
    (likely && target.read_pointer(tables).is_ok_and(|first| first == world)).then_some(world)
}
