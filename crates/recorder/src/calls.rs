//! A call is written down: into the ring of its thread before its function runs (of one that sends, afterwards: `sends`), and
//! what it has returned.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use record_format::{
    Call, FUNCTION_NUMBER, MESSAGE_COMMUNICATOR, MESSAGE_COUNT, MESSAGE_DATATYPE, MESSAGE_PEER, MESSAGE_TAG,
    SECOND_HALF, Thread, stage,
};

use crate::arch::{self, local};
use crate::callers;
use crate::clock;
use crate::communicators;
use crate::frames::{Frame, HAS_RESULTS, NOT_RECORDED, NOT_WRITTEN, RETURNED};
use crate::messages;
use crate::real;
use crate::record::{self, header};
use crate::requests;
use crate::sends;
use crate::statuses;
use crate::threads::Local;
use crate::words;
use crate::wrapper::{Completion, Messages, NO, Stage, WRAPPERS, Wrapper};

/// As far as the frame of a binding and those of the functions that it calls lie apart at most (bytes).
const INSIDE: u64 = 1 << 20;

/// Before the function runs. Returns where it is; `frame.after` says what is to be done when it has returned.
///
/// # Safety
/// `arch` calls it, with its frame and the number of a wrapper.
pub unsafe extern "C" fn enter(frame: *mut Frame, index: u32) -> *mut c_void {
    // SAFETY: as the caller says; the thread's own variable.
    let (frame, wrapper, local) = unsafe { (&mut *frame, WRAPPERS.get_unchecked(index as usize), &mut *local()) };
    (frame.index, frame.given_back) = (index, 0);
    frame.copied = u16::from(wrapper.copied);
    // SAFETY: the row is this thread's.
    match unsafe { local.known() } {
        Some(thread) if wrapper.is_send && sends::may_wait(frame, thread) => sends::at_any_length(frame, index, thread),
        _ => at_once(frame, index),
    }
}

/// Writes the call down now. Returns where the function is.
#[inline(never)]
pub fn at_once(frame: &mut Frame, index: u32) -> *mut c_void {
    frame.after = NOT_RECORDED;
    // SAFETY: the thread's own variable; the number is that of a wrapper.
    let (local, wrapper) = unsafe { (&mut *local(), WRAPPERS.get_unchecked(index as usize)) };
    let thread = local.row();
    if !thread.is_null() {
        // SAFETY: the row is this thread's.
        of_thread(frame, wrapper, local, unsafe { &mut *thread });
    }
    real::function(index)
}

#[inline(always)]
fn of_thread(frame: &mut Frame, wrapper: &Wrapper, local: &Local, thread: &mut Thread) {
    frame.thread = thread;
    if thread.current != 0 {
        sends::around(frame, local, thread);
    }
    if wrapper.fortran {
        of_fortran(frame, wrapper, local, thread);
    } else if thread.fortran_frame == 0 || !is_inside(thread, frame, wrapper) {
        write::<false>(frame, wrapper, local, thread);
    }
}

#[inline(never)]
fn of_fortran(frame: &mut Frame, wrapper: &Wrapper, local: &Local, thread: &mut Thread) {
    if thread.fortran_frame != 0 && is_inside(thread, frame, wrapper) {
        return;
    }
    write::<true>(frame, wrapper, local, thread);
    frame.after = HAS_RESULTS;
    thread.fortran_frame = std::ptr::from_ref(frame) as u64;
    thread.fortran_function = u32::from(wrapper.function & FUNCTION_NUMBER);
}

