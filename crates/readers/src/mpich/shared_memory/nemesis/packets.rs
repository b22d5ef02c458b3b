//! What the cells of a sender hold: packets of ch3 (src/mpid/ch3/include/mpidpkt.h), each at the beginning of a cell, with data
//! that may go on in further ones (`MPID_nem_mpich_sendv_header` and `MPID_nem_mpich_sendv`, mpid_nem_inline.h).

use super::cells::{Front, Piece, Sender};
use super::region::CELL;
use crate::ReaderError;
use crate::mpich::active_messages::message;
use crate::mpich::shared_memory::Finder;
use crate::record::{Record, Slot, shapes};
use layouts::{LayoutError, Layouts};
use model::{Operation, Remark};
use target::TargetAbi;

shapes! {
    /// A packet, as it stands in a request that waits to be sent.
    Kept = ["MPIR_Request"] {
        packet: "dev.pending_pkt",
        kind: "dev.pending_pkt.eager_send.type",
        source: "dev.pending_pkt.eager_send.match.parts.rank",
        tag: "dev.pending_pkt.eager_send.match.parts.tag",
        context: "dev.pending_pkt.eager_send.match.parts.context_id",
        request: "dev.pending_pkt.eager_send.sender_req_id",
        bytes: "dev.pending_pkt.eager_send.data_sz",
        short_bytes: "dev.pending_pkt.eagershort_send.data_sz",
        short_data: "dev.pending_pkt.eagershort_send.data",
    };
}

// Kinds of packets (`MPIDI_CH3_Pkt_type_t`; those of nemesis follow: `MPIDI_CH3_PKT_ENUM`, mpidi_ch3_pre.h), v3.4.3 to v5.0.1.
const EAGER: i64 = 0;
const EAGER_SHORT: i64 = 1;
const EAGER_SYNCHRONOUS: i64 = 2;
const READY: i64 = 4;
const RENDEZVOUS: i64 = 5;
/// `MPIDI_NEM_PKT_LMT_RTS`, whose structure (`MPID_nem_pkt_lmt_rts_t`, mpid_nem_impl.h) begins as that of the one before.
const RENDEZVOUS_BY_NEMESIS: i64 = 40;

const EVIDENCE: &str =
    "is in a cell of nemesis in shared memory that waits for this process, which has not taken it out yet";

/// Understands packets.
#[derive(Debug)]
pub struct Packets {
    kept: Kept,
}

impl Packets {
    /// By the layout of requests.
    ///
    /// # Errors
    /// Where these have no packets.
    pub fn new(layouts: &Layouts) -> Result<Self, LayoutError> {
        Ok(Self { kept: Kept::resolve(layouts)? })
    }

    /// Bytes of a packet.
    pub const fn size(&self) -> usize {
        self.kept.packet.size
    }

    /// Shows `each` the messages of a sender, with their contexts. `receiving`: what comes first is more of a message that was taken
    /// out in part.
    pub fn walk(
        &self,
        abi: TargetAbi,
        sender: &Sender,
        receiving: bool,
        mut each: impl FnMut(u64, Operation) -> Result<(), ReaderError>,
    ) -> Result<(), ReaderError> {
        let full = CELL - Front::of(abi).size() as u64;
        let not_read = |what: &str| Err(ReaderError::NotRead(format!("{what} of rank {}", sender.rank)));
        let mut more = 0_u64;
        for (index, piece) in sender.pieces.iter().enumerate() {
            if !sender.follows(index) {
                return Err(ReaderError::Damaged(format!("a cell of rank {} is missing", sender.rank)));
            }
            if index == 0 && receiving {
                // How much of it is still to come is not kept in one place.
                return not_read("those behind a message that has arrived in part");
            }
            if more > 0 {
                if piece.len == 0 || piece.len > more {
                    return Err(ReaderError::Damaged(format!("a message of rank {} ends within a cell", sender.rank)));
                }
                more -= piece.len;
                continue;
            }
            let begun = self.begun(abi, sender, piece)?;
            match begun {
                Begun::Message { context, operation, data } => {
                    more = data;
                    each(context, *operation)?;
                }
                Begun::Other if piece.len < full => {}
                // Of one-sided communication: how many cells follow, its own handlers know.
                Begun::Other => return not_read("those behind a one-sided operation"),
            }
        }
        Ok(())
    }

    /// What begins in a cell.
    fn begun(&self, abi: TargetAbi, sender: &Sender, piece: &Piece) -> Result<Begun, ReaderError> {
        let wrong = |what: &str| Err(ReaderError::Damaged(format!("the cell at {} has {what}", piece.payload)));
        let size = self.size() as u64;
        let Some(data) = piece.len.checked_sub(size) else { return wrong("less than a packet") };
        let kept = &self.kept;
        let record = Record::new(piece.payload, &piece.head, abi);
        let at = |slot: Slot| Slot { offset: slot.offset.saturating_sub(kept.packet.offset), ..slot };
        let kind = record.int(at(kept.kind));
        if ![EAGER, EAGER_SHORT, EAGER_SYNCHRONOUS, READY, RENDEZVOUS, RENDEZVOUS_BY_NEMESIS].contains(&kind) {
            return Ok(Begun::Other);
        }
        let short = kind == EAGER_SHORT;
        let bytes = record.int(at(if short { kept.short_bytes } else { kept.bytes }));
        let Ok(bytes) = u64::try_from(bytes) else { return wrong("a message of a negative length") };
        let mut operation = Finder::letter(EVIDENCE);
        message(&mut operation, record.int(at(kept.source)), record.int(at(kept.tag)), Some(bytes));
        let announced = matches!(kind, RENDEZVOUS | RENDEZVOUS_BY_NEMESIS);
        if announced || kind == EAGER_SYNCHRONOUS {
            operation.sender_request = Some(record.uint(at(kept.request))).filter(|request| *request != 0);
        }
        let mut left = 0;
        match (announced, short) {
            (true, _) => operation.extra_text.push(Remark::Rendezvous),
            (false, true) => {
                let room = self.kept.short_data.size as u64;
                if bytes > room || data != 0 {
                    return wrong("a short message that is longer than it can be");
                }
                operation.buffer = Some(piece.payload.wrapping_add(at(kept.short_data).offset as u64).get());
            }
            (false, false) => {
                let Some(rest) = bytes.checked_sub(data) else { return wrong("more data than its message") };
                left = rest;
                // In several cells it is in no one place.
                operation.buffer = (left == 0).then_some(piece.payload.wrapping_add(size).get());
            }
        }
        if !announced && kind != EAGER_SYNCHRONOUS {
            operation.extra_text.push(Remark::Eager);
        }
        let _ = sender;
        Ok(Begun::Message { context: record.uint(at(kept.context)), operation: Box::new(operation), data: left })
    }
}

/// What begins in a cell.
enum Begun {
    /// A message, of which so many bytes of data lie in further cells.
    Message { context: u64, operation: Box<Operation>, data: u64 },
    /// An answer, or a one-sided operation.
    Other,
}
