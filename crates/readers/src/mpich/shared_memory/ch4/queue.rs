//! The cells that are queued (`MPIDU_genqi_nem_mpsc_enqueue`, src/mpid/common/genq/mpidu_genq_shmem_queue.h, v4.0.2 to v5.0.1).

use std::collections::HashSet;

use super::transports::{CACHE_LINE, Transport};
use crate::ReaderError;
use crate::record::Record;
use target::Target;
use target::address::TargetAddr;

/// The kind of queue, in the flags of a terminal: `MPIDU_GENQ_SHMEM_QUEUE_TYPE__NEM_MPSC`.
const KIND: u64 = 2;

/// The type of a cell that begins an active message (`MPIDI_POSIX_EAGER_IQUEUE_CELL_TYPE_HDR`, iqueue_types.h).
const BEGINS: u64 = 0;

/// A cell begins with its type, sender and length, and the header of the active message: its type, its handler, and the
/// length of the handler's own header (`MPIDI_POSIX_eager_iqueue_cell`; `MPIDI_POSIX_am_header_t`, src/mpid/ch4/shm/posix/posix_pre.h).
const CELL_HEAD: u64 = 16;

/// A cell that begins an active message.
#[derive(Debug)]
pub struct Cell {
    /// Who takes it in.
    pub handler: u8,
    /// Where the handler's header lies.
    pub payload: TargetAddr,
    /// Its length; the data follows.
    pub header_len: u64,
}

/// Shows `each` the cells that begin active messages, the first one first.
///
/// # Errors
/// Where the queue cannot be read to its end, or `each` says so.
pub fn walk(
    target: &dyn Target,
    transport: &Transport,
    mut each: impl FnMut(&Cell) -> Result<(), ReaderError>,
) -> Result<(), ReaderError> {
    let damaged = |text: String| ReaderError::Damaged(format!("the queue of cells {text}"));
    let width = target.abi().pointer_width.bytes();
    let word = |at: TargetAddr, offset: u64| target.read_uint(at.wrapping_add(offset), width);
    let (head, tail) = (word(transport.terminal, 0)?, word(transport.terminal, CACHE_LINE)?);
    let kind = target.read_uint(transport.terminal.wrapping_add(2 * CACHE_LINE), 4)?;
    if kind != KIND {
        return Err(damaged(format!("is of the kind {kind}, which is not known")));
    }
    // In front of a cell: its handle, the number of its queue, and two links.
    let front = 4 * width;
    let mut seen = HashSet::new();
    let mut handle = head;
    if head == 0 && tail == 0 {
        return Ok(());
    }
    loop {
        if handle == 0 {
            // A peer, or this process, stands between the two writes that link a cell.
            return Err(ReaderError::NotRead("a cell is just being linked into the queue".to_owned()));
        }
        if !seen.insert(handle) {
            return Err(damaged("runs in a circle".to_owned()));
        }
        let offset = handle - 1;
        if seen.len() as u64 > transport.count || offset.saturating_add(front + CELL_HEAD) > transport.len {
            return Err(damaged(format!("names a cell {handle:#x} that does not exist")));
        }
        let at = transport.cells.wrapping_add(offset);
        let record = Record::owned(target, at, (front + CELL_HEAD) as usize)?;
        let field = |offset: u64, size: usize| target.abi().uint(record.part(offset as usize, size));
        if field(0, width as usize) != handle {
            return Err(damaged(format!("names a cell {handle:#x} that says it is {:#x}", field(0, width as usize))));
        }
        if field(front, 2) == BEGINS {
            let payload = at.wrapping_add(front + CELL_HEAD);
            each(&Cell { handler: field(front + 9, 1) as u8, payload, header_len: field(front + 10, 2) })?;
        }
        if handle == tail {
            return Ok(());
        }
        handle = field(2 * width, width as usize);
    }
}