#[inline(always)]
fn write<const FORTRAN: bool>(frame: &mut Frame, wrapper: &Wrapper, local: &Local, thread: &mut Thread) {
    let own = std::ptr::from_ref(frame) as u64;
    let number = thread.calls.wrapping_add(1);
    let call = local.call(number);
    torn(&mut call.number);
    clock::coarse(&mut frame.time);
    begun(frame, call, local.stack_high, &frame.time);
    if !FORTRAN && wrapper.is_message {
        of_message(frame, call, wrapper.function);
    } else {
        frame.without::<FORTRAN>();
        arguments::<FORTRAN>(frame, wrapper, call);
    }
    set(&mut call.number, number);
    arch::prefetch(local.call(number.wrapping_add(1)));
    set(&mut thread.calls, number);
    thread.steps += u64::from(!wrapper.is_poll);
    // The call in which this one is made; one whose frame is further in was left by longjmp or an exception.
    let is_around = thread.current != 0 && frame.is_inside(thread.frame);
    (frame.previous, frame.previous_frame) = if is_around { (thread.current, thread.frame) } else { (0, 0) };
    thread.frame = own;
    set(&mut thread.current, number);
    frame.call = number;
    frame.after = RETURNED;
    if wrapper.messages != Messages::None {
        messages::begin(frame, wrapper, thread, call);
    }
    if wrapper.has_more {
        more(frame, wrapper, local, thread, call);
    }
    if number & local.mask == 0 {
        record::calibrate();
    }
}

/// When a call began, and where it is made.
#[inline(always)]
pub fn begun(frame: &Frame, call: &mut Call, stack_high: u64, time: &libc::timespec) {
    call.time = clock::nanoseconds(time);
    call.site = frame.site();
    call.caller = callers::caller(frame, call.site, stack_high);
}

/// What a function of C was given whose arguments stand as those of MPI_Send do.
#[inline(always)]
pub fn of_message(frame: &Frame, call: &mut Call, function: u16) {
    call.count = Call::counted(words::number::<false>(frame, MESSAGE_COUNT, false), function);
    call.datatype = words::handle::<false>(frame, MESSAGE_DATATYPE);
    call.peer = words::integer::<false>(frame, MESSAGE_PEER);
    call.tag = words::integer::<false>(frame, MESSAGE_TAG);
    call.object = words::handle::<false>(frame, MESSAGE_COMMUNICATOR);
}

#[inline(always)]
fn arguments<const FORTRAN: bool>(frame: &Frame, wrapper: &Wrapper, call: &mut Call) {
    call.object =
        if wrapper.by_address { by_address(frame, wrapper) } else { words::handle::<FORTRAN>(frame, wrapper.object) };
    call.datatype = if wrapper.given == NO {
        words::handle::<FORTRAN>(frame, wrapper.datatype)
    } else {
        frame.argument(wrapper.given)
    };
    call.count = Call::counted(words::number::<FORTRAN>(frame, wrapper.count, wrapper.wide), wrapper.function);
    call.peer = words::integer::<FORTRAN>(frame, wrapper.peer);
    call.tag = words::integer::<FORTRAN>(frame, wrapper.tag);
}

/// What is written down of some functions only.
#[inline(always)]
fn more(frame: &mut Frame, wrapper: &Wrapper, local: &Local, thread: &mut Thread, call: &Call) {
    if wrapper.collective {
        communicators::collective(frame, wrapper, thread, call, call.number | local.above);
    }
    if wrapper.has_result {
        frame.after = HAS_RESULTS;
    }
    if wrapper.completion != Completion::None {
        requests::before(frame, wrapper, thread);
    }
    if wrapper.second.peer != NO {
        second_half(frame, wrapper, local, thread, call);
    }
    if wrapper.stage == Stage::Finalize {
        // SAFETY: the record is there.
        unsafe { (*header()).stage = stage::FINALIZING };
    }
}

#[cold]
fn by_address(frame: &Frame, wrapper: &Wrapper) -> u64 {
    let address = frame.argument(wrapper.object);
    // SAFETY: the function reads it as well; none is an error of the program.
    if address == 0 { 0 } else { unsafe { words::read(address, wrapper.fortran) } }
}

