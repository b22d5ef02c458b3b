//! Made-up interpreters of every release of CPython that is read, whose memory the input changes.

#[path = "../../../python/tests/python/made.rs"]
#[allow(dead_code, unused_imports)]
mod made;
#[path = "../../../python/tests/python/shapes.rs"]
#[allow(dead_code, unused_imports)]
mod shapes;
#[path = "../../../python/tests/python/whole.rs"]
#[allow(dead_code, unused_imports)]
mod whole;

use python::add_frames;

use self::made::{BASE, Made};
use self::shapes::SHAPES;
use crate::edits;

pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let mut made = Made::new(SHAPES[usize::from(*first) % SHAPES.len()]);
    whole::usual(&mut made);
    edits::apply(&mut made.heap.bytes, BASE, rest);
    let (target, mut stacks) = made.process();
    let compiled: Vec<usize> = stacks.iter().map(|stack| stack.frames.len()).collect();
    let found = add_frames(&target, &mut stacks);
    edits::read_count(&target, 3_000_000);
    assert!(found.notes.len() < 32, "{:?}", found.notes);
    for (stack, before) in stacks.iter().zip(compiled) {
        // No frame of compiled code is lost.
        assert_eq!(stack.frames.len() - whole::told(stack).len(), before);
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    (0..SHAPES.len() as u8).zip(edits::seeds(24)).map(|(head, change)| [&[head][..], &change].concat()).collect()
}
