//! Sends of the providers that go through shared memory, added to their endpoints; and by what messages name them.

use super::Made;
use super::providers::PROVIDERS;
use super::sends::{SENT, send};
use super::{ABI, field_of};
use crate::libfabric::layout::Layout;
use crate::libfabric::{Fabric, Number, Send};
use target::address::TargetAddr;

pub fn shm(made: &mut Made<'_>, endpoint: u64) -> Option<Vec<Send>> {
    let shapes = made.layout.shm_sends.as_ref()?;
    let (pool, objects) = made.pool(&shapes.pool, shapes.pending.size);
    let processes = made.alloc(shapes.processes.first.offset + 8 * shapes.process.size);
    made.field(endpoint, shapes.endpoint.pool, pool);
    made.field(endpoint, shapes.endpoint.processes, processes);
    let process = processes + shapes.processes.first.offset as u64 + 4 * shapes.process.size as u64;
    made.field(process, shapes.process.address, 2);
    let (pending, header) = (&shapes.pending, &shapes.header);
    for (index, at) in (0..).zip(objects) {
        let command = made.alloc(header.size);
        // The second is the copying of a message.
        made.field(at, pending.kind, if index == 1 { shapes.send + 1 } else { shapes.send });
        made.field(at, pending.command, command);
        made.field(at, pending.context, SENT + 64 * index);
        made.field(at, pending.count, 1);
        made.piece(at + pending.pieces.offset as u64, 1000 + index);
        made.field(command, header.sender, at);
        made.field(command, header.length, 1000 + index);
        made.field(command, header.tag, 60 + index);
        made.field(command, header.process, 4);
        made.field(command, header.operation, 1);
    }
    let number = |at: u64| Some(Number::OfProcess(at));
    Some(vec![send(0, 60, 1000, number(objects[0]), false), send(2, 62, 1002, number(objects[2]), false)])
}

/// Until 2.4: a ring of four answers, of which the last two and the first are awaited.
pub fn shm_answers(made: &mut Made<'_>, endpoint: u64) -> Option<Vec<Send>> {
    let shapes = made.layout.shm_answers.as_ref()?;
    let processes = made.alloc(shapes.processes.first.offset + 8 * shapes.process.size);
    let (size, queue) = (shapes.answer.size as u64, shapes.region.size as u64 + 64);
    let region = made.alloc(shapes.region.size + 64 + shapes.answers.size + 4 * shapes.answer.size);
    made.field(endpoint, shapes.endpoint.region, region);
    made.field(region, shapes.region.processes, processes);
    made.field(region, shapes.region.answers, queue);
    let process = processes + shapes.processes.first.offset as u64 + 4 * shapes.process.size as u64;
    made.field(process, shapes.process.address, 2);
    for (slot, value) in [
        (shapes.answers.count, 4),
        (shapes.answers.mask, 3),
        (shapes.answers.read, 4096 + 2),
        (shapes.answers.written, 4096 + 5),
    ] {
        made.field(region + queue, slot, value);
    }
    let mut expected = Vec::new();
    for (index, place) in (0..).zip([2, 3, 0]) {
        let place = queue + shapes.answers.first.offset as u64 + place * size;
        let at = made.alloc(shapes.waiting.size);
        made.field(region + place, shapes.answer.send, at);
        // The second reads memory of another process.
        made.field(at, shapes.waiting.operation, if index == 1 { 2 } else { 1 });
        made.field(at, shapes.waiting.answer, place);
        made.field(at, shapes.waiting.process, 4);
        made.field(at, shapes.waiting.context, SENT + 64 * index);
        made.field(at, shapes.waiting.tag, 60 + index);
        made.field(at, shapes.waiting.length, 1000 + index);
        made.field(at, shapes.waiting.count, 1);
        made.piece(at + shapes.waiting.pieces.offset as u64, 1000 + index);
        if index != 1 {
            expected.push(send(index, 60 + index, 1000 + index, Some(Number::OfProcess(place)), true));
        }
    }
    Some(expected)
}

