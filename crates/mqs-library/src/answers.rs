//! What was read, as the interface's structures have it.
//!
//! A rank, tag or length that is not known is -1, and a line of the text says so.

use std::fmt::Write as _;

use model::{Communicator, Operation, OperationStatus, QueueKind};
use mqs_interface::words::{
    ELEMENTS, ELEMENTS_OF, IN_TRANSIT, NOT_KNOWN, OF, PERSISTENT, RECEIVES_ON_STACKS, REQUEST, SENDS_ON_STACKS,
};
use mqs_interface::{EXTRA_LINES, INVALID_PROCESS, STATUSES, TAddr, TEXT, TWord};

use crate::error::fitting;

/// What stands for a number that is not known.
const NO_NUMBER: TWord = INVALID_PROCESS as TWord;

/// What stands behind a text that is cut.
const CUT: &str = "...";

/// A communicator.
pub fn communicator(found: &Communicator) -> mqs_interface::Communicator {
    let mut name = [0; TEXT];
    // Without a mark where it is cut, as of the MPIs' own libraries.
    put(&mut name, &found.name[..fitting(&found.name, TEXT - 1)]);
    mqs_interface::Communicator {
        unique_id: found.unique_id as TAddr,
        local_rank: word(found.local_rank),
        size: size(found).map_or(NO_NUMBER, |size| size as TWord),
        name,
    }
}

/// How many members it has here, as is told of it: so many ranks a debugger has room for.
pub fn size(found: &Communicator) -> Option<usize> {
    let size = found.size.and_then(|size| usize::try_from(size).ok());
    size.or_else(|| found.group.as_ref().map(|group| group.len()))
}

/// An operation. `universe` makes of a rank in this process's MPI_COMM_WORLD what the debugger calls that process; `lacks_stacks` says
/// that others of the queue may lie on stacks.
pub fn operation(
    found: &Operation,
    kind: QueueKind,
    lacks_stacks: bool,
    universe: &dyn Fn(i64) -> Option<i64>,
) -> mqs_interface::PendingOperation {
    let world = |rank: Option<i64>| word(rank.and_then(universe));
    let length = |bytes: Option<u64>| word(bytes.and_then(|bytes| i64::try_from(bytes).ok()));
    let mut extra_text = [[0; TEXT]; EXTRA_LINES];
    let mut first = first_facts(found);
    let on_stacks = if kind == QueueKind::PendingSends { SENDS_ON_STACKS } else { RECEIVES_ON_STACKS };
    first.extend(lacks_stacks.then(|| on_stacks.to_owned()));
    Lines::of(&first, &further_facts(found, kind)).write(&mut extra_text);
    mqs_interface::PendingOperation {
        status: match found.status {
            OperationStatus::Pending | OperationStatus::InTransit => STATUSES[0],
            OperationStatus::Matched => STATUSES[1],
            OperationStatus::Complete => STATUSES[2],
        },
        desired_local_rank: word(found.desired_local_rank),
        desired_global_rank: world(found.desired_global_rank),
        tag_wild: found.tag_wild.into(),
        desired_tag: word(found.desired_tag),
        desired_length: length(found.desired_length),
        system_buffer: found.system_buffer.into(),
        buffer: found.buffer.unwrap_or_default() as TAddr,
        actual_local_rank: word(found.actual_local_rank),
        actual_global_rank: world(found.actual_global_rank),
        actual_tag: word(found.actual_tag),
        actual_length: length(found.actual_length),
        extra_text,
    }
}

fn word(number: Option<i64>) -> TWord {
    number.map_or(NO_NUMBER, |number| number as TWord)
}

