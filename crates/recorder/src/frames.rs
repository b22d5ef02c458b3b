//! The frame of a wrapper, as `arch` lays it out on the stack.

use crate::arch::{ARGUMENTS, caller_frame};

/// What a wrapper keeps while its function runs.
#[repr(C)]
pub struct Frame {
    registers: [u64; ARGUMENTS],
    /// The number of the call; 0: it is not recorded.
    pub call: u64,
    /// The number of the call around it.
    pub previous: u64,
    /// The frame of that.
    pub previous_frame: u64,
    /// Arguments to be copied for the function (words).
    pub copied: u32,
    /// The wrapper.
    pub index: u32,
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
    pub row: u32,
    /// Not used.
    pub padding: u32,
}

/// The saved frame pointer and the return address stand above it, and above these the arguments on the stack.
const ABOVE: usize = size_of::<Frame>() / 8;

const _: () = assert!(size_of::<Frame>() == 8 * ARGUMENTS + 64);

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

    /// Where the caller returns to, as far as its frame pointer tells: what stands on this stack, and looks like an address.
    #[inline(always)]
    pub fn caller(&self, stack_high: u64) -> u64 {
        // SAFETY: the wrapper has it there.
        let frame = caller_frame(unsafe { self.words().add(ABOVE) });
        let own = std::ptr::from_ref(self) as u64;
        if frame <= own || frame & 7 != 0 || frame.saturating_add(16) > stack_high {
            return 0;
        }
        // SAFETY: it is between this frame and the end of the stack.
        let caller = unsafe { *(frame as *const u64).add(1) };
        if (0x1000..1 << 48).contains(&caller) { caller } else { 0 }
    }

    /// An argument.
    #[inline(always)]
    pub fn argument(&self, place: u8) -> u64 {
        let place = usize::from(place);
        if place < ARGUMENTS {
            return self.registers[place];
        }
        // SAFETY: the function has so many arguments, and the rest stand on the stack.
        unsafe { *self.words().add(ABOVE + 2 + place - ARGUMENTS) }
    }
}
