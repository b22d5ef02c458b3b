//! The peers on this node, and where in their segments things lie.

use std::collections::HashMap;

use super::fast_box::FastBox;
use super::shapes::Btl;
use crate::ReaderError;
use crate::record::Record;
use target::address::TargetAddr;
use target::{PointerWidth, Target};

/// A relative pointer has the number of a peer above so many bits of offset (`MCA_BTL_VADER_OFFSET_BITS`, btl_vader_fifo.h,
/// v4.1.4; `MCA_BTL_SM_OFFSET_BITS`, btl_sm_virtual.h, v5.0.7).
const fn offset_bits(width: PointerWidth) -> u32 {
    match width {
        PointerWidth::Eight => 32,
        PointerWidth::Four => 24,
    }
}

/// A node never has more processes of one job than this.
const MAX_ENDPOINTS: u64 = 1 << 16;

/// The peers of a process.
pub struct Endpoints<'a> {
    target: &'a dyn Target,
    btl: &'a Btl,
    at: TargetAddr,
    /// Of a relative pointer.
    offset_bits: u32,
    segment_size: u64,
    box_size: u64,
    /// The queue of this process.
    pub fifo: TargetAddr,
    boxes: TargetAddr,
    num_boxes: u64,
    /// Where the segments of peers begin, by their number.
    segments: HashMap<u64, TargetAddr>,
}

/// A peer as it was read.
struct Endpoint {
    segment: TargetAddr,
    fast_box: TargetAddr,
    start: u64,
    sequence: u64,
}

fn damaged(text: String) -> ReaderError {
    ReaderError::Damaged(text)
}

impl<'a> Endpoints<'a> {
    /// Those that the BTL has; `None` where it was opened and is not used.
    ///
    /// # Errors
    /// Where the BTL's state cannot be read or does not agree with itself.
    pub fn read(target: &'a dyn Target, btl: &'a Btl) -> Result<Option<Self>, ReaderError> {
        let (mut buffer, shape) = (Vec::new(), &btl.component);
        let record = btl.read(target, &mut buffer)?;
        let (segment, at) = (record.pointer(shape.segment), record.pointer(shape.endpoints));
        let fifo = record.pointer(shape.fifo);
        if segment.is_null() || at.is_null() {
            return Ok(None);
        }
        if fifo != segment {
            return Err(damaged(format!(
                "the queue is at {fifo}, and not at the beginning of the segment at {segment}"
            )));
        }
        let (segment_size, box_size) = (record.uint(shape.segment_size), record.uint(shape.box_size));
        let offset_bits = offset_bits(target.abi().pointer_width);
        // No segment is larger than its relative pointers reach.
        if segment_size > 1 << offset_bits || box_size > segment_size {
            return Err(damaged(format!("segments of {segment_size} bytes with fast boxes of {box_size}")));
        }
        Ok(Some(Self {
            target,
            btl,
            at,
            offset_bits,
            segment_size,
            box_size,
            fifo,
            boxes: record.pointer(shape.boxes),
            num_boxes: record.uint(shape.num_boxes),
            segments: HashMap::new(),
        }))
    }

    /// The fast boxes that this process polls.
    ///
    /// # Errors
    /// Where they cannot be read.
    pub fn boxes(&mut self, target: &dyn Target, btl: &Btl) -> Result<Vec<FastBox>, ReaderError> {
        if self.num_boxes > MAX_ENDPOINTS {
            return Err(damaged(format!("{} fast boxes are polled", self.num_boxes)));
        }
        let width = target.abi().pointer_width.bytes();
        let table = target.read_bytes(self.boxes, usize::try_from(self.num_boxes * width).unwrap_or(usize::MAX))?;
        let size = btl.endpoint.size as u64;
        let mut boxes: Vec<FastBox> = Vec::new();
        for pointer in table.chunks_exact(usize::try_from(width).unwrap_or(8)) {
            let at = target.abi().uint(pointer);
            let offset = at.wrapping_sub(self.at.get());
            if !offset.is_multiple_of(size) {
                return Err(damaged(format!("a fast box is polled of the endpoint at {at:#x}, which is none")));
            }
            let number = offset / size;
            let endpoint = self.endpoint(number)?;
            if boxes.iter().any(|one| one.number == number) {
                return Err(damaged(format!("the fast box of endpoint {number} is polled twice")));
            }
            boxes.push(self.fast_box(number, endpoint.fast_box, endpoint.start, endpoint.sequence)?);
        }
        Ok(boxes)
    }

