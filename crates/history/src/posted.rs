//! What the process has posted and nobody has completed, by its calls: the requests that are open, and the calls that its
//! threads are in. With the numbers as they were given, which only here have a meaning.

use std::mem::offset_of;

use functions::constants::Family;
use model::{Given, HandleWord, Text};
use record_format as format;
use record_format::{COUNT_BITS, FORTRAN_HANDLE, NOT_GIVEN, SECOND_HALF};
use target::Target;
use target::address::TargetAddr;

use crate::Reading;
use crate::rows::Row;
use crate::tables::{Named, elements, handle};

/// Requests of one call that are looked at.
const MOST_WAITED: u64 = 1 << 14;

/// Whom a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A rank in the communicator (in the remote group of an intercommunicator).
    Rank(i64),
    /// MPI_ANY_SOURCE.
    Any,
    /// MPI_PROC_NULL.
    Null,
    /// Nobody, or it is not known what the number means.
    Unknown,
}

/// Which tag a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// This one.
    Number(i64),
    /// MPI_ANY_TAG.
    Any,
    /// None, or it is not known what the number means.
    Unknown,
}

/// One half of what a call sends and receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The other process.
    pub peer: Peer,
    /// The tag.
    pub tag: Tag,
    /// Number of elements.
    pub count: Option<u64>,
    /// The handle of the datatype.
    pub datatype: Option<HandleWord>,
    /// Its name; who reads the record says it.
    pub datatype_name: Option<Text>,
}

/// A call that was begun, with what it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The function in C.
    pub function: Text,
    /// The communicator that it is on, by its handle in C.
    pub communicator: Option<HandleWord>,
    /// What it sends, or else receives, or whose root it names.
    pub first: Message,
    /// What a function receives that sends as well.
    pub second: Option<Message>,
    /// Where it stands.
    pub given: Given,
}

/// A request that nobody has completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRequest {
    /// The handle, as `Operation::request` has it.
    pub request: HandleWord,
    /// Whether it was started.
    pub active: bool,
    /// Whether it is persistent.
    pub persistent: bool,
    /// Of a collective which of those of its communicator it is that return a request, from 1, where the recorder still has that.
    pub collective: Option<u64>,
    /// The call that made it.
    pub posted: Posted,
}

/// The call that a thread is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Current {
    /// The kernel's number of the thread.
    pub kernel_thread: i64,
    /// The call.
    pub posted: Posted,
    /// The requests that it was given, as they stand in memory now.
    pub requests: Vec<HandleWord>,
}

