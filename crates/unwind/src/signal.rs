//! What the kernel writes on a stack before it calls the handler of a signal, where no tables tell.

use crate::machine::Machine;
use crate::process::Process;
use crate::registers::Registers;

/// `mov $15, %rax; syscall`: what a handler returns to, by which it is recognised (rt_sigreturn; gdb/amd64-linux-tdep.c).
const X86_64_CODE: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
/// Where the system call stands in it.
const X86_64_CALL: u64 = 7;
/// `mov x8, #139; svc #0` (arch/arm64/kernel/vdso/sigreturn.S).
const AARCH64_CODE: [u8; 8] = [0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4];
const AARCH64_CALL: u64 = 4;

/// `uc_mcontext` in `struct ucontext` (include/uapi/asm-generic/ucontext.h), which lies on top of the stack when the handler
/// has returned (`struct rt_sigframe`, arch/x86/include/asm/sigframe.h).
const X86_64_CONTEXT: u64 = 40;
/// DWARF's numbers in the order of `struct sigcontext_64` (arch/x86/include/uapi/asm/sigcontext.h): r8 to r15, di, si, bp,
/// bx, dx, ax, cx, sp, ip.
const X86_64_ORDER: [u16; 17] = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16];

/// `regs` of `struct sigcontext` (8; arch/arm64/include/uapi/asm/sigcontext.h) behind `siginfo_t` (128) and the beginning of
/// `struct ucontext` (176; arch/arm64/include/uapi/asm/ucontext.h): `struct rt_sigframe`, arch/arm64/kernel/signal.c. x0 to
/// x30, sp, pc are in the order of DWARF's numbers.
const AARCH64_REGISTERS: u64 = 128 + 176 + 8;

/// The registers of what a signal interrupted, where a frame is the kernel's call of a handler.
pub(crate) fn interrupted(process: Process<'_>, registers: &Registers) -> Option<Registers> {
    if !is_trampoline(process, registers) {
        return None;
    }
    let machine = registers.machine();
    let sp = registers.sp()?;
    let mut found = Registers::new(machine);
    let (begin, numbers) = match machine {
        Machine::X86_64 => (sp.checked_add(X86_64_CONTEXT)?, X86_64_ORDER.to_vec()),
        Machine::Aarch64 => (sp.checked_add(AARCH64_REGISTERS)?, (0..=machine.program_counter()).collect()),
    };
    for (place, number) in (0..).zip(numbers) {
        found.set(number, process.word(begin.checked_add(8 * place)?)?);
    }
    Some(found)
}

fn is_trampoline(process: Process<'_>, registers: &Registers) -> bool {
    let Some(pc) = registers.pc() else { return false };
    let machine = registers.machine();
    let call = match machine {
        Machine::X86_64 => X86_64_CALL,
        Machine::Aarch64 => AARCH64_CALL,
    };
    starts(machine, process, pc) || pc.checked_sub(call).is_some_and(|begin| starts(machine, process, begin))
}

/// Whether the code to which handlers return begins at an address.
pub(crate) fn starts(machine: Machine, process: Process<'_>, begin: u64) -> bool {
    process.may_stand(begin)
        && match machine {
            Machine::X86_64 => process.bytes(begin) == Some(X86_64_CODE),
            Machine::Aarch64 => process.bytes(begin) == Some(AARCH64_CODE),
        }
}
