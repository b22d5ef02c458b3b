//! The table of open requests: a row is written when a call has returned a request, and freed when another has completed it.
//!
//! A call that completes requests looks their rows up before its function runs, since the function writes over the handles,
//! and frees a row afterwards only if it is still the same: another thread may have been given the same handle meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

use record_format::{Call, FORTRAN_2008, Request, Thread, request_flags, request_state};

use crate::communicators;
use crate::frames::{Frame, Kept};
use crate::keys::{Keys, Spilled};
use crate::messages;
use crate::record::{self, REQUESTS, tables};
use crate::statuses;
use crate::words;
use crate::wrapper::{Completion, NO, Wrapper};

static SPILLED: Spilled = Spilled(AtomicBool::new(false));

/// Whether several threads call MPI at once (MPI_THREAD_MULTIPLE).
pub static SHARED: AtomicBool = AtomicBool::new(false);

fn keys() -> Keys {
    Keys { first: tables().request_keys, count: REQUESTS }
}

fn row(place: usize) -> *mut Request {
    // SAFETY: the place is below the number of rows, a power of two, whatever a program has written over the record.
    unsafe { tables().requests.add(place & (REQUESTS - 1)) }
}

/// # Safety
/// The row is one of the table.
unsafe fn number(row: *mut Request) -> &'static AtomicU64 {
    // SAFETY: as the caller says; all change it as a whole.
    unsafe { AtomicU64::from_ptr(&raw mut (*row).number) }
}

/// A call has returned a request.
pub fn add(word: u64, call: &Call, number_of_call: u64, wrapper: &Wrapper, frame: &Frame) {
    if !words::is_open_request(word) {
        return;
    }
    let Some(place) = place_for(word) else {
        record::count(|header| {
            // SAFETY: a field of the mapping.
            unsafe { &raw mut (*header).lost_requests }
        });
        return;
    };
    let second = &wrapper.second;
    let flags = messages::flags(frame, wrapper, call);
    if wrapper.persistent || flags & request_flags::ANY != 0 {
        // Its messages count later, by what stands in the row: MPI is asked about its communicator now.
        // SAFETY: the row is this thread's.
        let _ = communicators::place(unsafe { &mut *frame.thread }, words::handle_of(frame, wrapper, wrapper.object));
    }
    // SAFETY: the row is this call's.
    unsafe {
        let row = row(place);
        (*row).request = word;
        (*row).state = if wrapper.persistent { request_state::INACTIVE } else { request_state::ACTIVE };
        (*row).flags = flags;
        (*row).time = call.time;
        (*row).site = call.site;
        (*row).caller = call.caller;
        (*row).object = call.object;
        (*row).datatype = call.datatype;
        (*row).count = call.count;
        (*row).peer = call.peer;
        (*row).tag = call.tag;
        (*row).started = 0;
        (*row).source = words::integer_of(frame, wrapper, second.peer);
        (*row).source_tag = words::integer_of(frame, wrapper, second.tag);
        number(row).store(number_of_call, Ordering::Release);
    }
}

/// A row for a request: the one that it has, where its completion was not seen, else a free one. Its number is 0.
#[inline(always)]
fn place_for(word: u64) -> Option<usize> {
    if SHARED.load(Ordering::Relaxed) {
        return place_among_threads(word);
    }
    let (found, free) = keys().find_or_free(word, &SPILLED);
    match (found, free) {
        (Some(place), _) => {
            // SAFETY: a row of the table.
            unsafe { number(row(place)) }.store(0, Ordering::Relaxed);
            fence(Ordering::Release);
            Some(place)
        }
        (None, Some(place)) => {
            keys().take(place, word, false);
            Some(place)
        }
        (None, None) => keys().take_any(word, false, &SPILLED),
    }
}

/// A row of the request whose number is 0 is being freed by another thread, which has completed it: it is not this one's.
fn place_among_threads(word: u64) -> Option<usize> {
    let mut own = None;
    for place in keys().rows_of(word) {
        // SAFETY: a row of the table, and its key.
        let (number, key) = unsafe { (number(row(place)), &*tables().request_keys.add(place)) };
        let old = number.load(Ordering::Relaxed);
        if old == 0 || number.compare_exchange(old, 0, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            continue;
        }
        match own {
            None => own = Some(place),
            Some(_) => key.store(0, Ordering::Release),
        }
    }
    own.or_else(|| keys().take_any(word, true, &SPILLED))
}

/// Whose row a request has. Handed back in registers: what is written piece by piece and then copied as a whole waits for its
/// pieces, a third of what a call of MPI_Wait costs.
#[inline(always)]
fn keep(word: u64) -> Kept {
    let nowhere = Kept { word, number: 0, row: 0 };
    if !words::is_open_request(word) {
        return nowhere;
    }
    if SHARED.load(Ordering::Relaxed) {
        return keep_among_threads(word).unwrap_or(nowhere);
    }
    keys().find(word, &SPILLED).map_or(nowhere, |place| kept(word, place))
}

#[cold]
fn keep_among_threads(word: u64) -> Option<Kept> {
    keys().rows_of(word).map(|place| kept(word, place)).find(|kept| kept.number != 0)
}

