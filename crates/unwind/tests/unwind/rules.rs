//! Each kind of rule.

use crate::made::*;
use unwind::{End, Found, Machine, Sections};

const X86: Machine = Machine::X86_64;
const RIP: u8 = 16;
const START: u64 = BIAS + 0x1000;

/// A caller at 0x1800 that was called by nobody.
fn outermost() -> Entry<'static> {
    Entry(0x1800, 0x100, &[UNDEFINED, RIP])
}

/// The stack of code with these rules, called from the outermost frame; on the stack lie 0x11, 0x22, ..., the return address.
fn ruled(instructions: &[u8]) -> unwind::Stack {
    let common = [&[DEF_CFA, 7, 0x20][..], &saved(RIP, 1)].concat();
    let table = table(Kind::EhFrame, RIP, "zR", &common, &[Entry(0x1000, 0x100, instructions), outermost()]);
    let mut made = Made::with(X86, &table);
    made.words(0x7000, &[0x11, 0x22, 0x33, START + 0x810, 0, 0, 0, 0]);
    let stack = made.stack(&[
        ("rip", START + 8),
        ("rsp", 0x7000),
        ("rbp", 0x7018),
        ("rbx", 3),
        ("r12", 12),
        ("rax", 99),
        ("r10", 0x7000),
    ]);
    assert_eq!(pcs(&stack), [START + 8, START + 0x810], "{stack:?}");
    assert_eq!(stack.end, End::Outermost);
    assert_eq!(stack.frames[0].cfa, Some(0x7020));
    assert_eq!(value(&stack, 1, "rsp"), Some(0x7020));
    stack
}

#[test]
fn registers_without_rules_are_as_they_were_if_functions_keep_them() {
    let stack = ruled(&[]);
    let known: Vec<_> = stack.frames[1].registers.iter().collect();
    assert_eq!(known, [(3, 3), (6, 0x7018), (7, 0x7020), (12, 12), (16, START + 0x810)]);
    assert_eq!((stack.frames[0].found, stack.frames[1].found), (Found::Innermost, Found::CallFrameInformation));
    assert!(stack.frames[0].interrupted && !stack.frames[1].interrupted);
    assert_eq!(stack.frames[1].lookup(), START + 0x80f);
}

#[test]
fn rules_say_where_registers_are() {
    assert_eq!(value(&ruled(&saved(3, 4)), 1, "rbx"), Some(0x11));
    assert_eq!(value(&ruled(&[VAL_OFFSET, 3, 4]), 1, "rbx"), Some(0x7000));
    assert_eq!(value(&ruled(&[UNDEFINED, 3]), 1, "rbx"), None);
    assert_eq!(value(&ruled(&[SAME_VALUE, 0]), 1, "rax"), Some(99));
    assert_eq!(value(&ruled(&[REGISTER, 3, 0]), 1, "rbx"), Some(99));
    // The canonical frame address lies on the stack of an expression; DW_OP_lit24, DW_OP_minus.
    assert_eq!(value(&ruled(&[EXPRESSION, 3, 2, 0x48, 0x1c]), 1, "rbx"), Some(0x22));
    assert_eq!(value(&ruled(&[VAL_EXPRESSION, 3, 2, 0x48, 0x1c]), 1, "rbx"), Some(0x7008));
    // DW_OP_addr is of the file. What a register held that is not known, or memory that cannot be read, is not known.
    let address = [&[VAL_EXPRESSION, 3, 9, 3][..], &0x40u64.to_le_bytes()].concat();
    assert_eq!(value(&ruled(&address), 1, "rbx"), Some(BIAS + 0x40));
    assert_eq!(value(&ruled(&[REGISTER, 3, 15]), 1, "rbx"), None);
    assert_eq!(value(&ruled(&saved(3, 5)), 1, "rbx"), None);
    // The canonical frame address as an expression: DW_OP_breg10 0, DW_OP_const1u 32, DW_OP_plus.
    assert_eq!(value(&ruled(&[DEF_CFA_EXPRESSION, 5, 0x7a, 0, 0x08, 0x20, 0x22]), 1, "rsp"), Some(0x7020));
    // And as what memory holds: DW_OP_breg10 0, DW_OP_deref_size 1, DW_OP_const2u, DW_OP_plus.
    let loaded = [DEF_CFA_EXPRESSION, 8, 0x7a, 0, 0x94, 1, 0x0a, 0x0f, 0x70, 0x22];
    assert_eq!(value(&ruled(&loaded), 1, "rsp"), Some(0x7020));
}

#[test]
fn rules_hold_from_their_instruction_on() {
    let changed = [&[advance(8)][..], &saved(3, 4), &[advance(1)], &saved(12, 4)].concat();
    let stack = ruled(&changed);
    assert_eq!((value(&stack, 1, "rbx"), value(&stack, 1, "r12")), (Some(0x11), Some(12)));
}

#[test]
fn the_caller_is_looked_up_at_its_call() {
    // The call is the last instruction of its function; the next one has other rules.
    let common = [&[DEF_CFA, 7, 8][..], &saved(RIP, 1)].concat();
    let entries = [
        Entry(0x1000, 0x100, &[][..]),
        Entry(0x1100, 0x100, &[DEF_CFA, 7, 0x18]),
        Entry(0x1200, 0x100, &[UNDEFINED, RIP]),
        outermost(),
    ];
    let mut made = Made::with(X86, &table(Kind::EhFrame, RIP, "zR", &common, &entries));
    made.words(0x7000, &[START + 0x200, 1, 2, START + 0x810]);
    let stack = made.stack(&[("rip", START), ("rsp", 0x7000)]);
    assert_eq!(pcs(&stack), [START, START + 0x200, START + 0x810]);
    // Interrupted there, it would be the next one.
    assert_eq!(pcs(&made.stack(&[("rip", START + 0x200), ("rsp", 0x7000)])).len(), 1);
}

#[test]
fn debug_frame_is_used_where_eh_frame_says_nothing() {
    let common = [&[DEF_CFA, 7, 8][..], &saved(RIP, 1)].concat();
    let eh_frame = table(Kind::EhFrame, RIP, "zR", &common, &[outermost()]);
    let debug_frame = table(Kind::DebugFrame, RIP, "", &common, &[Entry(0x1000, 0x100, &[DEF_CFA, 7, 0x10])]);
    let mut made = Made::new(X86);
    made.add(Sections {
        eh_frame: Some((0, unwind::section(&eh_frame))),
        debug_frame: Some(unwind::section(&debug_frame)),
        ..Sections::default()
    });
    made.words(0x7000, &[1, START + 0x810]);
    let stack = made.stack(&[("rip", START), ("rsp", 0x7000)]);
    assert_eq!((pcs(&stack), stack.end), (vec![START, START + 0x810], End::Outermost));
}
