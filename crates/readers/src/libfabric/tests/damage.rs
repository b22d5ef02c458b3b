//! What damage does.

use super::cxi::cxi;
use super::providers::{Maker, PROVIDERS};
use super::{ABI, BASE, Made, sends};
use crate::libfabric::Fabric;
use crate::libfabric::layout::Layout;
use target::Target;
use target::address::TargetAddr;
use target::mock::MockTarget;

/// Providers, and that which was tried on nothing else.
fn makers() -> impl Iterator<Item = (&'static str, Maker)> {
    PROVIDERS.into_iter().chain([("cxi", (|made| Some((cxi(made)?, false, true))) as Maker)])
}

/// An endpoint with what it sends, receives and has got.
fn endpoint<'l>(layout: &'l Layout, (name, make): (&str, Maker)) -> Option<(Made<'l>, TargetAddr)> {
    let mut made = Made::new(layout);
    let (endpoint, ..) = make(&mut made)?;
    sends::add(&mut made, name, endpoint);
    Some((made, TargetAddr::new(endpoint)))
}

/// How many layouts there are, and how many providers.
pub fn count() -> (usize, usize) {
    (Layout::shipped(ABI).len(), makers().count())
}

/// That of the layout and the provider with these numbers; what a fuzzer changes.
pub fn made(layout: usize, provider: usize) -> Option<(MockTarget, TargetAddr)> {
    let layouts = Layout::shipped(ABI);
    let makers: Vec<_> = makers().collect();
    let (made, at) = endpoint(&layouts[layout % layouts.len()], makers[provider % makers.len()])?;
    Some((made.memory.target(), at))
}

/// Reads it, whatever stands there.
pub fn look(target: &dyn Target, endpoint: TargetAddr) {
    if let Ok(queues) = Fabric::new(target).queues(endpoint) {
        assert!(queues.receives.found.len() < 1 << 17 && queues.messages.found.len() < 1 << 17);
        assert!(queues.sends.found.len() < 1 << 17);
    }
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
                let Some((mut made, at)) = endpoint(layout, maker) else { break };
                let words = (made.next - BASE) / 8;
                for _ in 0..=random(24) {
                    let at = BASE + 8 * random(words);
                    // Zero, all ones, a number, or an address of this memory.
                    let value = [0, u64::MAX, random(1 << 20), BASE + 8 * random(words)][random(4) as usize];
                    made.memory.put(at, value, 8);
                }
                let target = made.memory.target();
                look(&target, at);
                assert!(target.reads() < 1 << 20);
            }
        }
    }
}