impl<T: Target> Reading<'_, T> {
    pub(crate) fn open_requests(&self, rows: &[Vec<u8>], named: &Named) -> Vec<OpenRequest> {
        use format::Request as Row_;
        let mut found = Vec::new();
        for row in rows {
            let row = Row(row);
            let state = row.u32(offset_of!(Row_, state));
            let count = row.u64(offset_of!(Row_, count));
            let first = Message {
                peer: self.peer(row.i32(offset_of!(Row_, peer))),
                tag: self.tag(row.i32(offset_of!(Row_, tag))),
                count: elements(count),
                datatype: handle(row.u64(offset_of!(Row_, datatype))),
                datatype_name: None,
            };
            let source = row.i32(offset_of!(Row_, source));
            let second = (source != NOT_GIVEN).then(|| Message {
                peer: self.peer(source),
                tag: self.tag(row.i32(offset_of!(Row_, source_tag))),
                count: None,
                datatype: None,
                datatype_name: None,
            });
            let posted = self.posted(count, row.u64(offset_of!(Row_, object)), first, second, named);
            let posted = Posted { given: self.place(row.u64(offset_of!(Row_, site))), ..posted };
            let time = row.u64(offset_of!(Row_, time)).max(row.u64(offset_of!(Row_, started_time)));
            found.push((
                time,
                OpenRequest {
                    request: HandleWord(row.u64(offset_of!(Row_, request))),
                    active: state != format::request_state::INACTIVE,
                    persistent: state != format::request_state::ACTIVE,
                    collective: named.collective(row.u64(offset_of!(Row_, number))),
                    posted,
                },
            ));
        }
        found.sort_by_key(|(time, _)| *time);
        found.into_iter().map(|(_, request)| request).collect()
    }

    /// The calls that threads are in.
    pub(crate) fn current(&self, named: &Named) -> Vec<Current> {
        use format::Thread as Row_;
        let mut found = Vec::new();
        for thread in self.header.threads.each(&self.threads) {
            let number = thread.u64(offset_of!(Row_, current));
            let is_live = thread.u32(offset_of!(Row_, state)) == format::thread_state::LIVE;
            let Some(row) = (if is_live { self.call_row(&thread, number) } else { None }) else { continue };
            let (row, count) = (Row(&row), Row(&row).u64(offset_of!(format::Call, count)));
            let second = self.call_row(&thread, number.saturating_add(1));
            let second = second.filter(|second| {
                Row(second).u64(offset_of!(format::Call, count)) >> COUNT_BITS & u64::from(SECOND_HALF) != 0
            });
            let half = |row: Row<'_>| Message {
                peer: self.peer(row.i32(offset_of!(format::Call, peer))),
                tag: self.tag(row.i32(offset_of!(format::Call, tag))),
                count: elements(row.u64(offset_of!(format::Call, count))),
                datatype: handle(row.u64(offset_of!(format::Call, datatype))),
                datatype_name: None,
            };
            let second = second.map(|second| half(Row(&second)));
            let posted = self.posted(count, row.u64(offset_of!(format::Call, object)), half(row), second, named);
            let takes = functions::find(&posted.function).is_some_and(|function| function.takes_requests());
            let requests = if takes {
                let marks = (count >> COUNT_BITS) as u16;
                let is_fortran = marks & (format::FORTRAN | format::FORTRAN_2008) != 0;
                self.requests_at(
                    row.u64(offset_of!(format::Call, datatype)),
                    elements(count).unwrap_or(0),
                    &posted.function,
                    is_fortran,
                )
            } else {
                Vec::new()
            };
            let posted = Posted { given: self.place(row.u64(offset_of!(format::Call, site))), ..posted };
            found.push(Current { kernel_thread: i64::from(thread.u32(offset_of!(Row_, id))), posted, requests });
        }
        found
    }

    fn posted(&self, count: u64, object: u64, first: Message, second: Option<Message>, named: &Named) -> Posted {
        let (function, on_communicator) = self.function(count);
        let communicator = Some(object).filter(|_| on_communicator).and_then(|object| named.in_c(object));
        Posted { function, communicator, first, second, given: Given::default() }
    }

    fn place(&self, site: u64) -> Given {
        let mut given = Given::default();
        self.places.tell(site, &mut given);
        given
    }

    /// The handles that stand where a call was given requests; those it has completed meanwhile are others now.
    fn requests_at(&self, address: u64, count: u64, function: &str, is_fortran: bool) -> Vec<HandleWord> {
        let is_array = functions::find(function).is_some_and(|one| one.parameter("array_of_requests").is_some());
        let count = if is_array { count.min(MOST_WAITED) } else { 1 };
        let Some(family) = self.header.family.filter(|_| address != 0) else { return Vec::new() };
        let bytes = if is_fortran { 4 } else { family.handle_bytes() };
        let mark = if is_fortran && family != Family::Mpich { FORTRAN_HANDLE } else { 0 };
        let length = usize::try_from(count * bytes).unwrap_or(0);
        let Ok(found) = self.target.read_bytes(TargetAddr::new(address), length) else { return Vec::new() };
        let words = found.chunks_exact(bytes as usize).map(|word| {
            let mut whole = [0; 8];
            whole[..word.len()].copy_from_slice(word);
            HandleWord(u64::from_le_bytes(whole) | mark)
        });
        words.collect()
    }

    fn peer(&self, number: i32) -> Peer {
        let Some(family) = self.header.family else {
            return if number >= 0 { Peer::Rank(number.into()) } else { Peer::Unknown };
        };
        match i128::from(number) {
            0.. => Peer::Rank(number.into()),
            any if any == family.any_source() => Peer::Any,
            null if null == family.proc_null() => Peer::Null,
            _ => Peer::Unknown,
        }
    }

    fn tag(&self, number: i32) -> Tag {
        match (i128::from(number), self.header.family) {
            (0.., _) => Tag::Number(number.into()),
            (any, Some(family)) if any == family.any_tag() => Tag::Any,
            _ => Tag::Unknown,
        }
    }
}
