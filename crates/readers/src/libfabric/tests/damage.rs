//! What damage does.

use super::cxi::cxi;
use super::providers::{Maker, PROVIDERS};
use super::{ABI, BASE, Made, sends};
use crate::libfabric::Fabric;
use crate::libfabric::layout::Layout;
use crate::ucx::tests::Memory;
use target::address::TargetAddr;

/// Providers, and that which was tried on nothing else.
fn makers() -> impl Iterator<Item = (&'static str, Maker)> {
    PROVIDERS.into_iter().chain([("cxi", (|made| Some((cxi(made)?, false, true))) as Maker)])
}

/// An endpoint of which `change` has changed the memory that is used, to be read.
fn read(layout: &Layout, (name, make): (&str, Maker), change: &mut dyn FnMut(&mut Memory, u64)) -> Option<()> {
    use target::Target;
    let mut made = Made::new(layout);
    let (endpoint, ..) = make(&mut made)?;
    sends::add(&mut made, name, endpoint);
    change(&mut made.memory, made.next - BASE);
    let target = made.memory.target();
    if let Ok(queues) = Fabric::new(&target).queues(TargetAddr::new(endpoint)) {
        assert!(queues.receives.found.len() < 1 << 17 && queues.messages.found.len() < 1 << 17);
        assert!(queues.sends.found.len() < 1 << 17);
    }
    assert!(target.reads() < 1 << 20);
    let _ = target.read_pointer(TargetAddr::new(endpoint));
    Some(())
}

/// How an input changes memory, of which so many bytes are used.
pub type Change<'c> = &'c dyn Fn(&mut Memory, u64, &[u8]);

/// An endpoint of the layout and provider that the input says, which `change` damages; what a fuzzer calls.
pub fn fuzz(data: &[u8], change: Change<'_>) {
    let [first, second, rest @ ..] = data else { return };
    let layouts = Layout::shipped(ABI);
    let makers: Vec<_> = makers().collect();
    let maker = makers[usize::from(*second) % makers.len()];
    let layout = &layouts[usize::from(*first) % layouts.len()];
    let _ = read(layout, maker, &mut |memory, used| change(memory, used, rest));
}

#[test]
fn damage_ends_in_a_reason() {
    let layouts = Layout::shipped(ABI);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for layout in layouts.iter().step_by(2).chain(layouts.last()) {
        for maker in makers() {
            for _ in 0..40 {
                let mut change = |memory: &mut Memory, used: u64| {
                    let words = used / 8;
                    for _ in 0..=random(24) {
                        let at = BASE + 8 * random(words);
                        // Zero, all ones, a number, or an address of this memory.
                        let value = [0, u64::MAX, random(1 << 20), BASE + 8 * random(words)][random(4) as usize];
                        memory.put(at, value, 8);
                    }
                };
                if read(layout, maker, &mut change).is_none() {
                    break;
                }
            }
        }
    }
}
