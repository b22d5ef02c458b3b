//! What damage does.

use super::cxi::cxi;
use super::providers::{Maker, PROVIDERS};
use super::{ABI, BASE, Made, sends};
use crate::libfabric::Fabric;
use crate::libfabric::layout::Layout;
use target::address::TargetAddr;

#[test]
fn damage_ends_in_a_reason() {
    use target::Target;
    let layouts = Layout::shipped(ABI);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for layout in layouts.iter().step_by(2).chain(layouts.last()) {
        for (name, make) in PROVIDERS.into_iter().chain([("cxi", (|made| Some((cxi(made)?, false, true))) as Maker)]) {
            for _ in 0..40 {
                let mut made = Made::new(layout);
                let Some((endpoint, ..)) = make(&mut made) else { break };
                sends::add(&mut made, name, endpoint);
                let words = (made.next - BASE) / 8;
                for _ in 0..=random(24) {
                    let at = BASE + 8 * random(words);
                    // Zero, all ones, a number, or an address of this memory.
                    let value = [0, u64::MAX, random(1 << 20), BASE + 8 * random(words)][random(4) as usize];
                    made.memory.put(at, value, 8);
                }
                let target = made.memory.target();
                if let Ok(queues) = Fabric::new(&target).queues(TargetAddr::new(endpoint)) {
                    assert!(queues.receives.found.len() < 1 << 17 && queues.messages.found.len() < 1 << 17);
                    assert!(queues.sends.found.len() < 1 << 17);
                }
                assert!(target.reads() < 1 << 20);
                let _ = target.read_pointer(TargetAddr::new(endpoint));
            }
        }
    }
}
