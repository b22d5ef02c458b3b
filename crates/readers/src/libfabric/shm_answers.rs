//! Sends of shm until 2.4 (prov/shm/src/smr_{ep,progress}.c, 1.17 to 2.4). Each that waits has a place in a queue of answers, in the
//! order in which they were posted; its receiver is told the place, and answers there.

use super::endpoint::behind;
use super::layout::{ShmAnswers, ShmProcessShape, ShmProcessesShape};
use super::{Listed, Number, Send, Source, TAGGED, given, pieces};
use crate::record::Record;
use target::address::TargetAddr;
use target::{Reason, Target};

/// Processes that shm can talk to (`SMR_MAX_PEERS`).
const MAX_PROCESSES: u64 = 256;

/// Answers of a queue: `tx_attr.size`, which users can set.
const MAX_ANSWERS: u64 = 1 << 18;

/// Those of an endpoint.
///
/// # Errors
/// A sentence, where the endpoint does not lead to them.
pub fn read(target: &dyn Target, shapes: &ShmAnswers, endpoint: TargetAddr) -> Result<Listed<Send>, Reason> {
    let region = behind(target, endpoint, shapes.endpoint.region.offset, "shared memory")?;
    let processes = shapes.region.processes.read_pointer(target, region)?;
    let (places, sends): (Vec<u64>, Vec<TargetAddr>) = awaited(target, shapes, region)?.into_iter().unzip();
    let mut places = places.into_iter();
    Ok(Listed::each(sends, "a send", |at| send(target, shapes, processes, places.next().unwrap_or_default(), at)))
}

/// Each answer that is awaited: its place from the beginning of the shared memory on, and the send.
fn awaited(target: &dyn Target, shapes: &ShmAnswers, region: TargetAddr) -> Result<Vec<(u64, TargetAddr)>, Reason> {
    let (queue, size) = (&shapes.answers, shapes.answer.size as u64);
    let offset = shapes.region.answers.read_uint(target, region)?;
    let at = region.wrapping_add(offset);
    let record = Record::owned(target, at, queue.size)?;
    let (count, mask) = (record.uint(queue.count), record.uint(queue.mask));
    let (read, written) = (record.uint(queue.read), record.uint(queue.written));
    let waiting = written.wrapping_sub(read);
    if !count.is_power_of_two() || count > MAX_ANSWERS || mask != count - 1 || waiting > count {
        return Err(Reason::new(format!("what is at {at} is not a queue of libfabric's answers")));
    }
    if waiting == 0 {
        return Ok(Vec::new());
    }
    let first = offset.wrapping_add(queue.first.offset as u64);
    let bytes = usize::try_from(count * size).unwrap_or(usize::MAX);
    let bytes = target.read_bytes(region.wrapping_add(first), bytes)?;
    let places = (0..waiting).map(|index| read.wrapping_add(index) & mask);
    let one = |index: u64| {
        let start = usize::try_from(index * size).unwrap_or(usize::MAX);
        let bytes = bytes.get(start..).unwrap_or_default();
        let send = Record::new(TargetAddr::NULL, bytes, target.abi()).pointer(shapes.answer.send);
        (first.wrapping_add(index * size), send)
    };
    Ok(places.map(one).collect())
}

fn send(
    target: &dyn Target,
    shapes: &ShmAnswers,
    processes: TargetAddr,
    place: u64,
    at: TargetAddr,
) -> Result<Option<Send>, Reason> {
    let shape = &shapes.waiting;
    let record = Record::owned(target, at, shape.size)?;
    let context = record.pointer(shape.context);
    // What is fetched from another process, too, waits for an answer.
    if record.uint(shape.operation) != TAGGED || context.is_null() {
        return Ok(None);
    }
    if record.uint(shape.answer) != place {
        return Err(Reason::new("its announcement leads to another answer"));
    }
    let (buffer, _) = pieces(target, record.address_of(shape.pieces), record.uint(shape.count))?;
    Ok(Some(Send {
        destination: destination(target, &shapes.processes, &shapes.process, processes, record.uint(shape.process))?,
        tag: record.uint(shape.tag),
        context: given(context)?,
        buffer,
        length: record.uint(shape.length),
        number: Some(Number::OfProcess(place)),
        in_order: true,
    }))
}

/// The number of the process (`fi_addr_t`) that shm calls `number` in the table at `processes`.
pub fn destination(
    target: &dyn Target,
    table: &ShmProcessesShape,
    process: &ShmProcessShape,
    processes: TargetAddr,
    number: u64,
) -> Result<Option<u64>, Reason> {
    if number >= MAX_PROCESSES {
        return Ok(None);
    }
    let here = processes.wrapping_add((table.first.offset + process.address.offset) as u64);
    let here = here.wrapping_add(number * process.size as u64);
    Ok(Source::of(target.read_uint(here, process.address.size as u64)?).address())
}

/// By what a message names its send. `at`: what shm has of the message.
pub fn number(target: &dyn Target, shapes: &ShmAnswers, at: TargetAddr) -> Option<Number> {
    if at.is_null() {
        return None;
    }
    let record = Record::owned(target, at, shapes.came.size).ok()?;
    let place = record.uint(shapes.came.answer);
    let waits = ![shapes.in_line, shapes.injected].contains(&record.uint(shapes.came.way)) && place != 0;
    waits.then_some(Number::OfProcess(place))
}