    /// The fast box that a sender has made and that this process does not poll yet.
    ///
    /// # Errors
    /// Where it is not in the sender's segment.
    pub fn new_box(&mut self, value: u64, sender: u64) -> Result<FastBox, ReaderError> {
        let owner = self.number(value);
        if owner != sender {
            return Err(damaged(format!("endpoint {sender} has a fast box in the segment of {owner}")));
        }
        let at = self.place(value, usize::try_from(self.box_size).unwrap_or(usize::MAX))?;
        // mca_btl_vader_endpoint_setup_fbox_recv, btl_vader_endpoint.h, v4.1.4.
        self.fast_box(sender, at, super::fast_box::ALIGNMENT, 0)
    }

    fn fast_box(&mut self, number: u64, at: TargetAddr, start: u64, sequence: u64) -> Result<FastBox, ReaderError> {
        let segment = self.segment(number)?;
        let offset = at.get().wrapping_sub(segment.get());
        if offset >= self.segment_size || self.box_size > self.segment_size - offset {
            return Err(damaged(format!("the fast box of endpoint {number} is at {at}, outside of its segment")));
        }
        Ok(FastBox { number, at, size: self.box_size, start, sequence: sequence as u16 })
    }

    /// The number of the peer in whose segment a relative pointer points.
    pub const fn number(&self, value: u64) -> u64 {
        value >> self.offset_bits
    }

    /// Where a relative pointer to `size` bytes points.
    ///
    /// # Errors
    /// Where there is no such place.
    pub fn place(&mut self, value: u64, size: usize) -> Result<TargetAddr, ReaderError> {
        let offset = value & ((1 << self.offset_bits) - 1);
        let segment = self.segment(self.number(value))?;
        let room = self.segment_size.saturating_sub(offset);
        if room < size as u64 {
            return Err(damaged(format!("the relative pointer {value:#x} leads out of its segment")));
        }
        Ok(segment.wrapping_add(offset))
    }

    fn segment(&mut self, number: u64) -> Result<TargetAddr, ReaderError> {
        if let Some(segment) = self.segments.get(&number) {
            return Ok(*segment);
        }
        let segment = self.endpoint(number)?.segment;
        self.segments.insert(number, segment);
        Ok(segment)
    }

    /// An endpoint, which is one where its class says so, its number is its own, and its queue begins its segment.
    fn endpoint(&self, number: u64) -> Result<Endpoint, ReaderError> {
        let shape = &self.btl.endpoint;
        if number >= MAX_ENDPOINTS {
            return Err(damaged(format!("endpoint {number} is named, which no node has")));
        }
        let at = self.at.wrapping_add(number * shape.size as u64);
        let record = Record::owned(self.target, at, shape.size)?;
        let segment = record.pointer(shape.segment);
        let is_one = record.pointer(shape.class) == self.btl.endpoint_class
            && record.uint(shape.number) == number
            && !segment.is_null()
            && record.pointer(shape.fifo) == segment;
        if !is_one {
            return Err(damaged(format!("there is no endpoint {number} at {at}")));
        }
        Ok(Endpoint {
            segment,
            fast_box: record.pointer(shape.box_at),
            start: record.uint(shape.box_start),
            sequence: record.uint(shape.box_sequence),
        })
    }
}
