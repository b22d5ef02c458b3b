//! Stacks of AArch64.

use crate::made::*;
use unwind::{End, Found, Machine};

const START: u64 = BIAS + 0x1000;
const LINK: u8 = 30;
const SIGNED: u64 = 0x1234_0000_0000_0000;

/// A leaf, a function with a frame of 32 bytes, one that signs its return address, and the outermost.
fn made() -> Made {
    let frame = [&[DEF_CFA, 31, 32][..], &saved(29, 4), &saved(LINK, 3), &saved(19, 2)].concat();
    let signs = [&[NEGATE_RA_STATE][..], &frame].concat();
    let entries = [
        Entry(0x1000, 0x100, &[][..]),
        Entry(0x1100, 0x100, &frame),
        Entry(0x1200, 0x100, &signs),
        Entry(0x1300, 0x100, &[UNDEFINED, LINK]),
    ];
    Made::with(Machine::Aarch64, &table(Kind::EhFrame, LINK, "zR", &[DEF_CFA, 31, 0], &entries))
}

#[test]
fn return_addresses_are_in_the_link_register_or_saved_and_may_be_signed() {
    let mut made = made();
    made.words(0x7000, &[0x7020, START + 0x210, 19, 0]);
    made.words(0x7020, &[0, SIGNED | (START + 0x310), 20, 0]);
    let stack = made.stack(&[("pc", START + 8), ("sp", 0x7000), ("x30", START + 0x110), ("x29", 0x7000), ("x28", 5)]);
    assert_eq!(pcs(&stack), [START + 8, START + 0x110, START + 0x210, START + 0x310]);
    assert_eq!(stack.end, End::Outermost);
    assert_eq!(
        stack.frames.iter().map(|frame| frame.cfa.unwrap()).collect::<Vec<_>>(),
        [0x7000, 0x7020, 0x7040, 0x7040]
    );
    assert_eq!((value(&stack, 2, "x19"), value(&stack, 3, "x19")), (Some(19), Some(20)));
    assert_eq!((value(&stack, 1, "x29"), value(&stack, 2, "x29")), (Some(0x7000), Some(0x7020)));
    assert_eq!((value(&stack, 3, "x28"), value(&stack, 3, "x0")), (Some(5), None));
    assert_eq!(value(&stack, 3, "x30"), Some(START + 0x310));
}

#[test]
fn a_caller_that_did_not_save_where_it_returns_to_is_damaged() {
    let stack = made().stack(&[("pc", START + 8), ("sp", 0x7000), ("x30", START + 0x10)]);
    assert_eq!((stack.frames.len(), stack.end), (2, End::Damaged { pc: START + 0x10 }));
    let stack = made().stack(&[("pc", START + 8), ("sp", 0x7000)]);
    assert_eq!(stack.end, End::Unknown { pc: START + 8, register: Some("x30") });
}

/// bl to an address.
fn call(from: u64, to: u64) -> [u8; 4] {
    (0x9400_0000 | (to.wrapping_sub(from) as u32 >> 2) & 0x3ff_ffff).to_le_bytes()
}

#[test]
fn code_without_tables_is_guessed_by_frame_records() {
    let mut made = made();
    made.code.push(0x9000..0xa000);
    // 0x9000 is a leaf; 0x9100 calls it; 0x9200, which sets up a frame, calls that by a register, and is called.
    made.bytes(0x9110, &call(0x9110, 0x9000));
    made.bytes(0x9220, &[0x20, 0, 0x3f, 0xd6]);
    made.bytes(0x9200, &[0x3f, 0x23, 0x03, 0xd5, 0xfd, 0x7b, 0xbe, 0xa9, 0xfd, 0x03, 0, 0x91]);
    made.bytes(START + 0x30c, &call(START + 0x30c, 0x9200));
    made.words(0x7000, &[0x7040, 0x9224]);
    made.words(0x7040, &[0, SIGNED | (START + 0x310)]);
    let stack = made.stack(&[("pc", 0x9004), ("sp", 0x7000), ("x30", SIGNED | 0x9114), ("x29", 0x7000)]);
    assert_eq!(pcs(&stack), [0x9004, 0x9114, 0x9224, START + 0x310]);
    let found: Vec<_> = stack.frames.iter().map(|frame| frame.found).collect();
    assert_eq!(found[1..], [Found::ReturnAddress, Found::FramePointer, Found::FramePointer]);
    assert_eq!(stack.frames[1].cfa, None, "the record may lie anywhere in the frame");
    assert_eq!(stack.end, End::Unknown { pc: START + 0x310, register: Some("sp") });
    assert_eq!(stack.first_guess(), Some(1));

    // In a function with a record the link register holds where an earlier call returned to.
    let stack = made.stack(&[("pc", 0x9228), ("sp", 0x7020), ("x30", 0x9224), ("x29", 0x7040)]);
    assert_eq!(pcs(&stack), [0x9228, START + 0x310]);
}

