//! The pool that requests of a worker come from (openucx/ucx, src/ucs/datastruct/mpool.{c,h}, v1.13 to v1.20).
//!
//! A pool is a list of chunks, a chunk a row of equally spaced elements. In front of what an element holds stands a word: of one
//! in use the address of the pool, of a free one that of the next free one.

use std::collections::HashSet;

use super::layout::UcxLayout;
use crate::ReaderError;
use crate::ahead::Ahead;
use crate::record::Record;
use target::address::TargetAddr;
use target::{Target, fit};

/// Elements are smaller than this, in bytes; so are their alignments.
const MAX_ELEMENT: u64 = 1 << 16;

/// A pool never has more elements than this (16 Mi), nor more chunks.
const MAX_ELEMENTS: u64 = 1 << 24;

/// A chunk is read in pieces of at most this many bytes.
const MAX_READ: u64 = 1 << 22;

/// The pool of requests of one worker.
pub struct RequestPool<'a> {
    target: &'a dyn Target,
    layout: &'a UcxLayout,
    /// Its address, which elements in use have.
    at: TargetAddr,
    chunks: TargetAddr,
    /// Bytes from one element to the next.
    pub stride: u64,
    /// Bytes of an element without the word in front.
    pub held: usize,
}

impl<'a> RequestPool<'a> {
    /// The pool of the worker at `worker`, where requests are followed by `user` bytes of whoever uses UCX.
    ///
    /// # Errors
    /// Where the layout lacks it, or it cannot be read or be right.
    pub fn of(
        target: &'a dyn Target,
        layout: &'a UcxLayout,
        worker: TargetAddr,
        user: usize,
    ) -> Result<Self, ReaderError> {
        let (Some((shape, _)), Some(pool), Some(data)) = (&layout.pool, layout.worker.requests, layout.worker.pool)
        else {
            return Err(ReaderError::Damaged(format!("the profile {} lacks the pools of UCX", layout.name)));
        };
        let at = pool.address_in(worker);
        let data = data.read_pointer(target, worker)?;
        let record = Record::owned(target, data, shape.size)?;
        let (element, alignment) = (record.uint(shape.element), record.uint(shape.alignment));
        let word = target.abi().pointer_width.bytes();
        // `ucp_worker_create` (src/ucp/core/ucp_worker.c): a request, and what its user asked for.
        let expected = word + (layout.request.size + user) as u64;
        if element != expected || element > MAX_ELEMENT || alignment > MAX_ELEMENT || !alignment.is_power_of_two() {
            return Err(ReaderError::Damaged(format!(
                "UCX's pool of requests at {at} has elements of {element} bytes aligned to {alignment}; they need {expected}"
            )));
        }
        let held = layout.request.size + user;
        let chunks = record.pointer(shape.chunks);
        Ok(Self { target, layout, at, chunks, stride: element.next_multiple_of(alignment), held })
    }

    /// Whether the element that a request at `request` would be is in use.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn has_given(&self, request: TargetAddr) -> Result<bool, ReaderError> {
        let word = self.target.abi().pointer_width.bytes();
        Ok(self.target.read_pointer(TargetAddr::new(request.get().wrapping_sub(word)))? == self.at)
    }

    /// Shows `visit` every request in use, until it returns false: the newest chunk first, and each by address, which is mostly from
    /// the newest to the oldest request. Returns sentences about what could not be read.
    pub fn walk(&self, mut visit: impl FnMut(Record<'_>) -> bool) -> Vec<String> {
        let Some((_, shape)) = &self.layout.pool else { return Vec::new() };
        let (mut problems, mut seen, mut left) = (Vec::new(), HashSet::new(), MAX_ELEMENTS);
        let (mut ahead, mut buffer) = (Ahead::default(), Vec::new());
        let mut chunk = self.chunks;
        while !chunk.is_null() {
            if !seen.insert(chunk) {
                problems.push(format!("UCX's pool of requests at {} has a circle of chunks", self.at));
                break;
            }
            ahead.next(self.target, chunk);
            let record = match ahead.get(chunk, shape.size) {
                Some(bytes) => Ok(Record::new(chunk, bytes, self.target.abi())),
                None => Record::read(self.target, chunk, shape.size, &mut buffer),
            };
            let (next, elements, count) = match record {
                Ok(record) => (record.pointer(shape.next), record.pointer(shape.elements), record.uint(shape.count)),
                Err(error) => {
                    problems.push(format!("UCX's pool of requests at {} was not read whole: {error}", self.at));
                    break;
                }
            };
            // No chunk is empty.
            if !(1..=left).contains(&count) {
                problems.push(format!("UCX's pool of requests at {} has a chunk of {count} elements", self.at));
                break;
            }
            left -= count;
            match self.chunk(&ahead, elements, count, &mut visit) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => problems.push(format!("a chunk of UCX's pool of requests at {}: {error}", self.at)),
            }
            chunk = next;
        }
        problems
    }

    fn chunk(
        &self,
        ahead: &Ahead,
        start: TargetAddr,
        count: u64,
        visit: &mut impl FnMut(Record<'_>) -> bool,
    ) -> Result<bool, ReaderError> {
        // The last element need not be followed by the space between two.
        let word = self.target.abi().pointer_width.bytes();
        let bytes = |count: u64| {
            let bytes = (count - 1) * self.stride + word + self.held as u64;
            usize::try_from(bytes).unwrap_or(usize::MAX)
        };
        if let Some(elements) = ahead.get(start, bytes(count)) {
            return Ok(self.elements(start, elements, visit));
        }
        let at_once = (MAX_READ / self.stride).max(1);
        let mut buffer = Vec::new();
        for first in (0..count).step_by(at_once as usize) {
            let len = (count - first).min(at_once);
            let at = start.wrapping_add(first * self.stride);
            fit(&mut buffer, bytes(len))?;
            self.target.read_once(at, &mut buffer)?;
            if !self.elements(at, &buffer, visit) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Elements in a row.
    fn elements(&self, at: TargetAddr, bytes: &[u8], visit: &mut impl FnMut(Record<'_>) -> bool) -> bool {
        let abi = self.target.abi();
        let word = abi.pointer_width.bytes() as usize;
        for (index, element) in bytes.chunks(self.stride as usize).enumerate() {
            let (Some(front), Some(held)) = (element.get(..word), element.get(word..word + self.held)) else {
                continue;
            };
            let here = at.wrapping_add(index as u64 * self.stride + word as u64);
            if abi.uint(front) == self.at.get() && !visit(Record::new(here, held, abi)) {
                return false;
            }
        }
        true
    }
}
