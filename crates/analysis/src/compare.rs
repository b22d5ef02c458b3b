//! Where two readers of the same process differ.

use hashbrown::HashMap;
use std::collections::{BTreeMap, VecDeque};

use model::{Communicator, Operation, OperationStatus, Process, Queue, QueueState};

/// At most this many differing operations are named for each queue.
const MAX_NAMED: usize = 10;

/// Sentences about where the built-in reader (`ours`) and a plug-in (`theirs`) differ; empty where they agree. Operations
/// that the library posted for itself are left out: plug-ins list few of them or none.
pub fn differences(ours: &Process, theirs: &Process) -> Vec<String> {
    let mut out = Vec::new();
    let mut no_information = NoInformation::default();
    for our in &ours.communicators {
        match theirs.communicators.iter().find(|their| same(our, their)) {
            Some(their) => communicator(our, their, &mut out, &mut no_information),
            None => out.push(format!("{:?}: only the reader lists this communicator", our.name)),
        }
    }
    let unknown = |their: &&Communicator| !ours.communicators.iter().any(|our| same(our, their));
    for their in theirs.communicators.iter().filter(unknown) {
        out.push(format!("{:?}: only the plug-in lists this communicator", their.name));
    }
    out.extend(no_information.sentences());
    out.extend(theirs.problems.iter().map(|problem| format!("plug-in: {problem}")));
    out
}

fn same(our: &Communicator, their: &Communicator) -> bool {
    match (&our.handle, &their.handle) {
        (Some(our), Some(their)) => our == their,
        _ => our.unique_id == their.unique_id && our.local_rank == their.local_rank && our.size == their.size,
    }
}

