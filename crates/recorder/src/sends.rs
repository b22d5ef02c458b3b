//! Calls that send. What is done before their function runs is in the way of the message, so that their rows are written when it
//! has returned. Until then all that a row says stands in the call's frame, where readers find it ([`crate::frames::LAYOUT`]).

use std::ffi::c_void;

use record_format::{MESSAGE_COMMUNICATOR, Thread};

use crate::arch;
use crate::calls::{begun, of_message, set, torn};
use crate::clock;
use crate::frames::{Frame, HAS_RESULTS, NOT_WRITTEN};
use crate::messages;
use crate::real;
use crate::record;
use crate::threads::Local;
use crate::words;
use crate::wrapper::{WRAPPERS, Wrapper};

/// Messages of at most so many elements go out at once, as a rule. While one does not, its beginning is known to the second only: the
/// system's clock costs a short message more than all else here.
#[cfg(target_arch = "x86_64")]
pub const SHORT: u32 = 64;

/// Whether readers can do with the frame: the call is in no other one, and on the communicator that the thread used before, which so
/// is in its table.
#[inline(always)]
pub fn may_wait(frame: &Frame, thread: &Thread) -> bool {
    thread.current == 0
        && thread.fortran_frame == 0
        && thread.latest_communicator == words::handle::<false>(frame, MESSAGE_COMMUNICATOR)
}

/// Before the function runs of one that is short and waits: the second is in the frame already, as is the number of the wrapper. Returns
/// where the function is.
///
/// # Safety
/// `arch` calls it, with its frame.
#[cfg(target_arch = "x86_64")]
pub unsafe extern "C" fn enter(frame: *mut Frame) -> *mut c_void {
    // SAFETY: as the caller says.
    let frame = unsafe { &mut *frame };
    let index = frame.index;
    frame.given_back = 0;
    // SAFETY: the thread's own variable, and its row; the number is that of a wrapper.
    let (known, wrapper) = unsafe { ((*arch::local()).known(), WRAPPERS.get_unchecked(index as usize)) };
    match known {
        Some(thread) if may_wait(frame, thread) => {
            begin(frame, wrapper, thread);
            real::function(index)
        }
        _ => crate::calls::at_once(frame, index),
    }
}

/// The same of any, with the exact time.
#[inline(never)]
pub fn at_any_length(frame: &mut Frame, index: u32, thread: &mut Thread) -> *mut c_void {
    clock::coarse(&mut frame.time);
    // SAFETY: the number is that of a wrapper.
    begin(frame, unsafe { WRAPPERS.get_unchecked(index as usize) }, thread);
    real::function(index)
}

/// The time is in the frame.
#[inline(always)]
fn begin(frame: &mut Frame, wrapper: &Wrapper, thread: &mut Thread) {
    let number = thread.calls.wrapping_add(1);
    frame.thread = thread;
    frame.function = wrapper.function;
    frame.call = number;
    frame.after = NOT_WRITTEN;
    thread.steps += 1;
    thread.frame = std::ptr::from_ref(frame) as u64;
    set(&mut thread.current, number);
    // After that: whoever reads must find each call that is counted.
    set(&mut thread.calls, number);
}

/// Writes its row.
#[inline(always)]
pub fn write(frame: &mut Frame, wrapper: &Wrapper, local: &Local, thread: &mut Thread) {
    clock::make_exact(&mut frame.time, local.call(frame.call.wrapping_sub(1)).time);
    let call = local.call(frame.call);
    torn(&mut call.number);
    begun(frame, call, local.stack_high, &frame.time);
    of_message(frame, call, wrapper.function);
    set(&mut call.number, frame.call);
    (frame.previous, frame.previous_frame) = (0, 0);
    messages::count(thread, call.object, call.peer, call.tag, false);
    arch::prefetch(local.call(frame.call.wrapping_add(1)));
    if frame.call & local.mask == 0 {
        record::calibrate();
    }
}

/// A call begins while the thread is said to be in another one: that one is written now if it was to be written later, since numbers
/// go on. Where it was left by longjmp or an exception its frame is not there any more, and its row is left out.
#[cold]
pub fn around(frame: &Frame, local: &Local, thread: &mut Thread) {
    let is_written = local.call(thread.current).number == thread.current;
    if is_written || !frame.is_inside(thread.frame) {
        return;
    }
    let own = std::ptr::from_mut(thread);
    let Some(outer) = local.outer_frame(frame, thread.frame) else { return };
    // SAFETY: memory of this thread's stack, further out than the frame of this call.
    let outer = unsafe { &mut *outer };
    if outer.after == NOT_WRITTEN
        && outer.call == thread.current
        && outer.thread == own
        && let Some(wrapper) = WRAPPERS.get(outer.index as usize)
    {
        write(outer, wrapper, local, thread);
        outer.after = HAS_RESULTS;
    }
}
