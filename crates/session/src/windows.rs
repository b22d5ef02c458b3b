//! Windows that calls are on, from what the readers of handles say of them.

use std::collections::BTreeMap;

use functions::wait_kind;
use model::handle::{Open, Reference};
use model::{Call, Common, Communicator, Handle, HandleKind, HandleState, HandleWord, Known, Typed, Window};
use readers::{Depth, HandleSource};

/// What a diagnosis needs to know of a window; `None` where the value is none.
pub fn of_handle(handle: &Handle, communicators: &[Communicator], reader: &dyn HandleSource) -> Option<Window> {
    let Typed::Window(_, Some(details)) = &handle.typed else { return None };
    if handle.state != HandleState::Live {
        return None;
    }
    let mut unknown = BTreeMap::new();
    let named = |reference: Option<&Option<Reference>>| reference?.as_ref()?.handle.clone();
    let communicator = named(known(&details.communicator, "communicator", &mut unknown));
    let communicator = communicator.as_deref().and_then(HandleWord::of);
    let of = |found: &&Communicator| communicator.is_some() && found.handle == communicator;
    let found = communicators.iter().find(of);
    let group = || {
        let group = named(details.group.as_ref().ok())?;
        match reader.describe(HandleKind::Group, HandleWord::of(&group)?.0, Depth::Full).typed {
            Typed::Group(ranks) => ranks.ok(),
            _ => None,
        }
    };
    Some(Window {
        handle: handle.handle.clone(),
        name: handle.name.clone(),
        communicator: found.map(|found| found.unique_id),
        group: found.and_then(|found| found.group.as_ref().map(|group| group.to_vec())).or_else(group),
        epoch: known(&details.epoch, "epoch", &mut unknown).map(Open::word),
        lock_all: known(&details.lock_all, "lock_all", &mut unknown).copied(),
        locks: known(&details.locks, "locks", &mut unknown).map(|locks| locks.iter().map(|lock| lock.rank).collect()),
        started: known(&details.started, "started", &mut unknown).cloned().flatten(),
        posted: known(&details.posted, "posted", &mut unknown).cloned().flatten(),
        unknown,
    })
}

/// So many windows of a process are looked at.
const MOST: usize = 64;

/// Adds those windows of which the process has locked a part: others may wait for it, wherever it is. Where it is not known on
/// which window a call is, all of them.
pub fn add_others(
    calls: &[Call],
    communicators: &[Communicator],
    reader: &dyn HandleSource,
    windows: &mut Common<Vec<Window>>,
) {
    let is_on_any = |call: &Call| call.window.is_none() && wait_kind(&call.c_name()).is_one_sided();
    let all = calls.iter().any(is_on_any);
    for handle in reader.list(HandleKind::Win).handles.into_iter().take(MOST) {
        if windows.iter().any(|known| known.handle == handle.handle) {
            continue;
        }
        let Some(window) = of_handle(&handle, communicators, reader) else { continue };
        if all || window.lock_all == Some(true) || window.locks.as_ref().is_some_and(|locks| !locks.is_empty()) {
            windows.push(window);
        }
    }
}

/// A fact; why it is not known stands in `unknown` under its name.
fn known<'f, T>(fact: &'f Known<T>, name: &str, unknown: &mut BTreeMap<String, String>) -> Option<&'f T> {
    match fact {
        Ok(fact) => Some(fact),
        Err(reason) => {
            unknown.insert(name.to_owned(), reason.to_string());
            None
        }
    }
}
