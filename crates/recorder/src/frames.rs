//! The frame of a wrapper, as `arch` lays it out on the stack.

use std::mem::offset_of;

use record_format::{FrameLayout, Thread};

use crate::arch::ARGUMENTS;

/// What a wrapper keeps while its function runs.
#[repr(C)]
pub struct Frame {
    registers: [u64; ARGUMENTS],
    /// When the call began; only where its row is not written yet ([`NOT_WRITTEN`]), as with the function.
    pub time: libc::timespec,
    /// The number of the call around it.
    pub previous: u64,
    /// The frame of that.
    pub previous_frame: u64,
    /// The thread's row.
    pub thread: *mut Thread,
    /// Arguments to be copied for the function (words).
    pub copied: u16,
    /// The function with its marks, as a call has them.
    pub function: u16,
    /// What is to be done afterwards.
    pub after: u32,
    /// Stands for a handle that the function is not given; in Fortran an address, as all arguments are.
    no_handle: u64,
    /// Stands for such an integer.
    no_integer: u64,
    /// The number of the call.
    pub call: u64,
    /// The wrapper.
    pub index: u32,
    /// What is given back of the thread's room for requests and statuses: from there, less 1; 0: nothing.
    pub given_back: u32,
    /// Of the requests it was given, those kept in the thread begin here.
    pub waited: u32,
    /// How many are kept there.
    pub waited_count: u32,
    /// The request it was given, where it is one.
    pub one: Kept,
}

/// A request that a call was given, and where it stands in the table.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Kept {
    /// The request.
    pub word: u64,
    /// The row's number at that time; 0: it stands nowhere.
    pub number: u64,
    /// The row.
    pub row: u64,
}

/// Nothing was written down.
pub const NOT_RECORDED: u32 = 0;
/// The thread is in the call around it again.
pub const RETURNED: u32 = 1;
/// What the function has returned is written down.
pub const HAS_RESULTS: u32 = 2;
/// Its row is written, and what the function has returned.
pub const NOT_WRITTEN: u32 = 3;

/// Where what stands for a missing argument is in a frame (words).
pub const NO_HANDLE: u8 = ARGUMENTS as u8 + 6;
pub const NO_INTEGER: u8 = ARGUMENTS as u8 + 7;

/// What stands there in Fortran.
static NOTHING: u64 = 0;
static NOT_GIVEN: i32 = record_format::NOT_GIVEN;

/// The saved frame pointer and the return address stand above it, and above these the arguments on the stack.
const ABOVE: usize = size_of::<Frame>() / 8;

// `arch` and `build.rs` know these.
const _: () = {
    assert!(ABOVE == ARGUMENTS + 14);
    assert!(offset_of!(Frame, previous) == 8 * ARGUMENTS + 16);
    assert!(offset_of!(Frame, thread) == 8 * ARGUMENTS + 32);
    assert!(offset_of!(Frame, copied) == 8 * ARGUMENTS + 40);
    assert!(offset_of!(Frame, no_handle) == 8 * NO_HANDLE as usize);
    assert!(offset_of!(Frame, no_integer) == 8 * NO_INTEGER as usize);
    assert!(offset_of!(Thread, current) == 8 && offset_of!(Thread, frame) == 16);
};

/// Where readers find what a frame has of a call that sends.
pub const LAYOUT: FrameLayout = FrameLayout {
    call: offset_of!(Frame, call) as u32,
    time: offset_of!(Frame, time) as u32,
    function: offset_of!(Frame, function) as u32,
    site: (8 * (ABOVE + 1)) as u32,
};

impl Frame {
    fn words(&self) -> *const u64 {
        std::ptr::from_ref(self).cast()
    }

    /// Where the call returns to.
    #[inline(always)]
    pub fn site(&self) -> u64 {
        // SAFETY: the wrapper has it there.
        unsafe { *self.words().add(ABOVE + 1) }
    }

    /// What the stack pointer was where the call is made.
    #[inline(always)]
    pub fn stack_of_caller(&self) -> u64 {
        self.words() as u64 + 8 * (ABOVE as u64 + 2)
    }

    /// Whether the call is made in that of another frame, as far as places on the stack tell: its caller's own frame is further in.
    #[inline(always)]
    pub fn is_inside(&self, other: u64) -> bool {
        self.stack_of_caller() < other
    }

    /// What the frame pointer was there.
    #[inline(always)]
    pub fn frame_pointer_of_caller(&self) -> u64 {
        // SAFETY: the wrapper has saved it there.
        unsafe { *self.words().add(ABOVE) }
    }

    /// Gives the function another argument.
    pub fn set_argument(&mut self, word: u8, value: u64) {
        // SAFETY: as above. Arguments on the stack are the called function's own.
        unsafe { std::ptr::from_mut(self).cast::<u64>().add(usize::from(word)).write(value) }
    }

    /// Prepares what stands for arguments that there are not.
    #[inline(always)]
    pub fn without<const FORTRAN: bool>(&mut self) {
        (self.no_handle, self.no_integer) = if FORTRAN {
            (&raw const NOTHING as u64, &raw const NOT_GIVEN as u64)
        } else {
            (NOTHING, NOT_GIVEN as u32 as u64)
        };
    }

    /// An argument, by its word.
    #[inline(always)]
    pub fn argument(&self, word: u8) -> u64 {
        // SAFETY: a word of this frame, or of the arguments above it.
        unsafe { *self.words().add(usize::from(word)) }
    }
}
