//! A call is written down: into the ring of its thread before its function runs, and what it has returned afterwards.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use record_format::{COUNT_BITS, Call, FUNCTION_NUMBER, SECOND_HALF, Thread, stage};

use crate::arch::{ARGUMENTS, local};
use crate::clock;
use crate::communicators;
use crate::frames::Frame;
use crate::real;
use crate::record::{self, header};
use crate::requests;
use crate::threads::Local;
use crate::words;
use crate::wrapper::{Completion, NO, Stage, WRAPPERS, Wrapper};

/// As far as the frame of a binding and those of the functions that it calls lie apart at most (bytes).
const INSIDE: u64 = 1 << 20;

/// Before the function runs. Returns where it is; `frame.call` is 0 where nothing was written down.
///
/// # Safety
/// `arch` calls it, with its frame and the number of a wrapper.
pub unsafe extern "C" fn enter(frame: *mut Frame, index: u32) -> *mut c_void {
    let function = real::function(index);
    // SAFETY: as the caller says; the thread's own variable.
    let (frame, wrapper, local) = unsafe { (&mut *frame, WRAPPERS.get_unchecked(index as usize), &mut *local()) };
    frame.index = index;
    frame.call = 0;
    frame.copied = u32::from(wrapper.arguments).saturating_sub(ARGUMENTS as u32);
    let thread = local.row();
    if !thread.is_null() {
        // SAFETY: the row is this thread's.
        write(frame, wrapper, local, unsafe { &mut *thread });
    }
    function
}

#[inline(always)]
fn write(frame: &mut Frame, wrapper: &Wrapper, local: &mut Local, thread: &mut Thread) {
    let own = std::ptr::from_ref(frame) as u64;
    let number_of_function = wrapper.function & FUNCTION_NUMBER;
    if thread.fortran_frame != 0 && is_inside(thread, own, number_of_function) {
        return;
    }
    let (previous, previous_frame) = around(thread, own);
    let number = thread.calls + 1;
    let caller = frame.caller(thread.stack_high);
    let call = Call {
        number,
        time: clock::coarse(),
        site: frame.site(),
        caller,
        object: words::handle(frame, wrapper, wrapper.object, wrapper.by_address),
        datatype: datatype(frame, wrapper),
        count: count(frame, wrapper, wrapper.count, wrapper.function),
        peer: words::integer(frame, wrapper, wrapper.peer),
        tag: words::integer(frame, wrapper, wrapper.tag),
    };
    put(local, thread, number, &call);
    frame.call = number;
    frame.previous = previous;
    frame.previous_frame = previous_frame;
    thread.frame = own;
    set(&mut thread.current, number);
    if wrapper.fortran {
        thread.fortran_frame = own;
        thread.fortran_function = u32::from(number_of_function);
    }
    if wrapper.second.peer != NO {
        second_half(frame, wrapper, local, thread, &call);
    }
    if wrapper.collective {
        communicators::collective(frame, wrapper, thread, &call, number | local.above);
    }
    if wrapper.completion != Completion::None {
        requests::before(frame, wrapper, thread);
    }
    if wrapper.stage == Stage::Finalize {
        // SAFETY: the record is there.
        unsafe { (*header()).stage = stage::FINALIZING };
    }
    if number & local.mask == 0 {
        record::calibrate();
    }
}

/// Whether this is what a binding of Fortran calls to do its work.
#[cold]
fn is_inside(thread: &mut Thread, own: u64, function: u16) -> bool {
    if own >= thread.fortran_frame || thread.fortran_frame - own > INSIDE {
        // That one was left by longjmp, or runs on another stack.
        thread.fortran_frame = 0;
        return false;
    }
    thread.fortran_function == u32::from(function)
}

/// The call in which this one is made, and its frame; zeros where it is in none: one whose frame is further in was left by
/// longjmp or an exception.
#[inline(always)]
fn around(thread: &Thread, own: u64) -> (u64, u64) {
    if thread.current == 0 || own >= thread.frame { (0, 0) } else { (thread.current, thread.frame) }
}

/// Written as a whole, and not moved by the compiler.
#[inline(always)]
fn set(place: &mut u64, value: u64) {
    // SAFETY: a word of the thread's row.
    unsafe { AtomicU64::from_ptr(place) }.store(value, Ordering::Release);
}

