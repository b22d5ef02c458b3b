//! Our own library (crate `mqs-library`) in our own host: it needs no correction, and its lines of text have a fixed form.

use std::path::Path;

use super::dialect::{Dialect, Evidence};
use crate::host::library::exported_functions;
use model::{Communicator, Operation, OperationStatus, Queue, QueueReport, QueueState, Remark, Text};
use mqs_interface::words::{
    ELEMENTS, ELEMENTS_OF, IN_TRANSIT, NOT_KNOWN, OF, PERSISTENT, RECEIVES_ON_STACKS, REQUEST, SENDS_ON_STACKS,
};

/// What our library exports and no other does.
const MARK: &str = "mpi_queues_mqs_library";

/// Whether a plug-in is our own library, under whatever name.
pub fn is_own_library(path: &Path) -> bool {
    exported_functions(path, |name| name == MARK).is_ok_and(|found| !found.is_empty())
}

/// By which line a queue is not known to be whole, and why.
const ON_STACKS: [(&str, &str); 2] = [
    (
        SENDS_ON_STACKS,
        "blocking sends lie on the stacks of threads, of which the interface tells nothing; the built-in reader has them (source builtin)",
    ),
    (
        RECEIVES_ON_STACKS,
        "blocking receives whose message has begun to arrive lie on the stacks of threads, of which the interface tells nothing; the built-in reader has them (source builtin)",
    ),
];

/// Our own library.
pub struct Own;

impl Dialect for Own {
    fn minds_failed_reads(&self) -> bool {
        true
    }

    fn correct(&self, report: &mut QueueReport, _: &Evidence<'_>) {
        let queues = report.communicators.iter_mut().flat_map(Communicator::queues_mut);
        queues.for_each(take_from_text);
    }

    fn find<'k>(&self, communicator: &Communicator, known: &'k [Communicator]) -> Option<&'k Communicator> {
        let alike = |known: &&Communicator| known.unique_id == communicator.unique_id;
        let same = |known: &&Communicator| {
            known.local_rank == communicator.local_rank && known.name.starts_with(&*communicator.name)
        };
        known.iter().filter(alike).find(same).or_else(|| known.iter().find(alike))
    }
}

/// Takes from the text what has a member of its own: of the queue, and of each operation.
fn take_from_text(queue: &mut Queue) {
    if let Some(first) = queue.operations.first_mut() {
        for (said, reason) in ON_STACKS {
            if let Some(line) = first.extra_text.iter().position(|line| line.to_string() == said) {
                first.extra_text.remove(line);
                (queue.state, queue.detail) = (QueueState::NoInformation, Some(reason.to_owned()));
            }
        }
    }
    queue.operations.iter_mut().for_each(take_facts);
}

/// Takes from the text what has a member of its own.
fn take_facts(operation: &mut Operation) {
    let lines: Vec<String> = operation.extra_text.iter().map(ToString::to_string).collect();
    let mut rest = lines.as_slice();
    if let Some((line, others)) = rest.split_first()
        && take_data(operation, line)
    {
        rest = others;
    }
    if let Some((line, others)) = rest.split_first() {
        let words: Vec<&str> = line.split(", ").collect();
        let request = words.iter().find_map(|word| word.strip_prefix(REQUEST)?.strip_prefix("0x"));
        operation.request = request.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        operation.persistent = words.contains(&PERSISTENT);
        if operation.request.is_some() || operation.persistent {
            rest = others;
        }
    }
    if let Some((line, others)) = rest.split_first()
        && line == IN_TRANSIT
    {
        operation.status = OperationStatus::InTransit;
        rest = others;
    }
    // A number that is not known is -1, which for others is any source, or a tag of the library's own.
    let unknown = rest.first().and_then(|line| line.strip_prefix(NOT_KNOWN));
    let unknown = unknown.map_or("", |names| names.split(';').next().unwrap_or(names));
    for name in unknown.split(", ") {
        match name {
            "source" => operation.any_source = false,
            "tag" => {
                operation.desired_tag = None;
                operation.internal = false;
            }
            _ => {}
        }
    }
    operation.actual_tag = operation.actual_tag.filter(|tag| *tag >= 0 || operation.internal);
    operation.extra_text = rest.iter().map(|line| Remark::from(line.clone())).collect();
}

/// `MPI_Irecv: 512 x MPI_DOUBLE`, or a part of that.
fn take_data(operation: &mut Operation, line: &str) -> bool {
    let (call, data) = match line.split_once(": ") {
        Some((call, data)) => (Some(call), Some(data)),
        None if line.contains(OF) || line.ends_with(ELEMENTS) || line.starts_with(ELEMENTS_OF) => (None, Some(line)),
        None => (Some(line), None),
    };
    if call.is_some_and(|call| !call.starts_with("MPI") || call.contains(' ')) {
        return false;
    }
    operation.call = call.map(|call| call.to_owned().into());
    if let Some((count, datatype)) = data.and_then(|data| data.split_once(OF)) {
        operation.count = count.parse().ok();
        operation.datatype = Some(Text::from(datatype));
    }
    let data = data.unwrap_or_default();
    if let Some(count) = data.strip_suffix(ELEMENTS) {
        operation.count = count.parse().ok();
    } else if let Some(datatype) = data.strip_prefix(ELEMENTS_OF) {
        operation.datatype = Some(Text::from(datatype));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(lines: &[&str]) -> Operation {
        let extra_text = lines.iter().map(|line| line.to_string().into()).collect();
        let mut operation = Operation { extra_text, ..Operation::default() };
        take_facts(&mut operation);
        operation
    }

    #[test]
    fn facts_are_taken_from_the_text() {
        let lines = ["MPI_Recv_init: 512 x MPI_DOUBLE", "request 0x7f10, persistent", IN_TRANSIT, "eager"];
        let operation = taken(&lines);
        assert_eq!(operation.call.as_deref(), Some("MPI_Recv_init"));
        assert_eq!((operation.count, operation.datatype.as_deref()), (Some(512), Some("MPI_DOUBLE")));
        assert_eq!((operation.request, operation.persistent), (Some(0x7f10), true));
        assert_eq!((operation.status, operation.extra_text), (OperationStatus::InTransit, vec![Remark::Eager]));
    }

    #[test]
    fn a_queue_that_may_lack_what_lies_on_stacks_is_not_known() {
        let lines = ["MPI_Isend: 4 x MPI_INT", "request 0x7f10", SENDS_ON_STACKS, "eager"];
        let extra_text = lines.iter().map(|line| line.to_string().into()).collect();
        let mut queue =
            Queue { operations: vec![Operation { extra_text, ..Operation::default() }], ..Queue::default() };
        take_from_text(&mut queue);
        assert_eq!((queue.state, queue.detail.as_deref()), (QueueState::NoInformation, Some(ON_STACKS[0].1)));
        assert_eq!((queue.operations[0].request, queue.operations[0].extra_text.len()), (Some(0x7f10), 1));
    }

    #[test]
    fn what_is_not_there_stays_unknown() {
        for lines in [&["eager"][..], &[], &["not known: tag", "rendezvous"]] {
            let operation = taken(lines);
            assert_eq!((operation.request, operation.call, operation.count), (None, None, None));
            assert_eq!(operation.extra_text.len(), lines.len());
        }
    }
}
