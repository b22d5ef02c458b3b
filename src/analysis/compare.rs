//! Where two readers of the same process differ.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::model::{Communicator, Operation, Process, Queue, QueueState};

/// At most this many differing operations are named for each queue.
const MAX_NAMED: usize = 10;

/// Sentences about where the built-in reader (`ours`) and a plug-in (`theirs`) differ; empty where they agree. Operations
/// that the library posted for itself are left out: no plug-in lists them.
pub fn differences(ours: &Process, theirs: &Process) -> Vec<String> {
    let mut out = Vec::new();
    let mut untold = Untold::default();
    for our in &ours.communicators {
        match theirs.communicators.iter().find(|their| same(our, their)) {
            Some(their) => communicator(our, their, &mut out, &mut untold),
            None => out.push(format!("{:?}: only the reader lists this communicator", our.name)),
        }
    }
    let unknown = |their: &&Communicator| !ours.communicators.iter().any(|our| same(our, their));
    for their in theirs.communicators.iter().filter(unknown) {
        out.push(format!("{:?}: only the plug-in lists this communicator", their.name));
    }
    out.extend(untold.sentences());
    out.extend(theirs.problems.iter().map(|problem| format!("plug-in: {problem}")));
    out
}

fn same(our: &Communicator, their: &Communicator) -> bool {
    match (&our.handle, &their.handle) {
        (Some(our), Some(their)) => our == their,
        _ => our.unique_id == their.unique_id && our.local_rank == their.local_rank && our.size == their.size,
    }
}

