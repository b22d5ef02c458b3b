//! AArch64, AAPCS64.

use std::arch::{asm, naked_asm};

use crate::calls::{enter, leave};
use crate::frames::RETURNED;
use crate::presence::resolve;
use crate::threads::Local;

/// Arguments that stand in registers.
pub const ARGUMENTS: usize = 8;

/// The numbers of registers in unwinding tables.
pub const FRAME_POINTER: u64 = 29;
pub const STACK_POINTER: u64 = 31;
pub const RETURN_ADDRESS: u64 = 30;

/// A wrapper, and behind it what the dynamic linker asks.
macro_rules! stub {
    ($index:expr, $way:ident) => {
        std::arch::naked_asm!(
            ".cfi_startproc",
            "2:",
            "mov w16, #{index}",
            "b {way}",
            ".balign 16",
            "mov w0, #{index}",
            "adr x1, 2b",
            "b {bind}",
            ".cfi_endproc",
            index = const $index,
            way = sym $crate::arch::$way,
            bind = sym $crate::arch::bind,
        )
    };
}
pub(crate) use stub;

/// Of which wrapper the code is: what stands in its first instruction, `movz w16, #index`.
///
/// # Safety
/// `code` is the start of one.
pub unsafe fn stub_index(code: *const u8) -> u32 {
    // SAFETY: instructions are words of 32 bits.
    let instruction = unsafe { code.cast::<u32>().read() };
    instruction >> 5 & 0xffff
}

/// The way of all wrappers, whose number is in w16. The frame below x29 is a [`crate::frames::Frame`].
#[unsafe(naked)]
pub unsafe extern "C" fn call() {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "mov x29, sp",
        ".cfi_def_cfa_register x29",
        "sub sp, sp, #176",
        "stp x0, x1, [sp]",
        "stp x2, x3, [sp, #16]",
        "stp x4, x5, [sp, #32]",
        "stp x6, x7, [sp, #48]",
        "mov x0, sp",
        "mov w1, w16",
        "bl {enter}",
        "mov x16, x0",
        "ldrh w9, [x29, #-72]",
        "cbnz w9, 4f",
        "3:",
        "ldp x0, x1, [x29, #-176]",
        "ldp x2, x3, [x29, #-160]",
        "ldp x4, x5, [x29, #-144]",
        "ldp x6, x7, [x29, #-128]",
        "blr x16",
        "ldr w9, [x29, #-68]",
        "cmp w9, #{returned}",
        "b.ne 6f",
        // The thread is in the call around it again.
        "ldr x10, [x29, #-80]",
        "ldp x11, x12, [x29, #-96]",
        "stp x11, x12, [x10, #8]",
        "2:",
        "mov sp, x29",
        ".cfi_remember_state",
        ".cfi_def_cfa_register sp",
        "ldp x29, x30, [sp], #16",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore x29",
        ".cfi_restore x30",
        "ret",
        ".cfi_restore_state",
        "6:",
        "cbz w9, 2b",
        "mov x1, x0",
        "sub x0, x29, #176",
        "bl {leave}",
        "b 2b",
        "4:",
        "add x10, x9, #1",
        "lsl x10, x10, #3",
        "and x10, x10, #-16",
        "sub sp, sp, x10",
        "5:",
        "sub x9, x9, #1",
        "add x10, x29, #16",
        "ldr x10, [x10, x9, lsl #3]",
        "str x10, [sp, x9, lsl #3]",
        "cbnz x9, 5b",
        "b 3b",
        ".cfi_endproc",
        enter = sym enter,
        leave = sym leave,
        returned = const RETURNED,
    )
}

/// The way of those of C that send and wait: there is no clock that would cost less.
pub use call as send;

/// What the dynamic linker asks: w0 is the number of a wrapper, x1 the wrapper.
#[unsafe(naked)]
pub unsafe extern "C" fn bind() {
    naked_asm!(".cfi_startproc", "b {resolve}", ".cfi_endproc", resolve = sym resolve)
}

/// The line of memory will be written soon: what comes after it need not wait for it then.
#[inline(always)]
pub fn prefetch<T>(line: *const T) {
    // SAFETY: it changes nothing, wherever that is.
    unsafe { asm!("prfm pstl1keep, [{0}]", in(reg) line, options(nostack, preserves_flags, readonly)) }
}

/// What the thread has of its own. The model initial-exec: two loads, and no call that could allocate.
#[inline(always)]
pub fn local() -> *mut Local {
    let found: *mut Local;
    // SAFETY: tpidr_el0 is the thread's own pointer, and the variable is at the offset that the linker writes.
    unsafe {
        asm!(
            "mrs {0}, tpidr_el0",
            "adrp {1}, :gottprel:mpi_queues_local",
            "ldr {1}, [{1}, :gottprel_lo12:mpi_queues_local]",
            "add {0}, {0}, {1}",
            out(reg) found,
            out(reg) _,
            options(nostack, readonly),
        );
    }
    found
}