/// Queues of which the plug-in has no information: by kind of queue and reason, in how many communicators, and how many
/// operations the reader lists there.
#[derive(Default)]
struct NoInformation(BTreeMap<(&'static str, String), (usize, usize)>);

impl NoInformation {
    fn add(&mut self, queue: &'static str, detail: Option<&str>, operations: usize) {
        let (communicators, all) = self.0.entry((queue, detail.unwrap_or_default().to_owned())).or_default();
        *communicators += 1;
        *all += operations;
    }

    fn sentences(self) -> impl Iterator<Item = String> {
        self.0.into_iter().map(|((queue, detail), (communicators, operations))| {
            format!(
                "{queue}: the plug-in has no information in {communicators} communicators, where the reader lists \
                 {operations}: {detail}"
            )
        })
    }
}

fn communicator(our: &Communicator, their: &Communicator, out: &mut Vec<String>, no_information: &mut NoInformation) {
    if our.name != their.name {
        out.push(format!("{:?}: the plug-in calls it {:?}", our.name, their.name));
    }
    let queues = [
        ("pending sends", &our.pending_sends, &their.pending_sends),
        ("pending receives", &our.pending_receives, &their.pending_receives),
        ("unexpected messages", &our.unexpected_messages, &their.unexpected_messages),
    ];
    for (name, our_queue, their_queue) in queues {
        if our_queue.state == QueueState::Ok && their_queue.state == QueueState::NoInformation {
            let listed = our_queue.operations.iter().filter(|operation| !operation.internal).count();
            no_information.add(name, their_queue.detail.as_deref(), listed);
        } else {
            queue(&format!("{:?}, {name}", our.name), our_queue, their_queue, out);
        }
    }
}

fn queue(place: &str, ours: &Queue, theirs: &Queue, out: &mut Vec<String>) {
    // A plug-in shows neither what is the library's own nor what has not been taken out of shared memory.
    let shown = |operation: &&Operation| !operation.internal && operation.status != OperationStatus::InTransit;
    let ours_shown: Vec<&Operation> = ours.operations.iter().filter(shown).collect();
    if ours.state != theirs.state {
        let detail = theirs.detail.as_deref().or(ours.detail.as_deref()).unwrap_or_default();
        out.push(format!(
            "{place}: the reader says {} ({} operations), the plug-in {} ({} operations): {detail}",
            word(ours.state),
            ours_shown.len(),
            word(theirs.state),
            theirs.operations.iter().filter(|operation| !operation.internal).count(),
        ));
        return;
    }
    // Pairs by what both know of an operation; what is left over on either side differs.
    let mut left: Vec<&Operation> = theirs.operations.iter().filter(|operation| !operation.internal).collect();
    let mut named = 0;
    let mut name = |text: String, out: &mut Vec<String>| {
        named += 1;
        if named <= MAX_NAMED {
            out.push(text);
        }
    };
    let mut order = Vec::new();
    let mut pairs = Pairs::new(&left);
    for our in &ours_shown {
        match pairs.take(our) {
            Some(partner) => {
                order.push(partner);
                for text in facts(our, left[partner]) {
                    name(format!("{place}: {}: {text}", describe(our)), out);
                }
            }
            None => name(format!("{place}: only the reader lists {}", describe(our)), out),
        }
    }
    let mut places = pairs.taken.iter();
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

/// What distinguishes operations where a side does not name the request: the buffer, and the tag that was asked for.
type BufferAndTag = (Option<u64>, Option<i64>);

fn buffer_and_tag(operation: &Operation) -> BufferAndTag {
    (operation.buffer, operation.desired_tag.filter(|_| !operation.tag_wild))
}

/// The plug-in's operations, to be paired with ours: by the request where both sides name it, else by the place.
struct Pairs {
    by_request: HashMap<u64, VecDeque<usize>>,
    by_place: HashMap<BufferAndTag, VecDeque<usize>>,
    /// Those at a place whose request is not named.
    unnamed: HashMap<BufferAndTag, VecDeque<usize>>,
    /// Which ones have been paired.
    taken: Vec<bool>,
}

impl Pairs {
    fn new(operations: &[&Operation]) -> Self {
        let (mut by_request, mut by_place, mut unnamed) = (HashMap::new(), HashMap::new(), HashMap::new());
        for (number, operation) in operations.iter().enumerate() {
            let push = |index: &mut HashMap<BufferAndTag, VecDeque<usize>>| {
                index.entry(buffer_and_tag(operation)).or_default().push_back(number);
            };
            push(&mut by_place);
            match operation.request {
                Some(request) => {
                    let requests: &mut VecDeque<usize> = by_request.entry(request).or_default();
                    requests.push_back(number);
                }
                None => push(&mut unnamed),
            }
        }
        Self { by_request, by_place, unnamed, taken: vec![false; operations.len()] }
    }

    /// The partner of one of ours, by its number.
    fn take(&mut self, our: &Operation) -> Option<usize> {
        let taken = &self.taken;
        let first = |candidates: Option<&mut VecDeque<usize>>| {
            let candidates = candidates?;
            while let Some(number) = candidates.pop_front() {
                if !taken[number] {
                    return Some(number);
                }
            }
            None
        };
        let number = match our.request {
            Some(request) => {
                first(self.by_request.get_mut(&request)).or_else(|| first(self.unnamed.get_mut(&buffer_and_tag(our))))
            }
            None => first(self.by_place.get_mut(&buffer_and_tag(our))),
        }?;
        self.taken[number] = true;
        Some(number)
    }
}

fn facts(our: &Operation, their: &Operation) -> Vec<String> {
    let number = |value: Option<i64>| value.map_or_else(|| "unknown".to_owned(), |value| value.to_string());
    let mut out = Vec::new();
    let mut differ = |fact: &str, our: String, their: String| {
        if our != their {
            out.push(format!("{fact} is {our} for the reader, {their} for the plug-in"));
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
    let length =
        operation.desired_length.map_or_else(|| "an unknown number of".to_owned(), |length| length.to_string());
    format!("peer {peer}, tag {tag}, {length} bytes{request}")
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
        let communicator =
            Communicator { name: "w".into(), pending_receives: pending_receives.into(), ..Communicator::default() };
        Process { communicators: vec![communicator].into(), ..Process::default() }
    }

    #[test]
    fn equal_processes_do_not_differ() {
        let ours = process(vec![receive(Some(1), 5), receive(Some(2), 6)]);
        assert_eq!(differences(&ours, &ours), Vec::<String>::new());
        // A plug-in that does not name requests is paired by buffer and tag.
        let theirs = process(vec![receive(None, 5), receive(None, 6)]);
        assert_eq!(differences(&ours, &theirs), Vec::<String>::new());
    }

    #[test]
    fn order_status_and_what_only_one_lists_are_said() {
        let ours = process(vec![receive(Some(1), 5), receive(Some(2), 6)]);
        let reversed = process(vec![receive(Some(2), 6), receive(Some(1), 5)]);
        assert!(differences(&ours, &reversed).concat().contains("another order"));
        let mut complete = ours.clone();
        complete.communicators[0].pending_receives.operations[0].status = model::OperationStatus::Complete;
        assert!(differences(&ours, &complete).concat().contains("pending for the reader, complete for the plug-in"));
        let fewer = process(vec![receive(Some(2), 6)]);
        assert!(differences(&ours, &fewer).concat().contains("only the reader lists peer unknown, tag 5"));
        assert!(differences(&fewer, &ours).concat().contains("only the plug-in lists peer unknown, tag 5"));
    }

    #[test]
    fn what_a_plug_in_does_not_know_is_said_once() {
        let mut ours = process(vec![receive(Some(1), 5)]);
        ours.communicators.push(Communicator { name: "x".into(), unique_id: 1, ..Communicator::default() });
        let mut theirs = ours.clone();
        for communicator in &mut theirs.communicators {
            communicator.pending_receives = Queue::no_information("never").into();
        }
        let lines = differences(&ours, &theirs);
        assert_eq!(
            lines,
            ["pending receives: the plug-in has no information in 2 communicators, where the reader lists 1: never"]
        );
    }

    #[test]
    fn operations_are_paired_by_place_where_one_side_names_no_request() {
        let one = |request, tag| Operation { request, ..receive(Some(1), tag) };
        let named = |request| one(Some(request), 5);
        let ours = process(vec![one(None, 5), one(None, 6)]);
        let theirs = process(vec![named(7), one(Some(8), 6)]);
        assert_eq!(differences(&ours, &theirs), Vec::<String>::new());
        assert_eq!(differences(&theirs, &ours), Vec::<String>::new());
        // Two requests are two operations, however alike.
        assert_eq!(differences(&process(vec![named(7)]), &process(vec![named(8)])).len(), 2);
    }

    #[test]
    fn what_the_library_posted_for_itself_is_left_out_on_both_sides() {
        let internal = || Operation { internal: true, ..receive(Some(1), 1) };
        let ours = process(vec![receive(Some(1), 5)]);
        assert_eq!(differences(&ours, &process(vec![internal(), receive(Some(1), 5)])), Vec::<String>::new());
        assert_eq!(differences(&process(vec![internal(), receive(Some(1), 5)]), &ours), Vec::<String>::new());
    }

    #[test]
    fn a_length_that_is_not_known_is_not_zero() {
        let unknown = process(vec![Operation { desired_length: None, ..receive(Some(1), 5) }]);
        let lines = differences(&unknown, &process(Vec::new())).concat();
        assert!(lines.contains("an unknown number of bytes") && !lines.contains(" 0 bytes"), "{lines}");
    }

    #[test]
    fn a_hundred_thousand_alike_are_paired_in_no_time() {
        let many = process((0..100_000).map(|_| receive(None, 5)).collect());
        assert_eq!(differences(&many, &many), Vec::<String>::new());
    }
}
