//! The latest calls of each rank, as the flight recorder keeps them, for a time line.

use hashbrown::HashSet;

use model::{PastCall, Process};
use serde::Serialize;

use crate::strings::{Strings, TextId};

/// So many calls are shown at most, those of all ranks together.
const MOST_CALLS: usize = 40_000;

/// So many of one thread.
const MOST_OF_THREAD: usize = 64;

/// And so few where there are many ranks.
const LEAST_OF_THREAD: usize = 4;

/// Calls, in columns.
#[derive(Debug, Default, Serialize)]
pub struct PastCalls {
    /// Place of the process in the table of ranks.
    pub process: Vec<usize>,
    /// The kernel's number of the thread.
    pub thread: Vec<i64>,
    /// When it began, RFC 3339 in UTC.
    pub began: Vec<TextId>,
    /// The function of MPI.
    pub function: Vec<TextId>,
    /// File and line.
    pub line: Vec<TextId>,
    /// The communicator.
    pub communicator: Vec<TextId>,
    /// Destination, source, root or target.
    pub peer: Vec<Option<i64>>,
    /// The tag.
    pub tag: Vec<Option<i64>>,
    /// Whether the thread is in it.
    pub current: Vec<u8>,
    /// How many processes have calls that are not shown.
    pub left_out: usize,
}

/// Those of processes; of `first` ranks before others.
pub(crate) fn past_calls<'a>(
    processes: impl Iterator<Item = (usize, Option<i64>, &'a Process)>,
    first: &HashSet<i64>,
    strings: &mut Strings,
) -> PastCalls {
    let mut recorded: Vec<(bool, usize, &Process)> = processes
        .filter(|(_, _, process)| process.history.as_ref().is_some_and(|found| !found.threads.is_empty()))
        .map(|(place, rank, process)| (!rank.is_some_and(|rank| first.contains(&rank)), place, process))
        .collect();
    recorded.sort_by_key(|(later, place, _)| (*later, *place));
    let mut found = PastCalls::default();
    let each = (MOST_CALLS / recorded.len().max(1)).clamp(LEAST_OF_THREAD, MOST_OF_THREAD);
    for (_, place, process) in recorded {
        let threads = process.history.iter().flat_map(|history| &history.threads);
        let room = MOST_CALLS.saturating_sub(found.process.len());
        if room == 0 {
            found.left_out += 1;
            continue;
        }
        let mut left = room.min(each * 4);
        for thread in threads {
            let calls = thread.calls.len().saturating_sub(each.min(left));
            let shown = thread.calls.get(calls..).unwrap_or_default();
            left -= shown.len().min(left);
            for call in shown {
                found.add(place, thread.kernel_thread, call, thread.current == Some(call.number), strings);
            }
        }
    }
    found
}

impl PastCalls {
    fn add(&mut self, process: usize, thread: i64, call: &PastCall, current: bool, strings: &mut Strings) {
        self.process.push(process);
        self.thread.push(thread);
        self.began.push(strings.id(&call.began_at));
        self.function.push(strings.id(&call.function));
        let given = &call.given;
        let line = strings.line(given.file.as_deref().or(given.place.as_deref()), given.line);
        self.line.push(line);
        self.communicator.push(strings.of(given.communicator.as_deref()));
        self.peer.push(given.peer);
        self.tag.push(given.tag);
        self.current.push(u8::from(current));
    }
}
