//! What cxi has in software.

use super::{ABI, CONTEXT, MESSAGES, Made, RECEIVES, expected};
use crate::libfabric::layout::Layout;
use crate::libfabric::{Fabric, Source};
use target::address::TargetAddr;

/// What software has: the network card's own list is in no memory.
pub fn cxi(made: &mut Made<'_>) -> Option<u64> {
    let layout = made.layout;
    let cxi = layout.cxi.as_ref()?;
    let (endpoint, object, receives) = (made.alloc(0x1000), made.alloc(cxi.object.size), made.alloc(cxi.receives.size));
    let domain = made.domain("cxi");
    made.field(endpoint, layout.endpoint.class, layout.classes.endpoint);
    made.field(endpoint, cxi.endpoint.object, object);
    made.field(object, cxi.object.domain, domain);
    made.field(object, cxi.object.receives, receives);
    made.field(receives, cxi.receives.object, object);
    let mut links = Vec::new();
    for (index, (_, tag, ignore, length)) in (0..).zip(RECEIVES) {
        let at = made.alloc(cxi.request.size);
        made.field(at, cxi.request.kind, cxi.receive as u64);
        made.field(at, cxi.request.tagged, 1);
        made.field(at, cxi.request.tag, tag);
        made.field(at, cxi.request.ignore, ignore);
        made.field(at, cxi.request.context, CONTEXT + 64 * index);
        made.field(at, cxi.request.buffer, 0xb000 + length);
        made.field(at, cxi.request.length, length);
        links.push(at + cxi.request.link.offset as u64);
    }
    // A send is none.
    let send = made.alloc(cxi.request.size);
    made.field(send, cxi.request.kind, cxi.receive as u64 + 1);
    links.push(send + cxi.request.link.offset as u64);
    made.ring(receives + cxi.receives.requests.offset as u64, &links);
    let mut links = Vec::new();
    for (_, tag, data, length) in MESSAGES {
        let at = made.alloc(cxi.message.size);
        made.field(at, cxi.message.bits, tag | 3 << 59);
        made.field(at, cxi.message.data, data);
        made.field(at, cxi.message.length, length);
        links.push(at + cxi.message.link.offset as u64);
    }
    made.ring(receives + cxi.receives.messages.offset as u64, &links);
    Some(endpoint)
}

#[test]
fn what_cxi_has_in_software_is_read_and_never_said_to_be_all() {
    let mut seen = 0;
    for layout in &Layout::shipped(ABI) {
        let mut made = Made::new(layout);
        let Some(endpoint) = cxi(&mut made) else { continue };
        seen += 1;
        let target = made.memory.target();
        let queues = Fabric::new(&target).queues(TargetAddr::new(endpoint)).unwrap();
        let (mut receives, messages) = expected(false, true);
        receives.iter_mut().for_each(|receive| receive.source = Source::NotKept);
        assert_eq!((queues.provider.as_str(), queues.receives.found), ("cxi", receives), "{}", layout.name);
        assert_eq!(queues.messages.found, messages, "{}", layout.name);
        assert!(queues.receives.problem.is_some() && queues.messages.problem.is_some());
    }
    assert!(seen >= 7, "{seen}");
}