#[test]
fn the_link_register_is_weighed_against_the_record() {
    let mut made = made();
    made.code.push(0x9000..0xa000);
    made.bytes(0x9000, &[0x1f, 0x20, 0x03, 0xd5].repeat(0x400));
    // 0x9000 sets up its frame behind another instruction, calls by a register, and returns; 0x9400 calls it.
    made.bytes(0x9004, &[0xfd, 0x7b, 0xbe, 0xa9, 0xfd, 0x03, 0, 0x91]);
    made.bytes(0x9020, &[0x20, 0, 0x3f, 0xd6]);
    made.bytes(0x9040, &[0xc0, 0x03, 0x5f, 0xd6]);
    made.bytes(0x9400, &call(0x9400, 0x9000));
    made.bytes(0x9500, &call(0x9500, 0x9400));
    made.words(0x7000, &[0x7020, 0x9404]);
    made.words(0x7020, &[0, 0x9504]);
    let callers = |pc, link, sp, fp| {
        let stack = made.stack(&[("pc", pc), ("x30", link), ("sp", sp), ("x29", fp)]);
        (stack.frames[0].cfa, pcs(&stack)[1..].to_vec())
    };
    let both = vec![0x9404, 0x9504];
    assert_eq!(callers(0x9004, 0x9404, 0x7020, 0x7020), (Some(0x7020), both.clone()), "before the frame is set up");
    assert_eq!(callers(0x9008, 0x9404, 0x7000, 0x7020), (Some(0x7020), both.clone()), "within that");
    assert_eq!(callers(0x9010, 0x9404, 0x7000, 0x7000), (None, both.clone()), "before it calls");
    assert_eq!(callers(0x9024, 0x9024, 0x7000, 0x7000), (None, both.clone()), "when the call has returned");
    assert_eq!(callers(0x9030, 0x9024, 0x7000, 0x7000), (None, both.clone()), "later");
    assert_eq!(callers(0x9040, 0x9404, 0x7020, 0x7020), (Some(0x7020), both), "when it returns");
}

#[test]
fn a_handler_without_tables_returns_to_the_kernels_code() {
    let mut made = made();
    made.code.push(0x9000..0xa000);
    made.bytes(0x9800, &[0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4]);
    let registers: Vec<u64> = (0..31).chain([0x6000, START + 0x300]).collect();
    made.words(0x7000 + 312, &registers);
    let stack = made.stack(&[("pc", 0x9000), ("sp", 0x7000), ("x30", 0x9800), ("x29", 0)]);
    assert_eq!((pcs(&stack), stack.end), (vec![0x9000, 0x9800, START + 0x300], End::Outermost));
}

#[test]
fn a_call_through_a_linkage_table_leads_to_the_function() {
    let mut made = made();
    made.code.push(0x9000..0xa000);
    // adrp x16, 0x8000; ldr x17, [x16, #0x10]; add x16, x16, #0x10; br x17: jumps to 0x9100
    let linkage: [u32; 4] = [0xf000_0000 | 0x1f_ffff << 5 & 0xff_ffe0 | 0x10, 0xf940_0a11, 0x9100_4210, 0xd61f_0220];
    made.bytes(0x9c00, &linkage.map(u32::to_le_bytes).concat());
    made.words(0x8010, &[0x9100]);
    made.bytes(0x9b00, &call(0x9b00, 0x9c00));
    made.bytes(0x9b80, &[0x20, 0, 0x3f, 0xd6]);
    made.words(0x7000, &[0, 0x9b84]);
    // Without the table the call would lead elsewhere, and the record be likelier.
    let stack = made.stack(&[("pc", 0x9120), ("sp", 0x7000), ("x30", 0x9b04), ("x29", 0x7000)]);
    assert_eq!(pcs(&stack), [0x9120, 0x9b04, 0x9b84]);
    made.words(0x8010, &[0x9300]);
    let stack = made.stack(&[("pc", 0x9120), ("sp", 0x7000), ("x30", 0x9b04), ("x29", 0x7000)]);
    assert_eq!(pcs(&stack), [0x9120, 0x9b84]);
}
