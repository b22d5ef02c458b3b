//! Messages of ch4 that lie in the cells which the processes of a node share, and that this one has not taken out yet.
//!
//! Each process has a queue (its terminal) into which others link cells of their own (src/mpid/ch4/shm/posix/eager/iqueue,
//! pmodels/mpich, v4.0.2 to v5.0.1); it looks there only while it makes progress. A cell that begins an active message has its
//! header, and that of a message of MPI behind it (`MPIDIG_hdr_t`, src/mpid/ch4/src/ch4_types.h); further cells of a long one
//! have data alone.

mod queue;
mod transports;

use super::Finder;
use crate::ReaderError;
use crate::mpich::active_messages::message;
use crate::record::{Record, shapes};
use layouts::Layouts;
use model::{Operation, Remark};
use queue::Cell;
use target::{Range, Target};
use transports::Transport;

shapes! {
    /// The header of a message.
    Header = ["MPIDIG_hdr_t"] {
        source: "src_rank",
        tag: "tag",
        context: "context_id",
        flags: "flags",
        request: "sreq_ptr",
        bytes: "data_sz",
    };
}

/// The handler of what begins a message: `MPIDIG_SEND` (src/mpid/ch4/src/mpidig.h, v4.0.2 to v5.0.1).
const SEND: u8 = 0;

/// Which protocol fetches the data of a message that was only announced stands above this bit of its flags
/// (`MPIDIG_AM_SEND_GET_RNDV_ID`), and that it was announced in this one (`MPIDIG_AM_SEND_FLAGS_RTS`; both in
/// src/mpid/ch4/src/mpidig_send.h, v4.0.2 to v5.0.1).
const PROTOCOL: u32 = 8;
const ANNOUNCED: u64 = 1 << 1;

const EVIDENCE: &str = "is in a cell of shared memory that is queued for this process, which has not taken it out yet";

/// Reads the queues of a process. Where it has none, or structures that are not known, nothing is found.
///
/// # Errors
/// Where the process is gone.
pub fn read(
    target: &dyn Target,
    layouts: &Layouts,
    ranges: &[Range],
    found: &mut Finder<'_>,
) -> Result<(), ReaderError> {
    let Ok(header) = Header::resolve(layouts) else { return Ok(()) };
    for transport in transports::find(target, ranges)? {
        if let Err(error) = of_transport(target, &transport, &header, found) {
            found.problem(&error);
        }
    }
    Ok(())
}

fn of_transport(
    target: &dyn Target,
    transport: &Transport,
    header: &Header,
    found: &mut Finder<'_>,
) -> Result<(), ReaderError> {
    queue::walk(target, transport, |cell| {
        if cell.handler != SEND {
            // An answer, a further piece, or what belongs to one-sided communication.
            return Ok(());
        }
        let (context, operation) = letter(target, header, cell)?;
        found.place(context, operation)
    })
}

/// A message, and its context.
fn letter(target: &dyn Target, header: &Header, cell: &Cell) -> Result<(u64, Operation), ReaderError> {
    if cell.header_len < header.size as u64 {
        return Err(ReaderError::Damaged(format!("the header at {} has {} bytes", cell.payload, cell.header_len)));
    }
    let record = Record::owned(target, cell.payload, header.size)?;
    let bytes = u64::try_from(record.int(header.bytes)).map_err(|_| {
        ReaderError::Damaged(format!("the message at {} has {} bytes", cell.payload, record.int(header.bytes)))
    })?;
    let flags = record.uint(header.flags);
    let announced = flags >> PROTOCOL != 0 || flags & ANNOUNCED != 0;
    let mut operation = Finder::letter(EVIDENCE);
    message(&mut operation, record.int(header.source), record.int(header.tag), Some(bytes));
    let request = record.pointer(header.request);
    operation.sender_request = (!request.is_null()).then_some(request.get());
    if announced {
        operation.extra_text.push(Remark::Rendezvous);
    } else {
        operation.buffer = Some(cell.payload.wrapping_add(cell.header_len).get());
        // A message that fits into its cell leaves no request.
        if request.is_null() {
            operation.extra_text.push(Remark::Eager);
        }
    }
    Ok((record.uint(header.context), operation))
}
