//! Messages of ch3 that lie in nemesis's cells, and that this process has not taken out yet.
//!
//! Each process has a queue into which others link cells of their own, and for each peer on its node a fast box, which holds one
//! cell (src/mpid/ch3/channels/nemesis, pmodels/mpich, v3.4.3 to v5.0.1, whose structures are the same). Numbers order what a
//! sender has put into both. The library looks there only while it makes progress.

mod cells;
pub mod packets;
mod region;
mod taken;

use super::Finder;
use crate::ReaderError;
use crate::record::{Record, Slot, shapes};
use cells::{Pieces, Sender};
use layouts::{LayoutError, Layouts};
use packets::Packets;
use region::Region;
use target::{Range, Target};

shapes! {
    /// What this process has of a peer (`MPIDI_VC`, src/mpid/ch3/include/mpidpre.h; `MPIDI_CH3I_VC`, mpidi_ch3_pre.h of nemesis).
    Connection = ["MPIDI_VC"] { rank: "pg_rank", receiving: "ch.recv_active", fast_box: "ch.fbox_in", queue: "ch.recv_queue" };
}

/// Reads what is queued for a process. Where its MPICH has no nemesis, nothing is found.
///
/// # Errors
/// Where the process is gone.
pub fn read(
    target: &dyn Target,
    layouts: &Layouts,
    ranges: &[Range],
    found: &mut Finder<'_>,
) -> Result<(), ReaderError> {
    let Ok(reader) = Reader::new(target, layouts) else { return Ok(()) };
    if let Some(region) = region::find(target, ranges)?
        && let Err(error) = reader.read(&region, ranges, found)
    {
        found.problem(&error);
    }
    Ok(())
}

struct Reader<'a> {
    target: &'a dyn Target,
    packets: Packets,
    connection: Connection,
    /// Where a communicator has its table of connections, and where that has the first one.
    table: Slot,
    first: Slot,
}

impl<'a> Reader<'a> {
    fn new(target: &'a dyn Target, layouts: &Layouts) -> Result<Self, LayoutError> {
        Ok(Self {
            target,
            packets: Packets::new(layouts)?,
            connection: Connection::resolve(layouts)?,
            table: Slot::resolve(layouts, "MPIR_Comm", "dev.vcrt")?,
            first: Slot::resolve(layouts, "MPIDI_VCRT", "vcr_table")?,
        })
    }

    fn read(&self, region: &Region, ranges: &[Range], found: &mut Finder<'_>) -> Result<(), ReaderError> {
        let mut pieces = Pieces::default();
        if let Err(error) = pieces.queued(self.target, region, self.packets.size()) {
            found.problem(&error);
        }
        if let Err(error) = pieces.in_boxes(self.target, region, self.packets.size()) {
            found.problem(&error);
        }
        if pieces.has_boxes() {
            let ordered = match taken::find(self.target, ranges, region)? {
                Some(next) => pieces.order(&next),
                None => {
                    let why = "which of those in fast boxes were taken out already is not known";
                    Err(ReaderError::NotRead(why.to_owned()))
                }
            };
            if let Err(error) = ordered {
                found.problem(&error);
            }
        }
        for sender in pieces.senders() {
            if let Err(error) = self.sender(region, sender, found) {
                found.problem(&error);
            }
        }
        Ok(())
    }

    /// The messages of one sender.
    fn sender(&self, region: &Region, sender: &Sender, found: &mut Finder<'_>) -> Result<(), ReaderError> {
        let receiving = self.is_receiving(region, sender.local, found)?;
        self.packets.walk(self.target.abi(), sender, receiving, |context, operation| found.place(context, operation))
    }

    /// Whether a message of a peer has been taken out in part, so that what lies in front is more of its data.
    fn is_receiving(&self, region: &Region, local: u64, found: &Finder<'_>) -> Result<bool, ReaderError> {
        let rank = region.rank_of(local).unwrap_or(-1);
        let none = || ReaderError::Damaged(format!("there is no connection to rank {rank}"));
        let world = found.communicators.world().ok_or_else(none)?;
        let table = self.table.read_pointer(self.target, world.at)?;
        let width = self.target.abi().pointer_width.bytes();
        let place = u64::try_from(rank).map_err(|_| none())?.wrapping_mul(width);
        let at = self.target.read_pointer(self.first.address_in(table).wrapping_add(place))?;
        let record = Record::owned(self.target, at, self.connection.size)?;
        let shape = &self.connection;
        let is_one = record.int(shape.rank) == rank
            && record.pointer(shape.fast_box) == region.fast_box(local)
            && record.pointer(shape.queue) == region.queue_of(local);
        if is_one { Ok(!record.pointer(shape.receiving).is_null()) } else { Err(none()) }
    }
}
