//! Messages that lie in memory which the processes of a node share, and that this one has not taken out yet.
//!
//! btl vader until 4.1, btl sm since 5.0 (opal/mca/btl/vader and opal/mca/btl/sm, v4.1.4 and v5.0.7): each process has a queue
//! (`my_fifo`) into which peers link fragments of their own segments; a peer that sends often then gets a ring of its own, the
//! fast box, in which small messages lie whole and larger ones are named. The library looks there only while it makes progress,
//! so all that was sent to a process that computes is there.

mod endpoints;
mod fast_box;
mod fifo;
pub mod shapes;

use std::collections::HashMap;

use super::headers::{Context, Header, Headers};
use crate::ReaderError;
use crate::openmpi::communicators::Found;
use crate::record::Record;
use endpoints::Endpoints;
use layouts::Layouts;
use model::{Operation, OperationStatus, Remark};
use shapes::Btl;
use target::Target;
use target::address::TargetAddr;

/// Sequence numbers wrap at 16 bits: what is further ahead than this lies behind.
const BEHIND: u16 = 1 << 15;

const IN_BOX: &str = "is in the sender's fast box in shared memory; this process has not taken it out yet";
const IN_FRAGMENT: &str = "is in a fragment of the sender's in shared memory that is queued for this process, which \
    has not taken it out yet";

/// A message that was not taken out.
#[derive(Debug)]
struct Letter {
    header: Header,
    operation: Operation,
}

/// What was found.
#[derive(Debug, Default)]
pub struct InTransit {
    by_context: HashMap<Context, Vec<Letter>>,
    /// What could not be read.
    pub problem: Option<String>,
}

impl InTransit {
    /// Reads the queue and the fast boxes of a process, at most `limit` messages. Where the process has no such BTL, or
    /// structures that are not known, nothing is found.
    pub fn read(target: &dyn Target, layouts: &Layouts, headers: &Headers<'_>, limit: usize) -> Self {
        let mut found = Self::default();
        let Ok(Some(btl)) = Btl::find(target, layouts) else { return found };
        if !btl.is_held(target) {
            return found;
        }
        let mut reader = Reader { target, btl: &btl, headers, letters: Vec::new(), room: limit };
        // What a process has is readable: core files lack it, and what was recorded of them.
        let told = |error: &ReaderError| !matches!(error, ReaderError::Target(_));
        found.problem = reader.all().err().filter(told).map(|error| error.to_string());
        for letter in reader.letters {
            found.by_context.entry(letter.header.context).or_default().push(letter);
        }
        found
    }

    /// Takes those of one communicator: by sender, and of one sender as they were sent. `expected` is the number of the next
    /// message that ob1 takes from a sender.
    pub fn take(&mut self, found: &Found, expected: impl Fn(i64) -> u64) -> Vec<Operation> {
        let mut letters = self.by_context.remove(&Context::Index(found.facts.unique_id)).unwrap_or_default();
        if let Some((base, sub)) = found.extended {
            letters.extend(self.by_context.remove(&Context::Extended(base, sub)).unwrap_or_default());
        }
        // Numbers have 16 bits: the distance to the expected one orders them. What lies before it was taken already.
        let distance = |letter: &Letter| match found.numbered {
            true => (letter.header.sequence as u16).wrapping_sub(expected(letter.header.source) as u16),
            false => 0,
        };
        letters.retain(|letter| distance(letter) < BEHIND);
        letters.sort_by_cached_key(|letter| (letter.header.source, distance(letter)));
        // No two messages have one number.
        let number = |letter: &Letter| (letter.header.source, letter.header.sequence);
        letters.dedup_by(|one, other| found.numbered && number(one) == number(other));
        letters.into_iter().map(|letter| letter.operation).collect()
    }

    /// For which other communicators some are, and how many.
    pub fn others(&self) -> impl Iterator<Item = (Context, u64)> + '_ {
        self.by_context.iter().map(|(context, letters)| (*context, letters.len() as u64))
    }
}

/// Reads fragments wherever they are named.
struct Reader<'a> {
    target: &'a dyn Target,
    btl: &'a Btl,
    headers: &'a Headers<'a>,
    letters: Vec<Letter>,
    /// How many more messages may be read.
    room: usize,
}

/// A fragment in a peer's segment (`mca_btl_vader_hdr_t`).
struct Fragment {
    next: u64,
    flags: u64,
    /// Where its sender has made a fast box, relative.
    fast_box: u64,
}

impl Reader<'_> {
    fn all(&mut self) -> Result<(), ReaderError> {
        let mut endpoints = Endpoints::read(self.target, self.btl)?;
        let Some(endpoints) = endpoints.as_mut() else { return Ok(()) };
        // A fast box is set up by a fragment that goes through the queue, and all later fragments of that sender go
        // through the box: what the queue has of a sender was sent earlier than what its box has.
        let queued = self.fifo(endpoints);
        let boxes = endpoints.boxes(self.target, self.btl)?;
        let (new, problem) = match queued {
            Ok(new) => (new, None),
            Err((new, problem)) => (new, Some(problem)),
        };
        let mut problem = problem.map_or(Ok(()), Err);
        for one in boxes.into_iter().chain(new) {
            problem = problem.and(self.fast_box(&one, endpoints));
        }
        problem
    }

    /// A fragment that lies in a peer's segment, and the message that it begins, if it does.
    fn fragment(&mut self, value: u64, endpoints: &mut Endpoints<'_>) -> Result<Fragment, ReaderError> {
        let shape = &self.btl.fragment;
        let at = endpoints.place(value, shape.size)?;
        let record = Record::owned(self.target, at, shape.size)?;
        let fragment = Fragment {
            next: record.uint(shape.next),
            flags: record.uint(shape.flags),
            fast_box: record.uint(shape.fast_box),
        };
        if fragment.flags & self.btl.complete != 0 {
            // One of this process's own that comes back.
            return Ok(fragment);
        }
        let inline = record.uint(shape.len);
        let mut len = inline;
        if fragment.flags & self.btl.single_copy != 0 {
            // The data stays in the sender's own memory.
            len = len.saturating_add(record.uint(shape.apart_len));
        }
        self.message(at.wrapping_add(shape.size as u64), inline, record.uint(shape.tag), len, false)?;
        Ok(fragment)
    }

    /// What was sent with a tag of the BTL's, which for ob1 is the kind of the header: `inline` bytes of `len` lie at `at`.
    fn message(&mut self, at: TargetAddr, inline: u64, tag: u64, len: u64, whole: bool) -> Result<(), ReaderError> {
        if !self.headers.begins_message(tag) {
            // Of one-sided communication, or a further piece of a message.
            return Ok(());
        }
        let header = self.headers.read_at(self.target, at, tag, inline)?;
        let length = header.length(len, at)?;
        if self.room == 0 {
            return Err(ReaderError::Damaged("there are more messages than a process can have".to_owned()));
        }
        self.room -= 1;
        let mut operation = header.operation(length);
        operation.status = OperationStatus::InTransit;
        operation.evidence = Some(if whole { IN_BOX } else { IN_FRAGMENT }.into());
        if whole && header.announced.is_none() {
            // What goes into the box at once is complete at its sender; a fragment may come back to a request that waits.
            operation.extra_text.push(Remark::Eager);
        }
        if header.announced.is_none() {
            operation.buffer = Some(at.wrapping_add(header.len).get());
        }
        self.letters.push(Letter { header, operation });
        Ok(())
    }
}
