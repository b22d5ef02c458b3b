//! The stacks of all processes as one tree: who stands where, and who does not stand where the others do.

mod fold;
mod merge;
mod order;
mod waits;

pub use fold::{Shown, main_thread, shown};
pub use merge::{MOST_DEEP, MOST_NODES};

use model::{Process, RankRuns, RankSet, Snapshot, Stack, StackTree};

use super::waits::{Whose, whose};
use merge::{Group, Merger};
use waits::Waits;

/// Which stacks are merged, and which of their frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// All threads, not the main ones only.
    pub all_threads: bool,
    /// Also what is folded away else: frames inside MPI, of what wraps it, of interpreters, and those before `main`; and
    /// threads of the MPI library and its helpers.
    pub internal: bool,
    /// The process of that rank only (`Snapshot::rank_of`).
    pub rank: Option<i64>,
}

/// Merges the stacks of a snapshot.
pub fn merge(snapshot: &Snapshot, options: Options) -> StackTree {
    let mut merger = Merger::default();
    let mut not_read = Group::default();
    let mut waits = Waits::default();
    let mut met = RankRuns::default();
    for (at, process) in snapshot.processes.iter().enumerate() {
        let rank = snapshot.rank_of(process);
        if options.rank.is_some() && rank != options.rank {
            continue;
        }
        rank.into_iter().for_each(|rank| met.add(rank));
        let who = Who { at, rank, pid: process.pid };
        let mut any = false;
        for stack in wanted(process, options) {
            any = true;
            let frames = shown(stack, options.internal);
            merger.add(&who, stack, &frames, options);
            waits.add(snapshot, &who, process, stack);
        }
        if !any {
            not_read.add(&who);
        }
    }
    let (nodes, members, incomplete, cut) = order::finished(merger, options);
    let mut not_read = not_read.finished();
    if options.rank.is_none() && snapshot.worlds.is_empty() {
        let size = snapshot.processes.iter().filter_map(|process| process.world_size).max().unwrap_or(0);
        let others = RankSet::range(0, size.saturating_sub(1)).without(&met.finished());
        not_read.ranks = not_read.ranks.joined(&others);
    }
    StackTree {
        all_threads: options.all_threads,
        internal: options.internal,
        members,
        not_read,
        incomplete,
        cut,
        waits: waits.finished(),
        nodes,
    }
}

/// A process, by what it is called.
#[derive(Debug, Clone, Copy)]
struct Who {
    /// Its place in the snapshot.
    at: usize,
    rank: Option<i64>,
    pid: Option<i64>,
}

/// The stacks of a process that are merged; none that is empty.
fn wanted(process: &Process, options: Options) -> impl Iterator<Item = &Stack> {
    let main = main_thread(process).map(|stack| stack.thread);
    let of_library = |stack: &Stack| stack.outside().is_some_and(|outside| whose(&outside) == Whose::Library);
    let mut alone = false;
    process.stacks.iter().filter(move |stack| {
        let own = Some(stack.thread) == main;
        let chosen = if options.all_threads {
            own || options.internal || !of_library(stack)
        } else {
            own && !std::mem::replace(&mut alone, true)
        };
        chosen && !stack.frames.is_empty()
    })
}
