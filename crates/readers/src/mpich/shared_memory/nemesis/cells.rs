//! The cells that wait, by their senders.

use std::collections::{BTreeMap, HashSet};

use super::region::{CACHE_LINE, Region};
use crate::ReaderError;
use crate::record::Record;
use target::address::TargetAddr;
use target::{Target, TargetAbi};

/// Numbers of cells wrap at 16 bits: what is further ahead than this lies behind.
const BEHIND: u16 = 1 << 15;

/// What stands in front of a cell's payload (`MPID_nem_cell_t` and `MPID_nem_pkt_header_t`, mpid_nem_datatypes.h): a link, the
/// sender, the receiver, the length (as wide as a pointer) and the number; the payload is aligned to 8 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Front {
    width: usize,
}

impl Front {
    pub fn of(abi: TargetAbi) -> Self {
        Self { width: usize::try_from(abi.pointer_width.bytes()).unwrap_or(8) }
    }

    /// Its size in bytes.
    pub const fn size(self) -> usize {
        (2 * self.width + 12).next_multiple_of(8)
    }
}

/// A cell.
#[derive(Debug)]
pub struct Piece {
    /// Its place in what its sender has sent.
    number: u16,
    /// Where its payload is.
    pub payload: TargetAddr,
    /// How many bytes that has.
    pub len: u64,
    /// What these begin with; anything where they are fewer.
    pub head: Vec<u8>,
}

/// A peer with what it has sent, in order.
#[derive(Debug, Default)]
pub struct Sender {
    /// Its place on the node.
    pub local: u64,
    /// Its rank in MPI_COMM_WORLD.
    pub rank: i64,
    pub pieces: Vec<Piece>,
}

/// What waits.
#[derive(Debug, Default)]
pub struct Pieces {
    senders: BTreeMap<u64, Sender>,
    /// Those in fast boxes, which may have been taken.
    boxed: Vec<(u64, Piece)>,
}

fn damaged(text: String) -> ReaderError {
    ReaderError::Damaged(text)
}

impl Pieces {
    /// Who has sent something.
    pub fn senders(&self) -> impl Iterator<Item = &Sender> {
        self.senders.values().filter(|sender| !sender.pieces.is_empty())
    }

    /// Whether there is something in fast boxes.
    pub fn has_boxes(&self) -> bool {
        !self.boxed.is_empty()
    }

    /// Reads the queue (`MPID_nem_queue_enqueue` and `MPID_nem_queue_dequeue`, mpid_nem_queue.h). `head`: so much of each payload.
    pub fn queued(&mut self, target: &dyn Target, region: &Region, head: usize) -> Result<(), ReaderError> {
        let queue = region.queue_of(region.own);
        let width = target.abi().pointer_width.bytes();
        let word = |offset: u64| target.read_uint(queue.wrapping_add(offset), width);
        // The owner moves the head to a place of its own.
        let (head_of_all, tail, own_head) = (word(0)?, word(width)?, word(CACHE_LINE)?);
        let mut at = if own_head == 0 { head_of_all } else { own_head };
        if at == 0 && tail == 0 {
            return Ok(());
        }
        let mut seen = HashSet::new();
        loop {
            if at == 0 {
                // A peer, or this process, stands between the two writes that link a cell.
                return Err(ReaderError::NotRead("a cell is just being linked into the queue".to_owned()));
            }
            let Some(cell) = region.cell(at) else {
                return Err(damaged(format!("the queue of cells names {at:#x}, where none is")));
            };
            if !seen.insert(cell) {
                return Err(damaged("the queue of cells runs in a circle".to_owned()));
            }
            let (piece, source, next) = piece(target, cell, head)?;
            let local = region.place_of(source).filter(|local| *local != region.own);
            let Some(local) = local else {
                return Err(damaged(format!(
                    "the cell at {cell} is of rank {source}, which is not a peer on this \
                    node"
                )));
            };
            self.of(local, source).pieces.push(piece);
            if at == tail {
                return Ok(());
            }
            at = next;
        }
    }

    /// Reads the fast boxes (`poll_every_fbox`, mpid_nem_fbox.h).
    pub fn in_boxes(&mut self, target: &dyn Target, region: &Region, head: usize) -> Result<(), ReaderError> {
        for local in (0..region.local()).filter(|local| *local != region.own) {
            let at = region.fast_box(local);
            if target.read_uint(at, 4)? == 0 {
                continue;
            }
            let (piece, source, _) = piece(target, at.wrapping_add(CACHE_LINE), head)?;
            if u64::try_from(source).ok() != Some(local) {
                return Err(damaged(format!("the fast box at {at} has a cell of process {source}")));
            }
            self.boxed.push((local, piece));
            // Named by its rank later.
            let rank = region.rank_of(local).unwrap_or(-1);
            self.of(local, rank);
        }
        Ok(())
    }

    /// Puts what is in fast boxes where its number says. `next`: the numbers that this process takes out next, by ranks. Where these
    /// do not agree with what waits of a sender, nothing of it is believed.
    pub fn order(&mut self, next: &[u16]) -> Result<(), ReaderError> {
        let mut problem = None;
        for (local, piece) in std::mem::take(&mut self.boxed) {
            let Some(sender) = self.senders.get_mut(&local) else { continue };
            let expected = usize::try_from(sender.rank).ok().and_then(|rank| next.get(rank)).copied();
            let Some(expected) = expected else { continue };
            // One that was taken out stays until it has been dealt with.
            if piece.number.wrapping_sub(expected) >= BEHIND {
                continue;
            }
            let after = |one: &Piece| one.number.wrapping_sub(piece.number) < BEHIND;
            let place = sender.pieces.iter().position(after).unwrap_or(sender.pieces.len());
            sender.pieces.insert(place, piece);
            if sender.pieces.first().is_some_and(|first| first.number != expected) {
                sender.pieces.clear();
                let text = format!("the cell that comes next of rank {} does not wait, and others do", sender.rank);
                problem.get_or_insert(damaged(text));
            }
        }
        problem.map_or(Ok(()), Err)
    }

    fn of(&mut self, local: u64, rank: i64) -> &mut Sender {
        self.senders.entry(local).or_insert_with(|| Sender { local, rank, pieces: Vec::new() })
    }
}

impl Sender {
    /// Whether a piece follows the one before.
    pub fn follows(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.pieces.get(before));
        let number = |piece: &Piece| piece.number;
        before.is_none_or(|before| self.pieces.get(index).map(number) == Some(before.number.wrapping_add(1)))
    }
}

/// A cell, who has sent it, and the link to the next one.
fn piece(target: &dyn Target, cell: TargetAddr, head: usize) -> Result<(Piece, i64, u64), ReaderError> {
    let abi = target.abi();
    let front = Front::of(abi);
    let (width, size) = (front.width, front.size());
    let record = Record::owned(target, cell, size + head)?;
    let len = abi.int(record.part(width + 8, width));
    let len = u64::try_from(len).ok().filter(|len| *len <= super::region::CELL - size as u64);
    let Some(len) = len else { return Err(damaged(format!("the cell at {cell} has an impossible length"))) };
    let piece = Piece {
        number: abi.uint(record.part(2 * width + 8, 2)) as u16,
        payload: cell.wrapping_add(size as u64),
        len,
        head: record.part(size, head).to_vec(),
    };
    Ok((piece, abi.int(record.part(width, 4)), abi.uint(record.part(0, width))))
}
