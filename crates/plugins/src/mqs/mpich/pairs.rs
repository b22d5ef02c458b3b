//! Pairs what the plug-in lists with the entries of the lists, and corrects it by them.

use std::collections::HashMap;

use super::communicators::Object;
use super::doubt;
use super::lists::{Entry, Lists};
use super::requests::Facts;
use crate::mqs::dialect::{Datatype, Evidence};
use model::{Operation, OperationStatus, Queue, QueueKind, QueueReport};

/// The plug-in compares context ids by so many bits (`fetch_int16`).
const COMPARED: u64 = 0xffff;
/// The bit of a context id that marks collectives (`MPIR_CONTEXT_SUFFIX_MASK`, src/include/mpir_contextid.h).
const COLLECTIVE: u64 = 1;
/// `MPI_ANY_SOURCE` (src/include/mpi.h.in).
const ANY_SOURCE: i64 = -2;

/// Why a length, datatype or buffer is not known.
const NOT_KEPT: &str = "the request does not keep its data in a place that could be verified";

/// Corrects all queues that the plug-in has read to their ends.
pub fn correct(report: &mut QueueReport, evidence: &Evidence<'_>, objects: &[Option<Object>], lists: &Lists) {
    let mut corrector = Corrector { evidence, lists, datatypes: HashMap::new() };
    for (number, (communicator, object)) in report.communicators.iter_mut().zip(objects).enumerate() {
        for (class, queue) in QueueKind::ALL.into_iter().zip(communicator.queues_mut()) {
            match object {
                Some(object) => corrector.queue(queue, class, object, number),
                None => doubt(queue, "the communicator's object could not be read again".to_owned()),
            }
        }
    }
}

struct Corrector<'a> {
    evidence: &'a Evidence<'a>,
    lists: &'a Lists,
    datatypes: HashMap<u64, Datatype>,
}