/// What has no member of its own and is wanted most: a line each.
fn first_facts(found: &Operation) -> Vec<String> {
    let mut facts = Vec::new();
    let data = match (&found.datatype, found.count) {
        (Some(datatype), Some(count)) => Some(format!("{count}{OF}{datatype}")),
        (Some(datatype), None) => Some(format!("{ELEMENTS_OF}{datatype}")),
        (None, Some(count)) => Some(format!("{count}{ELEMENTS}")),
        (None, None) => None,
    };
    let what = [found.call.as_deref().map(str::to_owned), data];
    let what = what.into_iter().flatten().collect::<Vec<_>>().join(": ");
    if !what.is_empty() {
        facts.push(what);
    }
    let mut request = found.request.map_or_else(String::new, |request| format!("{REQUEST}{request:#x}"));
    let more = [(found.persistent, PERSISTENT), (found.internal, "the library's own")];
    for (_, more) in more.iter().filter(|(is, _)| *is) {
        let _ = write!(request, "{}{more}", if request.is_empty() { "" } else { ", " });
    }
    if !request.is_empty() {
        facts.push(request);
    }
    if found.status == OperationStatus::InTransit {
        facts.push(IN_TRANSIT.to_owned());
    }
    facts
}

/// What else has none.
fn further_facts(found: &Operation, kind: QueueKind) -> Vec<String> {
    let mut facts = Vec::new();
    let unknown = not_known(found, kind);
    if !unknown.is_empty() {
        facts.push(format!("{NOT_KNOWN}{}", unknown.join(", ")));
    }
    facts.extend(found.extra_text.iter().map(ToString::to_string));
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (fact, reason) in found.unknown.iter() {
        let fact = fact.replace('_', " ");
        match reasons.iter_mut().find(|(known, _)| *known == reason.as_ref()) {
            Some((_, facts)) => facts.push(fact),
            None => reasons.push((reason.as_ref(), vec![fact])),
        }
    }
    facts.extend(reasons.into_iter().map(|(reason, names)| format!("{}: {reason}", names.join(", "))));
    facts
}

/// The members of the structure for which there is no value.
fn not_known(found: &Operation, kind: QueueKind) -> Vec<&'static str> {
    let is_receive = kind == QueueKind::PendingReceives;
    let peer = if kind == QueueKind::PendingSends { "destination" } else { "source" };
    let any = found.any_source && is_receive;
    let missing = [
        (found.desired_local_rank.is_none() && !any, peer),
        (found.desired_tag.is_none() && !found.tag_wild, "tag"),
        (found.desired_length.is_none(), "length"),
        (found.buffer.is_none() && kind != QueueKind::UnexpectedMessages, "buffer"),
    ];
    missing.into_iter().filter(|(is, _)| *is).map(|(_, what)| what).collect()
}

/// Writes a text that ends with a NUL; one that has no room is cut, and says so.
fn put(into: &mut [u8; TEXT], text: &str) {
    let room = TEXT - 1;
    let (kept, mark) = if text.len() <= room { (text.len(), "") } else { (fitting(text, room - CUT.len()), CUT) };
    into[..kept].copy_from_slice(&text.as_bytes()[..kept]);
    into[kept..kept + mark.len()].copy_from_slice(mark.as_bytes());
    into[kept + mark.len()..].fill(0);
}

/// Facts in as many lines as there are.
struct Lines(Vec<String>);

impl Lines {
    /// Each of the first facts has a line. A further one begins a line where there is room for that; else they follow each other.
    fn of(first: &[String], further: &[String]) -> Self {
        let mut apart: Vec<String> = further.iter().flat_map(|fact| wrapped(fact)).collect();
        if first.len() + apart.len() > EXTRA_LINES {
            apart = wrapped(&further.join("; "));
        }
        Self(first.iter().cloned().chain(apart).collect())
    }

    fn write(&self, into: &mut [[u8; TEXT]; EXTRA_LINES]) {
        for (line, text) in into.iter_mut().zip(&self.0) {
            put(line, text);
        }
        if self.0.len() > EXTRA_LINES {
            let last = &self.0[EXTRA_LINES - 1];
            put(&mut into[EXTRA_LINES - 1], &format!("{}{CUT}", &last[..fitting(last, TEXT - 1 - CUT.len())]));
        }
    }
}

/// A text in lines that have room, broken between words where that can be.
fn wrapped(text: &str) -> Vec<String> {
    const ROOM: usize = TEXT - 1;
    let (mut lines, mut rest) = (Vec::new(), text);
    while rest.len() > ROOM {
        let most = fitting(rest, ROOM);
        let end = rest[..most].rfind(' ').filter(|end| *end > 0).unwrap_or(most.max(1));
        lines.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
    }
    if !rest.is_empty() {
        lines.push(rest.to_owned());
    }
    lines
}
