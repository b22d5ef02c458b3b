//! UCX's workers and the endpoints of libfabric's providers, made up by each layout that is carried, and changed.

use readers::libfabric;
use readers::record::Record;
use readers::ucx::tests::{ABI, Memory, REQUEST, WORKER, process};
use readers::ucx::{Native, UcxLayout, Workers};
use target::address::TargetAddr;

use crate::edits;

pub fn ucx(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let mut layouts = UcxLayout::shipped(ABI);
    let layout = layouts.swap_remove(usize::from(*first) % layouts.len());
    let mut memory = process(&layout);
    edits::apply(&mut memory.bytes, memory.base, rest);
    let target = memory.target();
    let worker = TargetAddr::new(WORKER);
    let workers = Workers { at: vec![worker], layout };
    let (messages, _) = workers.arrived(&target, worker);
    assert!(messages.len() < 1 << 17);
    let _ = workers.waiting(&target);
    let mut buffer = Vec::new();
    if let Ok(record) = Record::read(&target, TargetAddr::new(REQUEST), workers.layout.request.size, &mut buffer) {
        let _ = (Native::of(&workers.layout, &record, true), Native::of(&workers.layout, &record, false));
    }
    edits::read_count(&target, 1 << 20);
}

pub fn libfabric(data: &[u8]) {
    let change = |memory: &mut Memory, used: u64, data: &[u8]| {
        let used = usize::try_from(used).unwrap_or(0).min(memory.bytes.len());
        edits::apply(&mut memory.bytes[..used], memory.base, data);
    };
    libfabric::tests::damage::fuzz(data, &change);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let heads = (0..32_u8).flat_map(|number| [number, number.wrapping_mul(41)]).collect::<Vec<u8>>();
    heads.chunks(2).zip(edits::seeds(32)).map(|(head, change)| [head, &change].concat()).collect()
}
