//! Made-up interpreters some of whose bytes or words are others: nothing panics or runs on, and what is told has a measure.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use python::add_frames;
use target::Target;

use super::made::Made;
use super::shapes::SHAPES;
use super::whole::{Place, told, usual};

/// A change: where, in parts of the whole, how wide, and to what.
type Change = (f64, bool, u64);

fn value() -> impl Strategy<Value = u64> {
    let near = super::made::BASE..super::made::BASE + 0x8000;
    prop_oneof![any::<u64>(), near, 0..4096_u64, Just(u64::MAX), Just(i64::MAX as u64), Just(1 << 31), Just(0)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_interpreters_do_no_harm(
        which in 0..SHAPES.len(),
        changes in proptest::collection::vec((0.0..1.0_f64, any::<bool>(), value()), 1..40),
    ) {
        let mut made = Made::new(SHAPES[which]);
        let places = usual(&mut made);
        damage(&mut made.heap.bytes, &changes);
        let (target, mut stacks) = made.process();
        let compiled: Vec<usize> = stacks.iter().map(|stack| stack.frames.len()).collect();
        let begin = Instant::now();
        let found = add_frames(&target, &mut stacks);
        prop_assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        prop_assert!(target.reads() < 3_000_000);
        prop_assert!(found.notes.len() < 32, "{:?}", found.notes);
        prop_assert!(target.symbol("_PyRuntime").is_ok());
        for ((stack, before), wanted) in stacks.iter().zip(compiled).zip(&places) {
            let frames = told(stack);
            // No frame of compiled code is lost.
            prop_assert_eq!(stack.frames.len() - frames.len(), before);
            for (function, file, _) in &frames {
                prop_assert!(function.chars().count() <= 4097 && file.chars().count() <= 4097);
            }
            // A thread of which nothing is said to be unknown has all of its frames, and in their order.
            let silent = found.notes.is_empty() && !frames.is_empty();
            let functions = |places: &[Place]| places.len();
            prop_assert!(!silent || functions(&frames) <= wanted.len() + 4);
        }
        for exception in &found.exceptions {
            prop_assert!(exception.name.len() <= 256 && exception.line.is_none_or(|line| line > 0));
        }
    }
}

fn damage(bytes: &mut [u8], changes: &[Change]) {
    for (part, wide, value) in changes {
        let size = if *wide { 8 } else { 1 };
        let at = ((bytes.len() - 8) as f64 * part) as usize;
        let at = if *wide { at / 8 * 8 } else { at };
        bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
}
