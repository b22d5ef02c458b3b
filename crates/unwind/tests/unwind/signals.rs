//! What signals interrupted, where tables tell and where only the kernel's code does.

use crate::made::*;
use unwind::{End, Found, Machine};

const START: u64 = BIAS + 0x1000;
const TRAMPOLINE: u64 = 0x9000;

/// Code that was interrupted at its first instruction, in front of which another function ends; and a handler.
fn process(machine: Machine) -> Made {
    let (rip, sp) = if machine == Machine::X86_64 { (16, 7) } else { (30, 31) };
    let handler = if machine == Machine::X86_64 { saved(rip, 1) } else { vec![] };
    let handler = [&[DEF_CFA, sp, 8][..], &handler].concat();
    let entries = [Entry(0x1000, 0x100, &handler), Entry(0x1200, 0x100, &[DEF_CFA, sp, 0, UNDEFINED, rip])];
    let mut made = Made::with(machine, &table(Kind::EhFrame, rip, "zR", &[], &entries));
    made.code.push(TRAMPOLINE..TRAMPOLINE + 0x10);
    made
}

#[test]
fn the_kernels_code_on_x86_64_is_recognised() {
    let mut made = process(Machine::X86_64);
    made.bytes(TRAMPOLINE, &[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05]);
    // The return address, then struct ucontext, in which the registers begin at 40.
    made.words(0x7000, &[TRAMPOLINE]);
    let registers: Vec<u64> = (8..=15).chain([5, 4, 6, 3, 1, 0, 2, 0x6000, START + 0x200]).collect();
    made.words(0x7008 + 40, &registers);
    let stack = made.stack(&[("rip", START), ("rsp", 0x7000)]);
    assert_eq!((pcs(&stack), stack.end), (vec![START, TRAMPOLINE, START + 0x200], End::Outermost));
    assert_eq!(stack.frames.iter().map(|frame| frame.signal_trampoline).collect::<Vec<_>>(), [false, true, false]);
    let interrupted = &stack.frames[2];
    assert_eq!((interrupted.found, interrupted.interrupted), (Found::SignalFrame, true));
    for number in (0..16).filter(|number| *number != 7) {
        assert_eq!(interrupted.registers.get(number), Some(u64::from(number)));
    }
    // The stack of the handler lies above: it is one of its own.
    assert_eq!(interrupted.registers.sp(), Some(0x6000));
    // The thread may stand in that code, also before the call of the kernel.
    for into in [0, 7] {
        assert_eq!(pcs(&made.stack(&[("rip", TRAMPOLINE + into), ("rsp", 0x7008)]))[1..], [START + 0x200]);
    }
}

#[test]
fn the_kernels_code_on_aarch64_is_recognised() {
    let mut made = process(Machine::Aarch64);
    made.bytes(TRAMPOLINE, &[0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4]);
    let registers: Vec<u64> = (0..31).chain([0x6000, START + 0x200]).collect();
    made.words(0x7008 + 312, &registers);
    let stack = made.stack(&[("pc", START), ("sp", 0x7000), ("x30", TRAMPOLINE)]);
    assert_eq!((pcs(&stack), stack.end), (vec![START, TRAMPOLINE, START + 0x200], End::Outermost));
    let interrupted = &stack.frames[2];
    assert!((0..31).all(|number| interrupted.registers.get(number) == Some(u64::from(number))));
    assert_eq!(interrupted.registers.sp(), Some(0x6000));
}

#[test]
fn tables_of_signal_frames_say_that_the_address_is_exact() {
    // As glibc's: the entry begins one byte before the code, and "S" marks it.
    let rules = [&[DEF_CFA, 7, 0x10][..], &saved(16, 1), &saved(7, 2)].concat();
    let trampoline = table(Kind::EhFrame, 16, "zRS", &[], &[Entry(0x2200 - 0x1000 - 1, 0x20, &rules)]);
    let mut made = process(Machine::X86_64);
    let eh_frame = Some((0, unwind::section(&trampoline)));
    made.add(unwind::Sections { eh_frame, ..Default::default() });
    let code = BIAS + 0x2200;
    made.words(0x7000, &[code, 0x6000, START + 0x200]);
    // The augmentation "S" has no data of its own.
    let stack = made.stack(&[("rip", START), ("rsp", 0x7000)]);
    assert_eq!((pcs(&stack), stack.end), (vec![START, code, START + 0x200], End::Outermost));
    assert!(stack.frames[1].signal_trampoline && stack.frames[2].interrupted);
    assert_eq!(stack.frames[2].registers.sp(), Some(0x6000));
}

#[test]
fn a_signal_that_interrupted_itself_is_a_loop() {
    let mut made = process(Machine::X86_64);
    made.bytes(TRAMPOLINE, &[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05]);
    let registers: Vec<u64> = (0..15).chain([0x7008, TRAMPOLINE]).collect();
    made.words(0x7008 + 40, &registers);
    let stack = made.stack(&[("rip", TRAMPOLINE), ("rsp", 0x7008), ("rbp", 10)]);
    assert_eq!((stack.frames.len(), stack.end), (1, End::Loop { pc: TRAMPOLINE }));
    // What the kernel wrote cannot be read.
    let stack = made.stack(&[("rip", TRAMPOLINE), ("rsp", 0x8000)]);
    assert_eq!(stack.end, End::NoTables { pc: TRAMPOLINE });
}