/// Eight entries, of which the first six are in use; the own number of the process is 1, its receiver's 3.
pub fn sm2(made: &mut Made<'_>, endpoint: u64) -> Option<Vec<Send>> {
    let shapes = made.layout.sm2_sends.as_ref()?;
    let (entry, entries) = (&shapes.entry, &shapes.entries);
    let stride = (entry.data.offset + 256).next_multiple_of(64).max(entry.size) as u64;
    let (map, addresses) = (made.alloc(shapes.map.size), made.alloc(shapes.addresses.size));
    let (base, part) = (made.alloc(shapes.header.size), 0x400 + 8 * stride);
    let first = made.alloc(usize::try_from(4 * part).unwrap()) - base;
    made.field(map, shapes.map.base, base);
    made.field(base, shapes.header.first, first);
    made.field(base, shapes.header.stride, part);
    let region = |number: u64| base + first + number * part;
    for number in 0..256 {
        let address = if number == 3 { 2 } else { u64::MAX };
        made.memory.put(addresses + shapes.addresses.addresses.offset as u64 + 8 * number, address, 8);
    }
    for (slot, value) in [(shapes.own.map, map), (shapes.own.region, region(1)), (shapes.own.addresses, addresses)] {
        made.field(endpoint, slot, value);
    }
    made.field(endpoint, shapes.own.number, 1);
    let pool = region(1) + 0x100;
    made.field(region(1), shapes.region.entries, 0x100);
    made.field(pool, entries.first, 0x100);
    made.field(pool, entries.stride, stride);
    made.field(pool, entries.count, 8);
    // The two last ones are free.
    made.field(pool, entries.free, 6);
    for (number, next) in [(6, 7), (7, 0xffff)] {
        made.memory.put(pool + entries.next.offset as u64 + 2 * number, next, 2);
    }
    let at = |index: u64| pool + 0x100 + index * stride;
    let copied = shapes.copied.unwrap_or(1);
    // A short one, two that nobody has looked at, one that is received, an answer to another process, and one of no tag.
    for (index, (way, state, operation)) in
        (0..).zip([(0, 0, 1), (copied, 0, 1), (copied, 0, 1), (copied, 9, 1), (copied, 13, 1), (copied, 0, 0)])
    {
        let at = at(index);
        made.field(at, entry.next, -3_i64 as u64);
        made.field(at, entry.way, way);
        made.field(at, entry.state, state);
        made.field(at, entry.operation, operation);
        made.field(at, entry.sender, 1);
        made.field(at, entry.context, SENT + 64 * index);
        made.field(at, entry.tag, 30 + index);
        made.field(at, entry.length, 5000 + index);
        if let Some(pieces) = &shapes.pieces {
            made.field(at + entry.data.offset as u64, pieces.count, 1);
            made.piece(at + (entry.data.offset + pieces.first.offset) as u64, 5000 + index);
        }
    }
    // The receiver's queue: the third, then the second.
    made.field(region(3), shapes.region.queue, 0x20);
    made.memory.put(region(3) + 0x20, at(2) - base, 8);
    made.memory.put(region(3) + 0x28, at(1) - base, 8);
    made.field(at(2), entry.next, at(1) - base);
    if shapes.copied.is_none() {
        return Some(Vec::new());
    }
    let number = |index: u64| Some(Number::given(TargetAddr::new(SENT + 64 * index)));
    let received = Send { destination: None, ..send(3, 33, 5003, number(3), false) };
    Some(vec![send(2, 32, 5002, number(2), true), send(1, 31, 5001, number(1), true), received])
}

/// What shm and sm2 have of a message, behind a shared receive context's entry.
fn of_message(made: &mut Made<'_>, provider: &str, waits: bool) -> Option<(u64, Number)> {
    const NAME: u64 = 0x7f00_4440;
    let layout = made.layout;
    let at = made.alloc(0x2000);
    if provider == "sm2" {
        let shapes = layout.sm2_sends.as_ref()?;
        made.field(at, shapes.arrived.way, if waits { shapes.copied? } else { 0 });
        made.field(at, shapes.arrived.context, NAME);
    } else if let Some(shapes) = &layout.shm_answers {
        made.field(at, shapes.came.way, if waits { shapes.injected + 1 } else { shapes.injected });
        made.field(at, shapes.came.answer, NAME);
    } else {
        let shapes = layout.shm_sends.as_ref()?;
        let command = made.alloc(shapes.header.size);
        made.field(at, shapes.arrived.command, command);
        made.field(command, shapes.header.sender, if waits { NAME } else { 0 });
    }
    Some((at, Number::OfProcess(NAME)))
}

#[test]
fn a_message_whose_send_waits_names_it() {
    for (name, make) in PROVIDERS.into_iter().filter(|(name, _)| matches!(*name, "shm" | "sm2")) {
        let mut seen = 0;
        for layout in &Layout::shipped(ABI) {
            for waits in [true, false] {
                let mut made = Made::new(layout);
                let Some((endpoint, ..)) = make(&mut made) else { continue };
                let Some((came, number)) = of_message(&mut made, name, waits) else { continue };
                let first = first_message(&made, endpoint, name);
                made.memory.put(first, came, 8);
                let queues = Fabric::new(&made.memory.target()).queues(TargetAddr::new(endpoint)).unwrap();
                let found: Vec<_> = queues.messages.found.iter().map(|message| message.number).collect();
                assert_eq!(found, [waits.then_some(number), None, None], "{name} by {}", layout.name);
                assert_eq!(queues.named_by_given, name == "sm2", "{name} by {}", layout.name);
                seen += 1;
            }
        }
        assert!(seen >= 18, "{name}: {seen}");
    }
}

/// Where the first message has what its provider keeps of it.
fn first_message(made: &Made<'_>, endpoint: u64, provider: &str) -> u64 {
    let (layout, target) = (made.layout, made.memory.target());
    let slot = match provider {
        "sm2" => layout.sm2.as_ref().unwrap().shared,
        _ => layout.shm.as_ref().unwrap().shared,
    };
    let context = field_of(&target, endpoint, slot);
    let (messages, entry, shape) = match (&layout.shared, &layout.shm_queue) {
        (Some(shared), _) => (shared.lists.messages, shared.whole.entry, shared.entry.peer_context),
        (None, Some(shm)) => (shm.lists.messages, shm.whole.entry, shm.entry.peer_context),
        (None, None) => unreachable!(),
    };
    field_of(&target, context, crate::record::Slot { size: 8, ..messages }) + (entry.offset + shape.offset) as u64
}
