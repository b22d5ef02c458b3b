//! The blocks and functions around a place in the code.

use std::rc::Rc;

use gimli::constants as dw;

use crate::die::Die;
use crate::frame::Context;
use crate::limits::{DEEPEST, MOST_FRAMES};
use crate::locate::{Subject, computed, frame_base};

/// The function of a frame and the blocks in it that have its program counter, from the outside; also functions that were
/// inlined.
pub(crate) fn blocks(context: &Context) -> Vec<Die> {
    let Some(function) = context.function.clone() else { return Vec::new() };
    let mut found = vec![function];
    while found.len() < 4 * DEEPEST {
        let Some(last) = found.last() else { break };
        let inner = last.child(context.end(), |die, entry| {
            let is_block = matches!(
                entry.tag(),
                dw::DW_TAG_lexical_block
                    | dw::DW_TAG_inlined_subroutine
                    | dw::DW_TAG_try_block
                    | dw::DW_TAG_catch_block
                    | dw::DW_TAG_with_stmt
            );
            (is_block && die.has_code_at(entry, context.facts.pc)).then(|| die.clone())
        });
        match inner {
            Some(inner) => found.push(inner),
            None => break,
        }
    }
    found
}

/// A frame of a function that others stand in: what its variables depend on, and its blocks from the inside.
pub(crate) struct Host {
    pub context: Rc<Context>,
    pub blocks: Vec<Die>,
}

/// Whether an entry is the function, or an instance of it.
fn is_instance(die: &Die, function: &Die) -> bool {
    die.origins().any(|one| one == *function)
}

/// The frame of the function `outer` that is around the frame of a function that stands in it: by the static link that the
/// compiler has written down; else the only one there is.
pub(crate) fn host(context: &Rc<Context>, own_blocks: &[Die], outer: &Die) -> Option<Host> {
    let outer = outer.first_declared();
    // Where the inner function was inlined into the outer one they share a frame.
    let instance = |die: &Die| is_instance(die, &outer);
    if let Some(at) = own_blocks.iter().position(instance) {
        return Some(Host { context: context.clone(), blocks: own_blocks.get(at..)?.to_vec() });
    }
    let link = context.function.as_ref().and_then(|function| function.attribute(dw::DW_AT_static_link));
    let link = link.map(|(die, value)| computed(context, &die, value, Subject::default()));
    let base = match link {
        // gfortran describes a link that it has not stored.
        Some(Ok(base)) => Some(base).filter(|base| *base != 0),
        // It is written down and lost here.
        Some(Err(_)) => return None,
        None => None,
    };
    let mut found: Option<Host> = None;
    let mut next = context.caller();
    for _ in 0..MOST_FRAMES {
        let Some(frame) = next else { break };
        let mut inside = blocks(&frame);
        inside.reverse();
        if let Some(at) = inside.iter().position(instance) {
            let one = Host { context: frame.clone(), blocks: inside.split_off(at) };
            match base {
                Some(base) if frame_base(&frame).ok() == Some(base) => return Some(one),
                Some(_) => {}
                None if found.is_some() => return None,
                None => found = Some(one),
            }
        }
        next = frame.caller();
    }
    found
}