/// Queues that the plug-in cannot tell about: by kind of queue and reason, in how many communicators, and how many
/// operations the reader lists there.
#[derive(Default)]
struct Untold(BTreeMap<(&'static str, String), (usize, usize)>);

impl Untold {
    fn add(&mut self, what: &'static str, detail: Option<&str>, operations: usize) {
        let (communicators, all) = self.0.entry((what, detail.unwrap_or_default().to_owned())).or_default();
        *communicators += 1;
        *all += operations;
    }

    fn sentences(self) -> impl Iterator<Item = String> {
        self.0.into_iter().map(|((what, detail), (communicators, operations))| {
            format!(
                "{what}: the plug-in has no information in {communicators} communicators, where the reader lists \
                 {operations}: {detail}"
            )
        })
    }
}

fn communicator(our: &Communicator, their: &Communicator, out: &mut Vec<String>, untold: &mut Untold) {
    if our.name != their.name {
        out.push(format!("{:?}: the plug-in calls it {:?}", our.name, their.name));
    }
    let queues = [
        ("pending sends", &our.pending_sends, &their.pending_sends),
        ("pending receives", &our.pending_receives, &their.pending_receives),
        ("unexpected messages", &our.unexpected_messages, &their.unexpected_messages),
    ];
    for (what, our_queue, their_queue) in queues {
        if our_queue.state == QueueState::Ok && their_queue.state == QueueState::NoInformation {
            let listed = our_queue.operations.iter().filter(|operation| !operation.internal).count();
            untold.add(what, their_queue.detail.as_deref(), listed);
        } else {
            queue(&format!("{:?}, {what}", our.name), our_queue, their_queue, out);
        }
    }
}

fn queue(place: &str, ours: &Queue, theirs: &Queue, out: &mut Vec<String>) {
    let ours_shown: Vec<&Operation> = ours.operations.iter().filter(|operation| !operation.internal).collect();
    if ours.state != theirs.state {
        let detail = theirs.detail.as_deref().or(ours.detail.as_deref()).unwrap_or_default();
        out.push(format!(
            "{place}: the reader says {} ({} operations), the plug-in {} ({} operations): {detail}",
            word(ours.state),
            ours_shown.len(),
            word(theirs.state),
            theirs.operations.len(),
        ));
        return;
    }
    // Pairs by what both know of an operation; what is left over on either side differs.
    let mut left: Vec<&Operation> = theirs.operations.iter().collect();
    let mut named = 0;
    let mut name = |text: String, out: &mut Vec<String>| {
        named += 1;
        if named <= MAX_NAMED {
            out.push(text);
        }
    };
    let mut order = Vec::new();
    let mut index = pairs(&left);
    let mut taken = vec![false; left.len()];
    for our in &ours_shown {
        let partner = keys(our).find_map(|key| index.get_mut(&key)?.pop_front());
        match partner {
            Some(partner) => {
                taken[partner] = true;
                order.push(partner);
                for text in facts(our, left[partner]) {
                    name(format!("{place}: {}: {text}", describe(our)), out);
                }
            }
            None => name(format!("{place}: only the reader lists {}", describe(our)), out),
        }
    }
    let mut places = taken.iter();
    left.retain(|_| !*places.next().unwrap_or(&true));
    for their in left {
        name(format!("{place}: only the plug-in lists {}", describe(their)), out);
    }
    if named > MAX_NAMED {
        out.push(format!("{place}: {} more differences", named - MAX_NAMED));
    }
    if !order.is_sorted() {
        out.push(format!("{place}: the plug-in lists the operations in another order than that of matching"));
    }
}

/// What tells operations apart and both sides know: the request where the plug-in names it, else the buffer and the tag.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Request(u64),
    Place(Option<u64>, Option<i64>),
}

fn keys(operation: &Operation) -> impl Iterator<Item = Key> {
    let tag = operation.desired_tag.filter(|_| !operation.tag_wild);
    operation.request.map(Key::Request).into_iter().chain([Key::Place(operation.buffer, tag)])
}

/// Places of operations by the best key that each has.
fn pairs(operations: &[&Operation]) -> HashMap<Key, VecDeque<usize>> {
    let mut index: HashMap<Key, VecDeque<usize>> = HashMap::new();
    for (place, operation) in operations.iter().enumerate() {
        for key in keys(operation).take(1) {
            index.entry(key).or_default().push_back(place);
        }
    }
    index
}

fn facts(our: &Operation, their: &Operation) -> Vec<String> {
    let number = |value: Option<i64>| value.map_or_else(|| "unknown".to_owned(), |value| value.to_string());
    let mut out = Vec::new();
    let mut differ = |what: &str, our: String, their: String| {
        if our != their {
            out.push(format!("{what} is {our} for the reader, {their} for the plug-in"));
        }
    };
    differ("the status", format!("{:?}", our.status).to_lowercase(), format!("{:?}", their.status).to_lowercase());
    differ("the peer", number(our.desired_local_rank), number(their.desired_local_rank));
    differ("the peer's world rank", number(our.desired_global_rank), number(their.desired_global_rank));
    differ("the actual world rank", number(our.actual_global_rank), number(their.actual_global_rank));
    let bytes = |value: Option<u64>| number(value.map(|value| value as i64));
    differ("the length in bytes", bytes(our.desired_length), bytes(their.desired_length));
    out
}

fn describe(operation: &Operation) -> String {
    let peer = match (operation.any_source, operation.desired_local_rank) {
        (true, _) => "any".to_owned(),
        (false, Some(rank)) => rank.to_string(),
        (false, None) => "unknown".to_owned(),
    };
    let tag = match (operation.tag_wild, operation.desired_tag) {
        (true, _) => "any".to_owned(),
        (false, Some(tag)) => tag.to_string(),
        (false, None) => "unknown".to_owned(),
    };
    let request = operation.request.map_or_else(String::new, |request| format!(" (request {request:#x})"));
    format!("peer {peer}, tag {tag}, {} bytes{request}", operation.desired_length.unwrap_or_default())
}

fn word(state: QueueState) -> &'static str {
    match state {
        QueueState::Ok => "ok",
        QueueState::NoInformation => "no information",
        QueueState::Error => "error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(request: Option<u64>, tag: i64) -> Operation {
        Operation { request, buffer: Some(0x10), desired_tag: Some(tag), ..Operation::default() }
    }

    fn process(receives: Vec<Operation>) -> Process {
        let pending_receives = Queue { operations: receives, ..Queue::default() };
        let communicator = Communicator { name: "w".to_owned(), pending_receives, ..Communicator::default() };
        Process { communicators: vec![communicator], ..Process::default() }
    }

    #[test]
    fn equal_processes_do_not_differ() {
        let one = process(vec![receive(Some(1), 5), receive(Some(2), 6)]);
        assert_eq!(differences(&one, &one), Vec::<String>::new());
        // A plug-in that does not name requests is paired by buffer and tag.
        let theirs = process(vec![receive(None, 5), receive(None, 6)]);
        assert_eq!(differences(&one, &theirs), Vec::<String>::new());
    }

    #[test]
    fn order_status_and_what_only_one_lists_are_told() {
        let ours = process(vec![receive(Some(1), 5), receive(Some(2), 6)]);
        let reversed = process(vec![receive(Some(2), 6), receive(Some(1), 5)]);
        assert!(differences(&ours, &reversed).concat().contains("another order"));
        let mut complete = ours.clone();
        complete.communicators[0].pending_receives.operations[0].status = crate::model::OperationStatus::Complete;
        assert!(differences(&ours, &complete).concat().contains("pending for the reader, complete for the plug-in"));
        let fewer = process(vec![receive(Some(2), 6)]);
        assert!(differences(&ours, &fewer).concat().contains("only the reader lists peer unknown, tag 5"));
        assert!(differences(&fewer, &ours).concat().contains("only the plug-in lists peer unknown, tag 5"));
    }

    #[test]
    fn what_a_plug_in_cannot_tell_is_said_once() {
        let mut ours = process(vec![receive(Some(1), 5)]);
        ours.communicators.push(Communicator { name: "x".to_owned(), unique_id: 1, ..Communicator::default() });
        let mut theirs = ours.clone();
        for communicator in &mut theirs.communicators {
            communicator.pending_receives = Queue::no_information("never");
        }
        let told = differences(&ours, &theirs);
        assert_eq!(
            told,
            ["pending receives: the plug-in has no information in 2 communicators, where the reader lists 1: never"]
        );
    }

    #[test]
    fn a_hundred_thousand_alike_are_paired_in_no_time() {
        let many = process((0..100_000).map(|_| receive(None, 5)).collect());
        assert_eq!(differences(&many, &many), Vec::<String>::new());
    }
}
