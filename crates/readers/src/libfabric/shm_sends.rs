//! Sends of shm (prov/shm/src/smr_{msg,ep}.c, 2.5 and 2.6): in a pool, without an order. Each announcement leads back to its send.
//! Earlier releases have them elsewhere (`shm_answers`).

use super::endpoint::behind;
use super::layout::{Layout, ShmSends};
use super::{Listed, Number, Send, TAGGED, given, part_of, pieces, pools, shm_answers};
use crate::record::Record;
use layouts::FieldKind;
use target::address::TargetAddr;
use target::{Reason, Target};

/// Those of an endpoint.
///
/// # Errors
/// A sentence, where the endpoint does not lead to them.
pub fn read(target: &dyn Target, layout: &Layout, endpoint: TargetAddr) -> Result<Listed<Send>, Reason> {
    if let Some(shapes) = &layout.shm_answers {
        return shm_answers::read(target, shapes, endpoint);
    }
    let shapes = part_of(layout, &layout.shm_sends, "shm's sends")?;
    let pool = behind(target, endpoint, shapes.endpoint.pool.offset, "pool of what is not done")?;
    let objects = pools::in_use(target, &shapes.pool, pool)?;
    let processes = behind(target, endpoint, shapes.endpoint.processes.offset, "processes")?;
    Ok(Listed::each(objects, "a send", |at| send(target, shapes, processes, at)))
}

fn send(target: &dyn Target, shapes: &ShmSends, processes: TargetAddr, at: TargetAddr) -> Result<Option<Send>, Reason> {
    let (pending, header) = (&shapes.pending, &shapes.header);
    let record = Record::owned(target, at, pending.size)?;
    if record.uint(pending.kind) != shapes.send {
        return Ok(None);
    }
    let command = Record::owned(target, record.pointer(pending.command), header.size)?;
    let context = record.pointer(pending.context);
    if command.uint(header.operation) != TAGGED || context.is_null() {
        return Ok(None);
    }
    if command.pointer(header.sender) != at {
        return Err(Reason::new("its announcement leads to another one"));
    }
    let (buffer, _) = pieces(target, record.address_of(pending.pieces), record.uint(pending.count))?;
    Ok(Some(Send {
        destination: shm_answers::destination(
            target,
            &shapes.processes,
            &shapes.process,
            processes,
            command.uint(header.process),
        )?,
        tag: command.uint(header.tag),
        context: given(context)?,
        buffer,
        length: command.uint(header.length),
        number: Some(Number::OfProcess(at.get())),
        in_order: false,
    }))
}

/// By what a message names its send. `context`: what shm has of the message.
pub fn number(target: &dyn Target, layout: &Layout, context: TargetAddr) -> Option<Number> {
    if let Some(shapes) = &layout.shm_answers {
        return shm_answers::number(target, shapes, context);
    }
    let shapes = layout.shm_sends.as_ref()?;
    let slot = shapes.arrived.command;
    if context.is_null() || slot.kind != FieldKind::Pointer {
        return None;
    }
    let command = slot.read_pointer(target, context).ok()?;
    let sender = shapes.header.sender.read_pointer(target, command).ok()?;
    (!sender.is_null()).then_some(Number::OfProcess(sender.get()))
}