/// Whether this is what a binding of Fortran calls to do its work.
#[cold]
fn is_inside(thread: &mut Thread, frame: &Frame, wrapper: &Wrapper) -> bool {
    let own = std::ptr::from_ref(frame) as u64;
    if own >= thread.fortran_frame || thread.fortran_frame - own > INSIDE {
        // That one was left by longjmp, or runs on another stack.
        thread.fortran_frame = 0;
        return false;
    }
    thread.fortran_function == u32::from(wrapper.function & FUNCTION_NUMBER)
}

/// Written as a whole, and not moved by the compiler.
#[inline(always)]
pub fn set(place: &mut u64, value: u64) {
    // SAFETY: a word of the thread's row.
    unsafe { AtomicU64::from_ptr(place) }.store(value, Ordering::Release);
}

/// The row is torn from now on, until its number is written again.
#[inline(always)]
pub fn torn(number: &mut u64) {
    // SAFETY: a word of a row that this thread writes.
    unsafe { AtomicU64::from_ptr(number) }.store(0, Ordering::Relaxed);
    fence(Ordering::Release);
}

/// What is received by a function that sends as well has a row of its own.
#[cold]
fn second_half(frame: &Frame, wrapper: &Wrapper, local: &Local, thread: &mut Thread, first: &Call) {
    let second = &wrapper.second;
    let number = first.number.wrapping_add(1);
    let call = local.call(number);
    torn(&mut call.number);
    (call.time, call.site, call.caller, call.object) = (first.time, first.site, first.caller, first.object);
    call.datatype = words::handle_of(frame, wrapper, second.datatype);
    let count = if wrapper.fortran {
        words::number::<true>(frame, second.count, wrapper.wide)
    } else {
        words::number::<false>(frame, second.count, wrapper.wide)
    };
    call.count = Call::counted(count, wrapper.function | SECOND_HALF);
    call.peer = words::integer_of(frame, wrapper, second.peer);
    call.tag = words::integer_of(frame, wrapper, second.tag);
    set(&mut call.number, number);
    set(&mut thread.calls, number);
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
    // SAFETY: the row is this thread's.
    let thread = unsafe { &mut *frame.thread };
    if frame.after == NOT_WRITTEN {
        sends::write(frame, wrapper, local, thread);
        // Nothing else comes of a send but its request.
        returned_request(frame, wrapper, local, result as i32 == 0);
        thread.frame = 0;
        set(&mut thread.current, 0);
        return result;
    }
    if wrapper.has_result || frame.given_back != 0 || !matches!(wrapper.messages, Messages::None | Messages::Send) {
        results(frame, wrapper, local, thread, result);
    }
    if wrapper.fortran {
        thread.fortran_frame = 0;
    }
    thread.frame = frame.previous_frame;
    set(&mut thread.current, frame.previous);
    result
}

#[inline(always)]
fn returned_request(frame: &Frame, wrapper: &Wrapper, local: &Local, succeeded: bool) {
    if wrapper.request == NO || !succeeded {
        return;
    }
    let address = frame.argument(wrapper.request);
    if address != 0 {
        // SAFETY: the function has written it.
        let word = unsafe { words::read(address, wrapper.fortran) };
        requests::add(word, local.call(frame.call), frame.call | local.above, wrapper, frame);
    }
}

fn results(frame: &mut Frame, wrapper: &Wrapper, local: &Local, thread: &mut Thread, result: u64) {
    // Calls inside this one may have written over it.
    let written = &*local.call(frame.call);
    let number = frame.call | local.above;
    let succeeded = if wrapper.fortran {
        // The last argument of C's; mpi_f08 may leave it out.
        true
    } else {
        result as i32 == 0
    };
    returned_request(frame, wrapper, local, succeeded);
    if wrapper.completion != Completion::None {
        requests::after(frame, wrapper, thread, written, number, succeeded);
    }
    if succeeded && wrapper.request == NO && !matches!(wrapper.messages, Messages::None | Messages::Send) {
        statuses::received(frame, wrapper, thread, written);
    }
    statuses::give_back(frame, wrapper, thread);
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