impl Corrector<'_> {
    fn queue(&mut self, queue: &mut Queue, class: QueueKind, object: &Object, number: usize) {
        if queue.state != model::QueueState::Ok {
            return;
        }
        let entries = self.lists.of(class, number);
        // By which context id the plug-in looks, and which one the library notes (src/mpid, `MPII_SENDQ_REMEMBER`):
        // from 4.0.3 on these differ for sends on intercommunicators.
        let looked_for = if class == QueueKind::PendingSends { object.send_context } else { object.receive_context };
        let noted = if self.lists.noted_apart { object.receive_context } else { looked_for };
        let same = |one: u64, other: u64| one & COMPARED == other & COMPARED;
        let listed: Vec<&Entry> = entries.iter().filter(|entry| same(entry.context, looked_for)).collect();
        let left_out =
            entries.iter().filter(|entry| entry.context == noted && !same(entry.context, looked_for)).count();
        let mut operations = std::mem::take(&mut queue.operations);
        if operations.len() != listed.len() || !operations.iter().zip(&listed).all(|(op, entry)| is_of(op, entry)) {
            let (theirs, ours) = (operations.len(), listed.len());
            queue.operations = operations;
            doubt(queue, format!("the plug-in lists {theirs} operations that differ from the {ours} in memory"));
            return;
        }
        let mut unreadable = None;
        let mut kept = operations.iter().zip(&listed).map(|(_, entry)| entry.context == noted).collect::<Vec<_>>();
        for ((operation, entry), kept) in operations.iter_mut().zip(&listed).zip(&mut kept) {
            match self.lists.requests.read(self.evidence.target, entry, class, object) {
                // A persistent request that has not been started waits for nothing.
                Ok(facts) if facts.persistent == Some(false) => *kept = false,
                // On an intercommunicator the context id is one that the other side chose; another communicator of this
                // process may have the same.
                Ok(facts)
                    if class == QueueKind::PendingSends && facts.comm.is_some_and(|comm| comm != object.address) =>
                {
                    *kept = false;
                }
                Ok(facts) => self.operation(operation, entry, &facts, class),
                Err(reason) => unreadable = unreadable.or(Some(reason)),
            }
        }
        let mut places = kept.iter();
        operations.retain(|_| places.next().copied().unwrap_or(true));
        if self.lists.is_backwards(class) {
            operations.reverse();
        }
        queue.operations = operations;
        if let Some(reason) = unreadable {
            doubt(queue, format!("requests could not be read again, so that their status is not known: {reason}"));
        }
        if left_out > 0 {
            doubt(
                queue,
                format!(
                    "the plug-in leaves out {left_out} {}: it looks for the context id of the other side of this \
                     intercommunicator; the built-in reader lists them (--source builtin)",
                    class.name()
                ),
            );
        }
    }

    fn operation(&mut self, operation: &mut Operation, entry: &Entry, facts: &Facts, class: QueueKind) {
        operation.request = Some(entry.request);
        operation.persistent = facts.persistent.is_some();
        operation.any_source = class == QueueKind::PendingReceives && entry.rank == ANY_SOURCE;
        operation.desired_local_rank = Some(entry.rank).filter(|rank| *rank >= 0);
        operation.desired_global_rank = None;
        operation.tag_wild = entry.tag < 0;
        operation.desired_tag = Some(entry.tag).filter(|tag| *tag >= 0);
        operation.internal = facts.context.is_some_and(|context| context & COLLECTIVE != 0);
        // "Non-blocking send", whatever it is.
        operation.extra_text.clear();
        let pending =
            class == QueueKind::UnexpectedMessages || !self.lists.noted_apart && class == QueueKind::PendingReceives;
        operation.status =
            if facts.complete && !pending { OperationStatus::Complete } else { OperationStatus::Pending };
        self.data(operation, entry, facts, class);
        let complete = operation.status == OperationStatus::Complete;
        let actual = match (class, facts.received) {
            (QueueKind::PendingReceives, Some((source, tag, bytes))) if complete => {
                (Some(source).filter(|rank| *rank >= 0), Some(tag).filter(|tag| *tag >= 0), bytes)
            }
            (QueueKind::PendingReceives, _) => (None, None, None),
            _ => (operation.desired_local_rank, operation.desired_tag, operation.desired_length),
        };
        (operation.actual_local_rank, operation.actual_tag, operation.actual_length) = actual;
        operation.actual_global_rank = None;
        if self.evidence.known.is_empty() && operation.desired_local_rank.is_some() {
            operation
                .not_known("desired_global_rank", "the plug-in knows no world ranks, and no communicator was read");
        }
        if !operation.persistent
            && (self.lists.noted_apart && class == QueueKind::PendingSends || class == QueueKind::PendingReceives)
        {
            operation.not_known(
                "persistent",
                "a started persistent request is in the list with its transfer, which is a request like others",
            );
        }
        if self.lists.noted_apart && class != QueueKind::UnexpectedMessages && facts.context.is_none() {
            operation.not_known(
                "internal",
                "MPICH notes the operations of collectives like others, and this request does not keep which it is",
            );
        }
    }

    /// Buffer, count, datatype and length: the plug-in gives a count for a length.
    fn data(&mut self, operation: &mut Operation, entry: &Entry, facts: &Facts, class: QueueKind) {
        let (buffer, count) = match (class, entry.data, facts.data) {
            (QueueKind::UnexpectedMessages, _, _) => (facts.arrived_at, None),
            (_, Some((buffer, count)), _) => (Some(buffer), u64::try_from(count).ok()),
            (_, None, data) => data.unzip(),
        };
        let datatype = facts.datatype.map(|handle| self.datatype(handle)).unwrap_or_default();
        operation.buffer = buffer.filter(|buffer| *buffer != 0);
        operation.system_buffer = class == QueueKind::UnexpectedMessages && operation.buffer.is_some();
        let bytes = |count: Option<u64>| match (count, datatype.bytes) {
            (Some(0), _) => Some(0),
            (Some(count), Some(bytes)) => count.checked_mul(bytes),
            _ => None,
        };
        if class == QueueKind::UnexpectedMessages {
            // What has arrived is counted in bytes; a message to oneself still lies in the sender's buffer.
            operation.count = None;
            operation.desired_length = facts.arrived.or_else(|| bytes(facts.data.map(|(_, count)| count)));
            if operation.desired_length.is_none() {
                operation.not_known("desired_length", "MPICH notes no length of messages that have arrived");
            }
            return;
        }
        operation.count = count;
        operation.datatype = datatype.name.clone().map(Into::into);
        operation.desired_length = bytes(count);
        let unknown = match (count, facts.datatype) {
            (None, _) => Some(NOT_KEPT.to_owned()),
            (_, None) => Some(format!("the plug-in gives a number of elements without their datatype; {NOT_KEPT}")),
            (_, Some(handle)) if operation.desired_length.is_none() => {
                Some(format!("the size of the datatype {handle:#x} is not known"))
            }
            _ => None,
        };
        let Some(unknown) = unknown else { return };
        if facts.datatype.is_none() {
            operation.not_known("datatype", unknown.clone());
        }
        if buffer.is_none() {
            operation.not_known("buffer", unknown.clone());
        }
        if operation.desired_length.is_none() {
            operation.not_known("desired_length", unknown);
        }
    }

    fn datatype(&mut self, handle: u64) -> Datatype {
        let datatypes = self.evidence.datatypes;
        let found = self.datatypes.entry(handle).or_insert_with(|| {
            let known = datatypes.datatype(handle).unwrap_or_default();
            Datatype { bytes: known.bytes.or(builtin_size(handle)), ..known }
        });
        found.clone()
    }
}

/// The size in bytes of a predefined datatype stands in its handle (`MPIR_Datatype_get_basic_size`,
/// src/include/mpir_datatype.h, 3.0 to 5.0).
fn builtin_size(handle: u64) -> Option<u64> {
    (handle >> 26 == 0x13).then_some(handle >> 8 & 0xff)
}

/// Whether the plug-in means this entry: in what it reads rightly, both must be equal.
fn is_of(operation: &Operation, entry: &Entry) -> bool {
    let tag = if operation.tag_wild { entry.tag < 0 } else { operation.desired_tag == Some(entry.tag) };
    let buffer = match entry.data {
        Some((buffer, _)) => operation.buffer.unwrap_or(0) == buffer,
        None => true,
    };
    tag && buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_predefined_datatypes_stand_in_their_handles() {
        // MPI_INT, MPI_DOUBLE, MPI_BYTE; then one of 5.0's internal ones, a pair type and a derived one.
        let sizes = [0x4c00_0405, 0x4c00_080b, 0x4c00_010d, 0x4c83_080b, 0x8c00_0001, 0xcc00_0000].map(builtin_size);
        assert_eq!(sizes, [Some(4), Some(8), Some(1), Some(8), None, None]);
    }
}
