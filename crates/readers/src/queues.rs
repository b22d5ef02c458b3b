//! What the queues of every MPI share.

use std::collections::BTreeMap;
use std::fmt::Display;

use model::{Communicator, Operation, Queue};

/// At most this many operations (2 Mi) are read from one process; a longer list is said to be cut.
pub const MAX_OPERATIONS: usize = 1 << 21;

/// At most this many communicators that are not here are named.
const MAX_NAMED: usize = 4;

/// What is the matter of a communicator that messages come for too early.
pub const NOT_CREATED: &str = "this process has not created yet";

/// What is the matter of one that requests outlive.
pub const FREED: &str = "has been freed";

/// Says that there were more than [`MAX_OPERATIONS`].
pub fn only_the_first() -> String {
    format!("only the first {MAX_OPERATIONS} operations were read")
}

/// Says that requests are in no queue.
pub fn of_no_communicator(count: u64) -> String {
    format!("{count} requests name a communicator that cannot be read")
}

/// Says of complete sends that they are left out; `keeps` is what the library does with what they sent.
pub fn left_out(count: u64, keeps: &str) -> String {
    format!(
        "sends that are complete, of which {keeps}, and which are not listed: {count} \
         (the library's own in a collective may be among them)"
    )
}

/// Says why there may be more messages in memory that processes share.
pub fn in_transit(problem: &str) -> String {
    format!("messages that lie in shared memory could not all be read: {problem}")
}

/// How many there are of each communicator that is not here, by its context; `what` they are, and what is the matter `of` it.
pub fn of_absent(counts: BTreeMap<impl Display, u64>, what: &str, of: &str) -> Vec<String> {
    let left_out: u64 = counts.values().skip(MAX_NAMED).sum();
    let named = counts.into_iter().take(MAX_NAMED);
    let mut notes: Vec<String> =
        named.map(|(context, count)| format!("{what} a communicator (context {context}) that {of}: {count}")).collect();
    if left_out > 0 {
        notes.push(format!("{what} further communicators of this kind: {left_out}"));
    }
    notes
}

/// Says of every queue of a communicator why it is not known.
pub fn refuse(facts: &mut Communicator, reason: &str) {
    for queue in facts.queues_mut() {
        *queue = Queue::no_information(reason);
    }
}

/// Fills in world ranks; `world_rank` tells that of a rank in the communicator.
pub fn fill_in_world_ranks(operation: &mut Operation, world_rank: impl Fn(i64) -> Option<i64>) {
    operation.desired_global_rank = operation.desired_local_rank.and_then(&world_rank);
    operation.actual_global_rank = operation.actual_local_rank.and_then(&world_rank);
}
