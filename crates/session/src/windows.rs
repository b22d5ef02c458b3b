//! Windows that calls are on, from what the readers of handles say of them.

use serde_json::Value;

use model::{Communicator, Handle, HandleKind, HandleState, Window};
use readers::{Depth, HandleSource};

/// The facts of a window that may be null because they are not known.
const FACTS: &[&str] = &["communicator", "epoch", "lock_all", "locks", "started", "posted"];

/// What a diagnosis needs to know of a window; `None` where the value is none.
pub fn of_handle(handle: &Handle, communicators: &[Communicator], reader: &dyn HandleSource) -> Option<Window> {
    if handle.state != HandleState::Live {
        return None;
    }
    let fact = |name: &str| handle.facts.get(name);
    let named = |name: &str| fact(name).and_then(|reference| reference.get("handle")?.as_str());
    let communicator = named("communicator");
    let of = |found: &&Communicator| communicator.is_some() && found.handle.as_deref() == communicator;
    let found = communicators.iter().find(of);
    let group = || {
        let digits = named("group")?.strip_prefix("0x")?;
        let group = reader.describe(HandleKind::Group, u64::from_str_radix(digits, 16).ok()?, Depth::Full);
        ranks(group.facts.get("ranks"))
    };
    let locks = fact("locks").and_then(Value::as_array);
    let unknown =
        FACTS.iter().filter_map(|name| Some(((*name).to_owned(), handle.unknown.get(*name)?.as_str()?.to_owned())));
    Some(Window {
        handle: handle.handle.clone(),
        name: handle.name.clone(),
        communicator: found.map(|found| found.unique_id),
        group: found.and_then(|found| found.group.as_ref().map(|group| group.to_vec())).or_else(group),
        epoch: fact("epoch").and_then(Value::as_str).map(str::to_owned),
        lock_all: fact("lock_all").and_then(Value::as_bool),
        locks: locks.map(|locks| locks.iter().filter_map(|lock| lock.get("rank")?.as_i64()).collect()),
        started: ranks(fact("started")),
        posted: ranks(fact("posted")),
        unknown: unknown.collect(),
    })
}

fn ranks(fact: Option<&Value>) -> Option<Vec<Option<i64>>> {
    Some(fact?.as_array()?.iter().map(Value::as_i64).collect())
}
