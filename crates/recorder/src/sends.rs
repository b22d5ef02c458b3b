//! Calls that send. What is done before their function runs is in the way of the message, so that their rows are written when it
//! has returned. Until then all that a row says stands in the call's frame, where readers find it ([`crate::frames::LAYOUT`]).

use record_format::{MESSAGE_COMMUNICATOR, MESSAGE_COUNT, Thread};

use crate::arch;
use crate::calls::{begun, of_message, set, torn};
use crate::clock;
use crate::frames::{Frame, HAS_RESULTS, NOT_WRITTEN};
use crate::messages;
use crate::record;
use crate::threads::Local;
use crate::words;
use crate::wrapper::{NO, WRAPPERS, Wrapper};

/// Messages of at most so many elements go out at once, as a rule. While one does not, its beginning is known to the second only: the
/// system's clock costs a short message more than all else here.
const SHORT: u32 = 64;

/// Whether readers can do with the frame: the call is in no other one, and on the communicator that the thread used before, which so
/// is in its table.
#[inline(always)]
pub fn may_wait(frame: &Frame, thread: &Thread) -> bool {
    thread.current == 0
        && thread.fortran_frame == 0
        && thread.latest_communicator == words::handle::<false>(frame, MESSAGE_COMMUNICATOR)
}

/// Before its function runs.
#[inline(always)]
pub fn begin(frame: &mut Frame, wrapper: &Wrapper, thread: &mut Thread) {
    let is_blocking = wrapper.request == NO;
    if clock::HAS_SECOND && is_blocking && words::integer::<false>(frame, MESSAGE_COUNT) as u32 <= SHORT {
        clock::second(&mut frame.time);
    } else {
        clock::coarse(&mut frame.time);
    }
    let number = thread.calls + 1;
    frame.thread = thread;
    frame.function = wrapper.function;
    frame.call = number;
    frame.after = NOT_WRITTEN;
    thread.calls = number;
    thread.steps += 1;
    thread.frame = std::ptr::from_ref(frame) as u64;
    set(&mut thread.current, number);
}

/// Writes its row.
#[inline(always)]
pub fn write(frame: &mut Frame, wrapper: &Wrapper, local: &Local, thread: &mut Thread) {
    clock::make_exact(&mut frame.time);
    let call = local.call(frame.call);
    torn(&mut call.number);
    begun(frame, call, thread, &frame.time);
    of_message(frame, call, wrapper.function);
    set(&mut call.number, frame.call);
    (frame.previous, frame.previous_frame) = (0, 0);
    messages::count(thread, call.object, call.peer, call.tag, false);
    arch::prefetch(local.call(frame.call + 1));
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
    // SAFETY: memory of this thread's stack, further out than the frame of this call.
    let outer = unsafe { &mut *(thread.frame as *mut Frame) };
    if outer.after == NOT_WRITTEN && outer.call == thread.current && outer.thread == own {
        // SAFETY: its number is that of a wrapper.
        let wrapper = unsafe { WRAPPERS.get_unchecked(outer.index as usize) };
        write(outer, wrapper, local, thread);
        outer.after = HAS_RESULTS;
    }
}
