//! Guesses on x86-64, where two places could hold the return address.

use crate::made::*;
use unwind::{End, Found, Machine};

/// A function with a frame pointer at 0x9000, one without at 0x9100, one with at 0x9200 that calls both, and a linkage table.
fn made() -> Made {
    let mut made = Made::new(Machine::X86_64);
    made.code.push(0x9000..0xa000);
    made.bytes(0x9000, &[0x90; 0x1000]);
    for begin in [0x9000, 0x9200] {
        made.bytes(begin, &[0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5]);
    }
    call(&mut made, 0x9020, 0x9100);
    call(&mut made, 0x9220, 0x9000);
    call(&mut made, 0x9240, 0x9300);
    // call *%rax
    made.bytes(0x925e, &[0xff, 0xd0]);
    // jmp *0x8000
    made.bytes(0x9300, &[0xff, 0x25]);
    made.bytes(0x9302, &(0x8000i32 - 0x9306).to_le_bytes());
    made.words(0x8000, &[0x9100]);
    made.words(0x7000, &[0; 32]);
    made
}

/// A call that returns to an address.
fn call(made: &mut Made, after: u64, to: u64) {
    made.bytes(after - 5, &[0xe8]);
    made.bytes(after - 4, &(to.wrapping_sub(after) as i32).to_le_bytes());
}

fn found(made: &Made, pc: u64, sp: u64, fp: u64) -> (Vec<u64>, Vec<Found>) {
    let stack = made.stack(&[("rip", pc), ("rsp", sp), ("rbp", fp), ("rbx", 7)]);
    assert_eq!(stack.end, End::NoTables { pc: stack.frames.last().unwrap().pc() });
    assert!(
        stack.frames[1..].iter().all(|frame| frame.registers.get(3).is_none()),
        "nobody knows what was done to rbx"
    );
    (pcs(&stack), stack.frames[1..].iter().map(|frame| frame.found).collect())
}

#[test]
fn a_function_without_frame_pointer_returns_to_what_is_on_top_of_the_stack() {
    let mut made = made();
    made.words(0x7000, &[0x9020]);
    made.words(0x7020, &[0x7040, 0x9220]);
    let top = (vec![0x9110, 0x9020, 0x9220], vec![Found::ReturnAddress, Found::FramePointer]);
    assert_eq!(found(&made, 0x9110, 0x7000, 0x7020), top);
    // Called through the linkage table, from another function.
    made.words(0x7000, &[0x9240]);
    assert_eq!(found(&made, 0x9110, 0x7000, 0x7020).0[1], 0x9240);
}

#[test]
fn a_function_with_frame_pointer_has_what_is_left_of_calls_on_its_stack() {
    let mut made = made();
    // On top lies a return address that is no longer one: of a call of something else, or of the same function.
    made.words(0x7020, &[0x7040, 0x9220]);
    for rest in [0x9240, 0x9220, 0x9020] {
        made.words(0x7000, &[rest]);
        let record = (vec![0x9030, 0x9220], vec![Found::FramePointer]);
        assert_eq!(found(&made, 0x9030, 0x7000, 0x7020), record, "{rest:x}");
    }
    // Where it returns, the stack has nothing else on top.
    made.bytes(0x9040, &[0xc3]);
    made.words(0x7000, &[0x9220]);
    assert_eq!(found(&made, 0x9040, 0x7000, 0x7020).1[0], Found::ReturnAddress);
}

#[test]
fn a_frame_pointer_that_was_just_saved_lies_over_the_return_address() {
    let mut made = made();
    made.words(0x7000, &[0x7040, 0x9220]);
    assert_eq!(found(&made, 0x9005, 0x7000, 0x7040).0, [0x9005, 0x9220]);
}

#[test]
fn a_call_of_nothing_is_found_by_the_top_of_the_stack() {
    let mut made = made();
    made.words(0x7000, &[0x9260]);
    made.words(0x7020, &[0, 0x9220]);
    let stack = made.stack(&[("rip", 0), ("rsp", 0x7000), ("rbp", 0x7020), ("rbx", 7), ("rax", 8)]);
    assert_eq!(pcs(&stack), [0, 0x9260, 0x9220]);
    // No instruction was executed, so that what functions keep is as it was; what their callers did to it nobody knows.
    assert_eq!(
        (value(&stack, 1, "rbx"), value(&stack, 1, "rsp"), value(&stack, 1, "rax")),
        (Some(7), Some(0x7008), None)
    );
    assert_eq!(value(&stack, 2, "rbx"), None);
}

#[test]
fn what_is_no_return_address_is_not_taken() {
    let mut made = made();
    // Not behind a call; not in code; a record that is not aligned, or below the stack.
    for (top, fp) in
        [(0x9010, 0), (0x7000, 0), (0x9010, 0x7021), (0x9010, 0x6ff0), (0x9010, u64::MAX), (0, u64::MAX - 7)]
    {
        made.words(0x7000, &[top]);
        made.words(0x6ff0, &[0x7040, 0x9220]);
        assert_eq!(found(&made, 0x9110, 0x7000, fp).0.len(), 1);
    }
    // Records that do not go up.
    made.words(0x7000, &[0]);
    made.words(0x7020, &[0x7020, 0x9220]);
    let stack = made.stack(&[("rip", 0x9030), ("rsp", 0x7000), ("rbp", 0x7020)]);
    assert_eq!(stack.frames.len(), 2);
}

#[test]
fn linkage_tables_push_words_over_the_return_address() {
    let mut made = made();
    // push $1; jmp to the first entry, which is: push *0x8010; jmp *0x8018
    made.bytes(0x9310, &[0x68, 1, 0, 0, 0, 0xe9, 0, 0, 0, 0]);
    made.bytes(0x9320, &[0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0]);
    made.words(0x7000, &[0x8020, 1, 0x9240, 0]);
    made.words(0x7040, &[0, 0x9220]);
    for (pc, sp) in [(0x9315, 0x7008), (0x9320, 0x7008), (0x9326, 0x7000)] {
        let found = found(&made, pc, sp, 0x7040);
        assert_eq!(found, (vec![pc, 0x9240, 0x9220], vec![Found::ReturnAddress, Found::FramePointer]), "{pc:x}");
    }
}
