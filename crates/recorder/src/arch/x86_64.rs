//! x86-64, the System V ABI.

use std::arch::{asm, naked_asm};

use crate::calls::{enter, leave};
use crate::clock::SECOND;
use crate::frames::RETURNED;
use crate::presence::resolve;
use crate::sends;
use crate::threads::Local;

/// Arguments that stand in registers.
pub const ARGUMENTS: usize = 6;

/// The numbers of registers in unwinding tables.
pub const FRAME_POINTER: u64 = 6;
pub const STACK_POINTER: u64 = 7;
pub const RETURN_ADDRESS: u64 = 16;

/// A wrapper, and behind it what the dynamic linker asks.
macro_rules! stub {
    ($index:expr, $way:ident) => {
        std::arch::naked_asm!(
            ".cfi_startproc",
            "2:",
            "mov r11d, {index}",
            "jmp {way}",
            ".balign 16, 0xcc",
            "mov edi, {index}",
            "lea rsi, [rip + 2b]",
            "jmp {bind}",
            ".cfi_endproc",
            index = const $index,
            way = sym $crate::arch::$way,
            bind = sym $crate::arch::bind,
        )
    };
}
pub(crate) use stub;

/// Of which wrapper the code is: what stands in its first instruction, `mov r11d, index`.
///
/// # Safety
/// `code` is the start of one.
pub unsafe fn stub_index(code: *const u8) -> u32 {
    // SAFETY: the instruction has two bytes before its operand.
    unsafe { code.add(2).cast::<u32>().read_unaligned() }
}

/// Makes the frame below rbp, a [`crate::frames::Frame`], with the arguments that stand in registers.
macro_rules! frame {
    () => {
        concat!(
            "push rbp\n",
            ".cfi_def_cfa_offset 16\n",
            ".cfi_offset rbp, -16\n",
            "mov rbp, rsp\n",
            ".cfi_def_cfa_register rbp\n",
            "sub rsp, 160\n",
            "mov [rbp - 160], rdi\n",
            "mov [rbp - 152], rsi\n",
            "mov [rbp - 144], rdx\n",
            "mov [rbp - 136], rcx\n",
            "mov [rbp - 128], r8\n",
            "mov [rbp - 120], r9\n",
        )
    };
}

/// Gives the function these again.
macro_rules! given {
    () => {
        concat!(
            "mov rdi, [rbp - 160]\n",
            "mov rsi, [rbp - 152]\n",
            "mov rdx, [rbp - 144]\n",
            "mov rcx, [rbp - 136]\n",
            "mov r8, [rbp - 128]\n",
            "mov r9, [rbp - 120]\n",
        )
    };
}

/// The way of all wrappers, whose number is in r11d. The frame below rbp is a [`crate::frames::Frame`].
#[unsafe(naked)]
pub unsafe extern "C" fn call() {
    naked_asm!(
        ".cfi_startproc",
        frame!(),
        "mov rdi, rsp",
        "mov esi, r11d",
        "call {enter}",
        "mov r11, rax",
        "movzx ecx, word ptr [rbp - 72]",
        "test ecx, ecx",
        "jnz 4f",
        "3:",
        given!(),
        "xor eax, eax",
        "call r11",
        "mov ecx, [rbp - 68]",
        "cmp ecx, {returned}",
        "jne 6f",
        // The thread is in the call around it again.
        "mov rdx, [rbp - 80]",
        "mov rcx, [rbp - 96]",
        "mov [rdx + 8], rcx",
        "mov rcx, [rbp - 88]",
        "mov [rdx + 16], rcx",
        "2:",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_remember_state",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_restore_state",
        "6:",
        "test ecx, ecx",
        "je 2b",
        "lea rdi, [rbp - 160]",
        "mov rsi, rax",
        "call {leave}",
        "jmp 2b",
        "4:",
        "lea rax, [rcx * 8 + 15]",
        "and rax, -16",
        "sub rsp, rax",
        "5:",
        "mov rax, [rbp + rcx * 8 + 8]",
        "mov [rsp + rcx * 8 - 8], rax",
        "dec ecx",
        "jnz 5b",
        "jmp 3b",
        ".cfi_endproc",
        enter = sym enter,
        leave = sym leave,
        returned = const RETURNED,
    )
}

/// The way of those of C that send and wait, with six arguments at most. All that is done before the function runs is in the way of a
/// short message: it is less here than on the way of all.
#[unsafe(naked)]
pub unsafe extern "C" fn send() {
    naked_asm!(
        ".cfi_startproc",
        "cmp esi, {short}",
        "ja {call}",
        frame!(),
        "mov [rbp - 40], r11d",
        // The second, before all else: nothing need be kept over that call.
        "xor edi, edi",
        "call [rip + {second}]",
        "mov [rbp - 112], rax",
        "mov qword ptr [rbp - 104], {to_the_second}",
        "mov rdi, rsp",
        "call {enter}",
        given!(),
        "call rax",
        "cmp dword ptr [rbp - 68], 0",
        "je 2f",
        "lea rdi, [rbp - 160]",
        "mov rsi, rax",
        "call {leave}",
        "2:",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        short = const sends::SHORT,
        call = sym call,
        second = sym SECOND,
        to_the_second = const record_format::TO_THE_SECOND as i64,
        enter = sym sends::enter,
        leave = sym leave,
    )
}

/// What the dynamic linker asks: edi is the number of a wrapper, rsi the wrapper.
#[unsafe(naked)]
pub unsafe extern "C" fn bind() {
    naked_asm!(".cfi_startproc", "jmp {resolve}", ".cfi_endproc", resolve = sym resolve)
}

/// The line of memory will be written soon: what comes after it need not wait for it then.
#[inline(always)]
pub fn prefetch<T>(line: *const T) {
    // SAFETY: it changes nothing, wherever that is; processors without it do nothing.
    unsafe { asm!("prefetchw [{0}]", in(reg) line, options(nostack, preserves_flags, readonly)) }
}

/// What the thread has of its own. The model initial-exec: one load, and no call that could allocate (ELF Handling For Thread-Local Storage, 4.4.6).
#[inline(always)]
pub fn local() -> *mut Local {
    let found: *mut Local;
    // SAFETY: fs:0 is the thread's own pointer, and the variable is at the offset that the linker writes.
    unsafe {
        asm!(
            "mov {0}, qword ptr fs:[0]",
            "add {0}, qword ptr [rip + mpi_queues_local@GOTTPOFF]",
            out(reg) found,
            options(nostack, readonly),
        );
    }
    found
}
