//! Operations, of the requests that are open and of the blocking calls that threads are in.

use std::borrow::Cow;

use functions::{Function, Started};
use history::{Message, OpenRequest, Peer, Posted, Record, Tag};
use model::{Communicator, HandleWord, Operation, Process, QueueKind};

const NO_LENGTH: &str = "the flight recorder knows the number of elements only";

/// Puts all of them into the queues of their communicators, in the order in which they began.
pub(super) fn put(process: &mut Process, record: &Record) {
    for request in &record.open {
        let Some(function) = functions::find(&request.posted.function) else { continue };
        for (queue, message) in halves(&request.posted, started(&function)) {
            let Some(communicator) = find(&mut process.communicators, request.posted.communicator) else { continue };
            let Some(operation) = of_request(request, message, communicator) else { continue };
            if request.active {
                queue.of_mut(communicator).operations.push(operation);
            } else {
                communicator.inactive.push(operation);
            }
        }
    }
    for current in &record.current {
        let Some(function) = functions::find(&current.posted.function) else { continue };
        for (queue, message) in halves(&current.posted, blocking(&function)) {
            let Some(communicator) = find(&mut process.communicators, current.posted.communicator) else { continue };
            if let Some(operation) = operation(&current.posted, message, communicator) {
                queue.of_mut(communicator).operations.push(operation);
            }
        }
    }
}

/// Whether something sends and whether it receives.
type Ways = (bool, bool);

fn started(function: &Function) -> Ways {
    match function.starts() {
        Some(Started::Send) => (true, false),
        Some(Started::Receive) => (false, true),
        Some(Started::SendReceive) => (true, true),
        _ => (false, false),
    }
}

fn blocking(function: &Function) -> Ways {
    if function.starts().is_some() { (false, false) } else { (function.sends(), function.receives()) }
}

fn halves(posted: &Posted, (sends, receives): Ways) -> Vec<(QueueKind, &Message)> {
    let mut found = Vec::with_capacity(2);
    if sends {
        found.push((QueueKind::PendingSends, &posted.first));
    }
    if receives {
        let message = if sends { posted.second.as_ref() } else { Some(&posted.first) };
        found.extend(message.map(|message| (QueueKind::PendingReceives, message)));
    }
    found
}

fn find(communicators: &mut [Communicator], handle: Option<HandleWord>) -> Option<&mut Communicator> {
    communicators.iter_mut().find(|one| one.handle.is_some() && one.handle == handle)
}

fn of_request(request: &OpenRequest, message: &Message, communicator: &Communicator) -> Option<Operation> {
    let found = operation(&request.posted, message, communicator)?;
    Some(Operation { request: Some(request.request.0), persistent: request.persistent, ..found })
}

/// `None` where it goes to nobody: then it is complete at once.
fn operation(posted: &Posted, message: &Message, communicator: &Communicator) -> Option<Operation> {
    let mut found = Operation {
        call: Some(Cow::Owned(posted.function.to_string())),
        count: message.count,
        datatype: message.datatype_name.clone(),
        ..Operation::default()
    };
    match message.peer {
        Peer::Rank(rank) => {
            found.desired_local_rank = Some(rank);
            let members = communicator.remote_group.as_deref().or(communicator.group.as_deref());
            let place = usize::try_from(rank).ok();
            found.desired_global_rank = place.and_then(|place| members?.get(place).copied().flatten());
        }
        Peer::Any => found.any_source = true,
        Peer::Null => return None,
        Peer::Unknown => found.not_known("desired_local_rank", "the recorder does not know what the rank means"),
    }
    match message.tag {
        Tag::Number(tag) => found.desired_tag = Some(tag),
        Tag::Any => found.tag_wild = true,
        Tag::Unknown => found.not_known("desired_tag", "the recorder does not know what the tag means"),
    }
    found.not_known("desired_length", NO_LENGTH);
    Some(found)
}
