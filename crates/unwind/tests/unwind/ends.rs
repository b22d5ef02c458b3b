//! Why stacks end.

use crate::made::*;
use unwind::{Code, End, Machine, Memory, Registers};

const START: u64 = BIAS + 0x1000;

fn made(instructions: &[u8]) -> Made {
    let common = [&[DEF_CFA, 7, 8][..], &saved(16, 1)].concat();
    Made::with(Machine::X86_64, &table(Kind::EhFrame, 16, "zR", &common, &[Entry(0x1000, 0x100, instructions)]))
}

fn end(instructions: &[u8], words: &[u64]) -> End {
    let mut made = made(instructions);
    made.words(0x7000, words);
    let stack = made.stack(&[("rip", START), ("rsp", 0x7000), ("rbp", 0x7000)]);
    assert!(stack.frames.len() < 64);
    stack.end
}

#[test]
fn each_end_is_told() {
    assert_eq!(end(&[UNDEFINED, 16], &[]), End::Outermost);
    assert_eq!(end(&[], &[0]), End::Outermost);
    assert_eq!(end(&[], &[]), End::NoMemory { address: 0x7000 });
    assert_eq!(end(&[], &[START + 0x200]), End::NoTables { pc: START + 0x200 });
    assert_eq!(end(&[], &[0x55]), End::NotCode { pc: 0x55 });
    assert_eq!(end(&[DEF_CFA, 3, 0], &[]), End::Unknown { pc: START, register: Some("rbx") });
    assert_eq!(end(&[DEF_CFA, 40, 0], &[]), End::Unknown { pc: START, register: None });
    assert_eq!(end(&[0x3f], &[]), End::Damaged { pc: START });
    assert_eq!(end(&[SAME_VALUE, 16], &[]), End::Damaged { pc: START });
    assert_eq!(end(&[DEF_CFA, 6, 8], &[START + 1]), End::Loop { pc: START + 1 });
    let stack = made(&[]).stack(&[]);
    assert_eq!((stack.frames.len(), stack.end), (0, End::Unknown { pc: 0, register: Some("rip") }));
}

#[test]
fn expressions_end() {
    // DW_OP_skip to itself; one without a value; one that reads nothing; DW_OP_fbreg, which no rule may have.
    assert_eq!(end(&[DEF_CFA_EXPRESSION, 3, 0x2f, 0xfd, 0xff], &[]), End::Damaged { pc: START });
    assert_eq!(end(&[DEF_CFA_EXPRESSION, 0], &[]), End::Damaged { pc: START });
    assert_eq!(end(&[DEF_CFA_EXPRESSION, 2, 0x31, 0x06], &[]), End::NoMemory { address: 1 });
    assert_eq!(end(&[DEF_CFA_EXPRESSION, 2, 0x91, 0], &[]), End::Damaged { pc: START });
    assert_eq!(end(&[DEF_CFA_EXPRESSION, 2, 0x73, 0], &[]), End::Unknown { pc: START, register: Some("rbx") });
}

#[test]
fn no_more_frames_are_made_than_asked_for() {
    let mut made = made(&[]);
    made.words(0x7000, &[START + 1; 100]);
    let mut registers = Registers::new(Machine::X86_64);
    registers.set(16, START);
    registers.set(7, 0x7000);
    for most in [0, 1, 50] {
        let stack = unwind::unwind(registers.clone(), Machine::X86_64, &made, &made, most);
        assert_eq!((stack.frames.len(), stack.end), (most, End::Limit));
    }
    let stack = unwind::unwind(registers.clone(), Machine::Aarch64, &made, &made, 1);
    assert_eq!(stack.frames.len(), 0, "they are another machine's");
    let code: &dyn Code = &made;
    let memory: &dyn Memory = &made;
    assert_eq!(unwind::unwind(registers, Machine::X86_64, code, memory, 1000).end, End::NoMemory { address: 0x7320 });
}

#[test]
fn ends_are_sentences() {
    let told = [
        (End::Outermost, "the last frame has no caller"),
        (End::NoMemory { address: 16 }, "the memory at 0x10 cannot be read"),
        (End::NoTables { pc: 16 }, "the code at 0x10 has no unwinding tables"),
        (End::NotCode { pc: 16 }, "the return address 0x10 is not in code"),
        (End::Unknown { pc: 16, register: Some("x9") }, "the frame at 0x10 is found by x9, whose value is not known"),
        (
            End::Unknown { pc: 16, register: None },
            "the frame at 0x10 is found by a special register, whose value is not known",
        ),
        (End::Damaged { pc: 16 }, "the unwinding tables for 0x10 cannot be used"),
        (End::Loop { pc: 16 }, "the frame at 0x10 is not above those that it called"),
        (End::Limit, "more frames were not asked for"),
    ];
    for (end, sentence) in told {
        assert_eq!(end.to_string(), sentence);
    }
}
