//! How many messages were sent and received: by communicator, peer and tag. A receive that says from whom counts when it begins,
//! one from anybody when its status is known (`statuses.rs`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use record_format::{Call, MessageKey, Request, Thread, communicator_flags, request_flags};

use crate::communicators;
use crate::frames::{Frame, HAS_RESULTS};
use crate::keys::{Keys, Spilled};
use crate::record::{self, MESSAGES, tables};
use crate::requests::SHARED;
use crate::statuses;
use crate::words;
use crate::wrapper::{Messages, NO, Wrapper};

static SPILLED: Spilled = Spilled(AtomicBool::new(false));

fn keys() -> Keys {
    Keys { first: tables().message_keys, count: MESSAGES }
}

/// A call begins that sends or receives.
#[inline(always)]
pub fn begin(frame: &mut Frame, wrapper: &Wrapper, thread: &mut Thread, call: &Call) {
    match wrapper.messages {
        // What begins with MPI_Start is counted there.
        _ if wrapper.persistent => {}
        Messages::Send => count(thread, call.object, call.peer, call.tag, false),
        Messages::Receive if call.peer >= 0 && call.tag >= 0 => {
            count(thread, call.object, call.peer, call.tag, true);
        }
        _ => seldom(frame, wrapper, thread, call),
    }
}

#[cold]
fn seldom(frame: &mut Frame, wrapper: &Wrapper, thread: &mut Thread, call: &Call) {
    if wrapper.messages == Messages::Both {
        count(thread, call.object, call.peer, call.tag, false);
    }
    let (peer, tag) = received(frame, wrapper, call);
    let is_blocking = wrapper.request == NO;
    if wrapper.messages == Messages::Probe || is_blocking && words::is_from_any(peer, tag) {
        frame.after = HAS_RESULTS;
        statuses::before(frame, wrapper, thread, 1);
    } else {
        count(thread, call.object, peer, tag, true);
    }
}

/// Whom and which tag the receive of a call names.
pub fn received(frame: &Frame, wrapper: &Wrapper, call: &Call) -> (i32, i32) {
    if wrapper.messages != Messages::Both {
        return (call.peer, call.tag);
    }
    let second = &wrapper.second;
    (words::integer_of(frame, wrapper, second.peer), words::integer_of(frame, wrapper, second.tag))
}

/// What its request is about.
pub fn flags(frame: &Frame, wrapper: &Wrapper, call: &Call) -> u32 {
    let mut flags = match wrapper.messages {
        Messages::None | Messages::Probe => return 0,
        Messages::Send => return request_flags::SENDS,
        Messages::Receive => request_flags::RECEIVES,
        Messages::Both => request_flags::SENDS | request_flags::RECEIVES,
    };
    let (peer, tag) = received(frame, wrapper, call);
    if words::is_from_any(peer, tag) {
        flags |= request_flags::ANY;
    }
    flags
}

/// A persistent request is started.
pub fn started(thread: &mut Thread, request: &Request) {
    let sends = request.flags & request_flags::SENDS != 0;
    if sends {
        count_recorded(thread, request.object, request.peer, request.tag, false);
    }
    if request.flags & request_flags::RECEIVES != 0 {
        let (peer, tag) = if sends { (request.source, request.source_tag) } else { (request.peer, request.tag) };
        count_recorded(thread, request.object, peer, tag, true);
    }
}

/// One more. Peers and tags that are negative are none: MPI_PROC_NULL, or those of a receive from anybody.
#[inline(always)]
pub fn count(thread: &mut Thread, communicator: u64, peer: i32, tag: i32, received: bool) {
    if peer < 0 || tag < 0 {
        return;
    }
    if let Some(place) = communicators::place(thread, communicator) {
        count_at(place, peer, tag, received);
    }
}

/// The same on a communicator that the record names, which a program may have written over.
pub fn count_recorded(thread: &Thread, communicator: u64, peer: i32, tag: i32, received: bool) {
    if peer < 0 || tag < 0 {
        return;
    }
    if let Some(place) = communicators::known(thread, communicator) {
        count_at(place, peer, tag, received);
    }
}

#[inline(always)]
fn count_at(place: usize, peer: i32, tag: i32, received: bool) {
    let key = MessageKey { communicator: place as u64, received, peer, tag }.word();
    let Some(row) = key.and_then(|key| row_of(key, place)) else {
        record::count(|header| {
            // SAFETY: a field of the mapping.
            unsafe { &raw mut (*header).lost_messages }
        });
        return;
    };
    // SAFETY: a row of the table.
    let counter = unsafe { AtomicU64::from_ptr(tables().message_counts.add(row)) };
    if SHARED.load(Ordering::Relaxed) {
        counter.fetch_add(1, Ordering::Relaxed);
    } else {
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

#[inline(always)]
fn row_of(key: u64, communicator: usize) -> Option<usize> {
    keys().find(key, &SPILLED).or_else(|| add(key, communicator))
}

/// A row for a key that has none. Two threads at once may add two, whose sum is what counts.
#[cold]
fn add(key: u64, communicator: usize) -> Option<usize> {
    communicators::set_flags(communicator, communicator_flags::MESSAGES);
    keys().take_any(key, SHARED.load(Ordering::Relaxed), &SPILLED)
}

/// The communicator of a row is freed, and another one may have the row: its messages are over.
pub fn forget(communicator: usize) {
    for row in 0..MESSAGES {
        // SAFETY: rows of both tables.
        let (key, counter) =
            unsafe { (&*tables().message_keys.add(row), AtomicU64::from_ptr(tables().message_counts.add(row))) };
        let word = key.load(Ordering::Relaxed);
        if word != 0 && MessageKey::of(word).communicator == communicator as u64 {
            counter.store(0, Ordering::Relaxed);
            key.store(0, Ordering::Release);
        }
    }
}