#[inline(always)]
fn kept(word: u64, place: usize) -> Kept {
    // SAFETY: a row of the table.
    let number = unsafe { number(row(place)) }.load(Ordering::Relaxed);
    Kept { word, number, row: place as u64 }
}

/// Frees the row of a request, if it is still the same; whether it was.
fn close(kept: &Kept) -> bool {
    if kept.number == 0 {
        return false;
    }
    let place = kept.row as usize & (REQUESTS - 1);
    // SAFETY: a row of the table, and its key.
    let (number, key) = unsafe { (number(row(place)), &*tables().request_keys.add(place)) };
    if SHARED.load(Ordering::Relaxed) {
        if number.compare_exchange(kept.number, 0, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
    } else if number.load(Ordering::Relaxed) == kept.number {
        number.store(0, Ordering::Relaxed);
    } else {
        return false;
    }
    key.store(0, Ordering::Release);
    true
}

/// A persistent request is complete; whether it was started.
fn deactivate(kept: &Kept) -> bool {
    if kept.number == 0 {
        return false;
    }
    // SAFETY: a row of the table. Nobody else may start or complete this request now.
    unsafe {
        let row = row(kept.row as usize);
        let is_its = number(row).load(Ordering::Relaxed) == kept.number && (*row).state == request_state::STARTED;
        if is_its {
            (*row).state = request_state::INACTIVE;
        }
        is_its
    }
}

/// Where the requests stand that a call was given, and how many they are.
fn given(frame: &Frame, wrapper: &Wrapper) -> (u64, usize) {
    let address = frame.argument(wrapper.given);
    let count = if wrapper.given_count == NO { 1 } else { words::integer_of(frame, wrapper, wrapper.given_count) };
    (address, if address == 0 { 0 } else { usize::try_from(count).unwrap_or(0) })
}

/// # Safety
/// The function was given so many requests there.
unsafe fn request_at(address: u64, place: usize, wrapper: &Wrapper) -> u64 {
    // SAFETY: as the caller says.
    unsafe { words::read(address + (place * words::bytes(wrapper.fortran)) as u64, wrapper.fortran) }
}

/// Before the function runs: which requests it is given.
pub fn before(frame: &mut Frame, wrapper: &Wrapper, thread: &mut Thread) {
    let (address, count) = given(frame, wrapper);
    if !wrapper.is_array {
        // SAFETY: the function reads it as well.
        frame.one = if count == 1 { keep(unsafe { request_at(address, 0, wrapper) }) } else { keep(0) };
        if is_from_any(&frame.one) {
            statuses::before(frame, wrapper, thread, 1);
        }
        return;
    }
    if matches!(wrapper.completion, Completion::StartAll) {
        return;
    }
    let (_, most) = tables().waited_of(thread);
    let used = thread.waited_used.min(most);
    frame.waited = used as u32;
    let room = count.min((most - used) as usize);
    frame.waited_count = room as u32;
    thread.waited_used = used + room as u64;
    let mut from_any = false;
    for place in 0..count {
        // SAFETY: the function reads it as well; the room is this thread's.
        unsafe {
            let kept = keep(request_at(address, place, wrapper));
            let is_from_any = is_from_any(&kept);
            if place < room {
                from_any |= is_from_any;
                *kept_at(thread, frame.waited as usize + place) = kept;
            } else if kept.number != 0 {
                if is_from_any {
                    communicators::untold(thread, (*row(kept.row as usize)).object);
                }
                close(&kept);
                record::count(|header| &raw mut (*header).early_requests);
            }
        }
    }
    if from_any {
        statuses::before(frame, wrapper, thread, if wrapper.completion == Completion::Any { 1 } else { count });
    }
}

/// Whether a request receives from any source, or with any tag.
#[inline(always)]
fn is_from_any(kept: &Kept) -> bool {
    // SAFETY: a row of the table.
    kept.number != 0 && unsafe { (*row(kept.row as usize)).flags } & request_flags::ANY != 0
}

/// Notes from whom a message is that a request has received, while the row is still its own; `place`: that of its status.
fn complete(frame: &Frame, wrapper: &Wrapper, thread: &mut Thread, kept: &Kept, place: usize) {
    if is_from_any(kept) {
        // SAFETY: a row of the table.
        let request = unsafe { &*row(kept.row as usize) };
        let is_started = request.state != request_state::INACTIVE;
        if is_started && request.number == kept.number {
            statuses::completed(frame, wrapper, thread, request, place);
        }
    }
}

/// # Safety
/// The place is below the thread's room.
unsafe fn kept_at(thread: &Thread, place: usize) -> *mut Kept {
    // SAFETY: as the caller says.
    unsafe { tables().waited_of(thread).0.add(place) }
}

/// After the function has returned: which of them are complete.
pub fn after(
    frame: &mut Frame,
    wrapper: &Wrapper,
    thread: &mut Thread,
    call: &Call,
    number_of_call: u64,
    succeeded: bool,
) {
    let (address, count) = given(frame, wrapper);
    match wrapper.completion {
        Completion::None => {}
        Completion::Wait | Completion::Test | Completion::Free => {
            // SAFETY: the function has read and perhaps written it.
            let changed = count == 1 && unsafe { request_at(address, 0, wrapper) } != frame.one.word;
            let one = frame.one;
            let is_over = if changed || wrapper.completion == Completion::Free && succeeded {
                complete(frame, wrapper, thread, &one, 0);
                close(&one)
            } else if succeeded && (wrapper.completion == Completion::Wait || flag(frame, wrapper)) {
                complete(frame, wrapper, thread, &one, 0);
                deactivate(&one)
            } else {
                false
            };
            thread.steps += u64::from(is_over && wrapper.is_poll);
        }
        Completion::Cancel => {
            // SAFETY: a row of the table.
            let request = unsafe { &*row(frame.one.row as usize) };
            if frame.one.number != 0 && request.flags != 0 {
                communicators::untold(thread, request.object);
            }
        }
        Completion::Start if succeeded => start(thread, &frame.one, call, number_of_call),
        Completion::StartAll if succeeded => {
            for place in 0..count {
                // SAFETY: the function has read it.
                let kept = keep(unsafe { request_at(address, place, wrapper) });
                start(thread, &kept, call, number_of_call);
            }
        }
        Completion::Start | Completion::StartAll => {}
        Completion::All | Completion::TestAll | Completion::Any | Completion::Some => {
            several(frame, wrapper, thread, address, succeeded);
        }
    }
}

fn several(frame: &Frame, wrapper: &Wrapper, thread: &mut Thread, address: u64, succeeded: bool) {
    let count = frame.waited_count as usize;
    let mut steps = 0;
    let all =
        wrapper.completion == Completion::All || wrapper.completion == Completion::TestAll && flag(frame, wrapper);
    // SAFETY: below the number that were kept.
    let kept_of = |thread: &Thread, place: usize| unsafe { *kept_at(thread, frame.waited as usize + place) };
    let first = first_index(wrapper, words::returned(frame, wrapper.index));
    let mut one = |thread: &mut Thread, index: i32, status: usize| {
        if let Ok(place) = usize::try_from(index.wrapping_sub(first))
            && place < count
        {
            let kept = kept_of(thread, place);
            complete(frame, wrapper, thread, &kept, status);
            // SAFETY: it was there before the function ran.
            if unsafe { request_at(address, place, wrapper) } == kept.word {
                steps += u64::from(deactivate(&kept));
            }
        }
    };
    match wrapper.completion {
        Completion::Any if succeeded => {
            if let Some(index) = words::returned(frame, wrapper.index) {
                one(thread, index, 0);
            }
        }
        Completion::Some if succeeded => {
            let complete = words::returned(frame, wrapper.outcount).unwrap_or(0);
            let indices = frame.argument(wrapper.indices) as *const i32;
            for place in 0..usize::try_from(complete).unwrap_or(0).min(count) {
                // SAFETY: the function has written so many.
                one(thread, unsafe { *indices.add(place) }, place);
            }
        }
        _ => {}
    }
    for place in 0..count {
        let kept = kept_of(thread, place);
        if kept.number == 0 {
            continue;
        }
        // SAFETY: it was there before the function ran.
        let is_changed = unsafe { request_at(address, place, wrapper) } != kept.word;
        if all && (is_changed || succeeded) {
            complete(frame, wrapper, thread, &kept, place);
        }
        if is_changed {
            steps += u64::from(close(&kept));
        } else if all && succeeded {
            steps += u64::from(deactivate(&kept));
        }
    }
    if wrapper.is_poll {
        thread.steps += steps;
    }
    thread.waited_used = u64::from(frame.waited);
}

/// Fortran counts from 1, but `mpi_f08` of MPICH from 0 (4.0.2: `mpi_testany_f08_` of its libmpichfort hands on what C's
/// function gives): known once it has been seen.
fn first_index(wrapper: &Wrapper, index: Option<i32>) -> i32 {
    static FROM_ZERO: AtomicBool = AtomicBool::new(false);
    if wrapper.function & FORTRAN_2008 != 0 && index == Some(0) {
        FROM_ZERO.store(true, Ordering::Relaxed);
    }
    i32::from(wrapper.fortran && !(wrapper.function & FORTRAN_2008 != 0 && FROM_ZERO.load(Ordering::Relaxed)))
}

fn flag(frame: &Frame, wrapper: &Wrapper) -> bool {
    words::returned(frame, wrapper.flag).is_some_and(|flag| flag != 0)
}

fn start(thread: &mut Thread, kept: &Kept, call: &Call, number_of_call: u64) {
    if kept.number == 0 {
        return;
    }
    // SAFETY: a row of the table; nobody else may start or complete this request now.
    unsafe {
        let row = row(kept.row as usize);
        let number = number(row);
        if number.load(Ordering::Relaxed) != kept.number {
            return;
        }
        number.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        (*row).state = request_state::STARTED;
        (*row).started = number_of_call;
        (*row).started_time = call.time;
        (*row).started_site = call.site;
        (*row).started_caller = call.caller;
        number.store(kept.number, Ordering::Release);
        messages::started(thread, &*row);
    }
}