/// Writes a row of the ring: its number first as none, and last.
#[inline(always)]
fn put(local: &Local, thread: &mut Thread, number: u64, call: &Call) {
    // SAFETY: the place is inside the thread's ring.
    unsafe {
        let row = local.ring.add(((number - 1) & local.mask) as usize);
        let written = AtomicU64::from_ptr(&raw mut (*row).number);
        written.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        (*row).time = call.time;
        (*row).site = call.site;
        (*row).caller = call.caller;
        (*row).object = call.object;
        (*row).datatype = call.datatype;
        (*row).count = call.count;
        (*row).peer = call.peer;
        (*row).tag = call.tag;
        written.store(number, Ordering::Release);
    }
    set(&mut thread.calls, number);
}

#[inline(always)]
fn count(frame: &Frame, wrapper: &Wrapper, place: u8, function: u16) -> u64 {
    let place = if wrapper.given_count == NO { place } else { wrapper.given_count };
    words::number(frame, wrapper, place) & ((1 << COUNT_BITS) - 1) | u64::from(function) << COUNT_BITS
}

/// The datatype, or where the requests stand.
#[inline(always)]
fn datatype(frame: &Frame, wrapper: &Wrapper) -> u64 {
    if wrapper.given != NO { frame.argument(wrapper.given) } else { words::handle(frame, wrapper, wrapper.datatype, false) }
}

/// What is received by a function that sends as well has a row of its own.
#[cold]
fn second_half(frame: &Frame, wrapper: &Wrapper, local: &Local, thread: &mut Thread, first: &Call) {
    let second = &wrapper.second;
    let call = Call {
        number: first.number + 1,
        datatype: words::handle(frame, wrapper, second.datatype, false),
        count: count(frame, wrapper, second.count, wrapper.function | SECOND_HALF),
        peer: words::integer(frame, wrapper, second.peer),
        tag: words::integer(frame, wrapper, second.tag),
        ..*first
    };
    put(local, thread, call.number, &call);
}

/// After the function has returned; gives back what it returned. Only for calls that were written down.
///
/// # Safety
/// `arch` calls it, with the frame that `enter` was given.
pub unsafe extern "C" fn leave(frame: *mut Frame, result: u64) -> u64 {
    // SAFETY: as the caller says, and `enter` has set the thread's row.
    let (frame, local) = unsafe { (&mut *frame, &mut *local()) };
    // SAFETY: its number is that of a wrapper.
    let wrapper = unsafe { WRAPPERS.get_unchecked(frame.index as usize) };
    let row = local.row();
    if row.is_null() {
        return result;
    }
    // SAFETY: the row is this thread's.
    let thread = unsafe { &mut *row };
    if wrapper.has_result() {
        results(frame, wrapper, local, thread, result);
    }
    if wrapper.fortran {
        thread.fortran_frame = 0;
    }
    thread.frame = frame.previous_frame;
    set(&mut thread.current, frame.previous);
    result
}

fn results(frame: &mut Frame, wrapper: &Wrapper, local: &Local, thread: &mut Thread, result: u64) {
    // SAFETY: the place is inside the thread's ring. Calls inside this one may have written over it.
    let written = unsafe { &*local.ring.add(((frame.call - 1) & local.mask) as usize) };
    let number = frame.call | local.above;
    let succeeded = if wrapper.fortran {
        // The last argument of C's; mpi_f08 may leave it out.
        true
    } else {
        result as i32 == 0
    };
    if wrapper.request != NO && succeeded {
        let address = frame.argument(wrapper.request);
        if address != 0 {
            // SAFETY: the function has written it.
            let word = unsafe { words::read(address, wrapper.fortran) };
            requests::add(word, written, number, wrapper, frame);
        }
    }
    if wrapper.completion != Completion::None {
        requests::after(frame, wrapper, thread, written, number, succeeded);
    }
    if succeeded {
        communicators::results(frame, wrapper, written, number);
    }
    match wrapper.stage {
        Stage::None => {}
        Stage::Init | Stage::SessionInit if succeeded => {
            communicators::begin(frame, wrapper);
            record::calibrate();
        }
        Stage::Finalize => {
            // SAFETY: the record is there.
            unsafe { (*header()).stage = stage::FINALIZED };
            record::calibrate();
        }
        Stage::Init | Stage::SessionInit => {}
    }
}
