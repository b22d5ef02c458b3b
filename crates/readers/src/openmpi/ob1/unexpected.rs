//! Messages that have arrived and that no receive has taken.
//!
//! ob1 keeps them per communicator and sender (`mca_pml_ob1_recv_frag_t`, ompi/mca/pml/ob1/pml_ob1_recvfrag.{c,h},
//! v4.1.4 and v5.0.7). A message that overtook an earlier one waits apart, in a ring ordered by sequence number
//! whose elements may carry further rings of directly following numbers.

use std::collections::HashSet;

use super::headers::{Context, Headers, shifted};
use super::shapes::Ob1Shapes;
use crate::ReaderError;
use crate::openmpi::shapes::Shapes;
use crate::record::Record;
use crate::walk::{Stop, circular_list};
use model::{Operation, Remark};
use target::Target;
use target::address::TargetAddr;

/// After this many messages that make no sense, the rest of their list is left alone.
const MAX_DAMAGED: usize = 8;

/// Messages that were read, and what could not be.
#[derive(Default)]
pub struct Messages {
    /// The messages in the order of their list.
    pub operations: Vec<Operation>,
    /// Sentences.
    pub problems: Vec<String>,
}

/// Reads fragments.
pub struct Fragments<'a> {
    target: &'a dyn Target,
    shapes: &'a Shapes,
    ob1: &'a Ob1Shapes,
    headers: &'a Headers<'a>,
}

impl<'a> Fragments<'a> {
    /// A reader of fragments.
    pub fn new(target: &'a dyn Target, shapes: &'a Shapes, ob1: &'a Ob1Shapes, headers: &'a Headers<'a>) -> Self {
        Self { target, shapes, ob1, headers }
    }

    /// The messages of the list at `list`, in order, at most `limit`.
    pub fn list(&self, list: TargetAddr, limit: usize) -> Messages {
        let shape = &self.shapes.list;
        let sentinel = shape.sentinel.address_in(list);
        let walk = circular_list(self.target, sentinel, self.shapes.list_item.next.offset as u64, limit);
        let mut out = Messages::default();
        let len = shape.len.read_uint(self.target, list);
        match (walk.stopped, len) {
            (Some(stop), _) => out.problems.push(stop.to_string()),
            (None, Err(error)) => out.problems.push(error.to_string()),
            (None, Ok(len)) if len != walk.elements.len() as u64 => {
                // The length is kept up to date in every build (opal/class/opal_list.h, v4.1.4 and v5.0.7).
                let linked = walk.elements.len();
                out.problems.push(format!("the list has {linked} elements but says that it has {len}"));
            }
            _ => {}
        }
        for at in walk.elements {
            match self.message(at) {
                Ok((_, operation)) => out.operations.push(operation),
                Err(error) => out.problems.push(error.to_string()),
            }
            if out.problems.len() > MAX_DAMAGED {
                break;
            }
        }
        out
    }

    /// The messages that overtook `expected` (a sequence number), in the order in which they were sent.
    pub fn out_of_order(&self, head: TargetAddr, expected: u64, limit: usize) -> Messages {
        let mut messages = Vec::new();
        let mut problems = Vec::new();
        let mut stopped = None;
        let mut seen = HashSet::new();
        let mut pending = vec![head];
        while let Some(ring) = pending.pop() {
            let mut at = ring;
            loop {
                if problems.len() > MAX_DAMAGED {
                    pending.clear();
                    break;
                }
                // Each ring ends where it began, which is seen below; anything else is damage.
                let after = messages.len();
                let damage = if at.is_null() {
                    Some(Stop::Null { after })
                } else if !seen.insert(at) {
                    Some(Stop::Cycle { after, at })
                } else if seen.len() > limit {
                    pending.clear();
                    Some(Stop::TooLong { limit })
                } else {
                    None
                };
                if damage.is_some() {
                    stopped = damage;
                    break;
                }
                match self.message(at) {
                    Ok((sequence, mut operation)) => {
                        operation.extra_text.push(Remark::OutOfOrder);
                        // Sequence numbers have 16 bits and wrap; the distance from the expected one orders them.
                        messages.push(((sequence as u16).wrapping_sub(expected as u16), operation));
                    }
                    Err(error) => problems.push(error.to_string()),
                }
                let range = self.ob1.fragment.range.address_in(at);
                let next = self.shapes.list_item.next.address_in(at);
                match (self.target.read_pointer(range), self.target.read_pointer(next)) {
                    (Ok(range), Ok(next)) => {
                        if !range.is_null() {
                            pending.push(range);
                        }
                        at = next;
                        if at == ring {
                            break;
                        }
                    }
                    (Err(cause), _) | (_, Err(cause)) => {
                        stopped = Some(Stop::Unreadable { after: messages.len(), cause });
                        break;
                    }
                }
            }
        }
        messages.sort_by_key(|(distance, _)| *distance);
        problems.extend(stopped.map(|stop| stop.to_string()));
        Messages { operations: messages.into_iter().map(|(_, operation)| operation).collect(), problems }
    }

    /// One fragment: its sequence number and what it is as an operation.
    fn message(&self, at: TargetAddr) -> Result<(u64, Operation), ReaderError> {
        let (shape, segment) = (&self.ob1.fragment, &self.ob1.segment);
        let record = Record::owned(self.target, at, shape.size)?;
        let header = self.headers.read(&record.view(), shape.header.offset)?;
        // The header travels in front of the data; the fragment's one segment holds both. An extended header stays on
        // messages that came before their communicator: their segment then starts behind it, but its length still counts it
        // (mca_pml_ob1_add_comm in ompi/mca/pml/ob1/pml_ob1.c, v5.0.7).
        let first = shape.segments.offset;
        let data = record.pointer(shifted(segment.addr, first));
        let mut operation = header.operation(header.length(record.uint(shifted(segment.len, first)), at)?);
        if header.announced.is_none() {
            operation.extra_text.push(Remark::Eager);
            operation.buffer = Some(data.wrapping_add(self.headers.match_len()).get());
        }
        Ok((header.sequence, operation))
    }

    /// The communicator that a fragment's sender named, for messages without one.
    ///
    /// # Errors
    /// Where the fragment cannot be read.
    pub fn context(&self, at: TargetAddr) -> Result<Context, ReaderError> {
        let record = Record::owned(self.target, at, self.ob1.fragment.size)?;
        Ok(self.headers.read(&record.view(), self.ob1.fragment.header.offset)?.context)
    }
}
