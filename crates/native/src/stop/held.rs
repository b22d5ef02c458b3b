//! All processes that stand for us, so that somebody else than their reader can let them go on: he may stand himself.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::stopped::Command;

static TRACERS: Mutex<BTreeMap<u64, Sender<Command>>> = Mutex::new(BTreeMap::new());

fn tracers() -> MutexGuard<'static, BTreeMap<u64, Sender<Command>>> {
    TRACERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Processes that one thread of ours traces, as long as this is there.
#[derive(Debug)]
pub(super) struct Held(u64);

impl Held {
    pub(super) fn new(commands: Sender<Command>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        tracers().insert(number, commands);
        Self(number)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        tracers().remove(&self.0);
    }
}

/// Lets all processes go on that stand for us. What is read of them from then on is not of one time.
pub fn release_everything() {
    for commands in tracers().values() {
        // One whose thread has ended traces nothing any more.
        let _ = commands.send(Command::ReleaseAll);
    }
}
