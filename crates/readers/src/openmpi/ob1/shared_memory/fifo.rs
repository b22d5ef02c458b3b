//! The queue of fragments of a process: a list through the segments of all peers (btl_vader_fifo.h, v4.1.4; btl_sm_fifo.h, v5.0.7).

use std::collections::HashSet;

use super::Reader;
use super::endpoints::Endpoints;
use super::fast_box::FastBox;
use crate::ReaderError;
use crate::record::Record;
use target::PointerWidth;

/// Stands for no fragment (`VADER_FIFO_FREE`, `SM_FIFO_FREE`): -2 in as many bits as a pointer has.
const fn free(width: PointerWidth) -> u64 {
    match width {
        PointerWidth::Eight => u64::MAX - 1,
        PointerWidth::Four => (u32::MAX - 1) as u64,
    }
}

/// All pools of all peers of a node never have more fragments than this.
const MAX_FRAGMENTS: usize = 1 << 20;

/// The fast boxes that the fragments in the queue have made, and where the queue could not be read to its end why.
type Queued = Result<Vec<FastBox>, (Vec<FastBox>, ReaderError)>;

impl Reader<'_> {
    /// Reads what is queued.
    pub(super) fn fifo(&mut self, endpoints: &mut Endpoints<'_>) -> Queued {
        let mut boxes = Vec::new();
        match self.walk(endpoints, &mut boxes) {
            Ok(()) => Ok(boxes),
            Err(error) => Err((boxes, error)),
        }
    }

    fn walk(&mut self, endpoints: &mut Endpoints<'_>, boxes: &mut Vec<FastBox>) -> Result<(), ReaderError> {
        let shape = &self.btl.fifo;
        let fifo = Record::owned(self.target, endpoints.fifo, shape.size)?;
        let (mut at, tail) = (fifo.uint(shape.head), fifo.uint(shape.tail));
        let free = free(self.target.abi().pointer_width);
        let mut seen = HashSet::new();
        let cut = |problem: &str| ReaderError::Damaged(format!("the queue of shared memory {problem}"));
        if at == free && tail == free {
            return Ok(());
        }
        loop {
            if at == free {
                // A peer, or this process, stands between the two writes that link a fragment.
                return Err(ReaderError::NotRead("a fragment is just being linked into the queue".to_owned()));
            }
            if !seen.insert(at) {
                return Err(cut("runs in a circle"));
            }
            if seen.len() > MAX_FRAGMENTS {
                return Err(cut("has more fragments than all pools"));
            }
            let fragment = self.fragment(at, endpoints)?;
            if fragment.flags & self.btl.makes_box != 0 && fragment.flags & self.btl.complete == 0 {
                boxes.push(endpoints.new_box(fragment.fast_box, endpoints.number(at))?);
            }
            if at == tail {
                return Ok(());
            }
            at = fragment.next;
        }
    }
}
