//! Programs of which each rank stands somewhere, made up from a seed: their queues are withheld.

use model::{Call, Frame, Queue, QueueState, Snapshot, Stack};

use super::made::job;

/// Numbers from a seed (splitmix64).
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % limit as u64) as usize
    }

    pub fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    pub fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

pub fn frame(function: &str, file: &str, line: i64) -> Frame {
    Frame {
        function: Some(function.to_owned()),
        file: Some(file.to_owned()),
        line: Some(line),
        application: Some(true),
        image: Some("/home/me/solver".to_owned()),
        ..Frame::default()
    }
}

pub fn library(function: &str, image: &str) -> Frame {
    Frame {
        function: Some(function.to_owned()),
        application: Some(false),
        image: Some(format!("/usr/lib/{image}")),
        ..Frame::default()
    }
}

/// The stack of a main thread with these frames of the application, outermost first, and what is further in.
pub fn stack(own: &[Frame], inner: Vec<Frame>) -> Stack {
    let mut frames = inner;
    frames.extend(own.iter().rev().cloned());
    frames.push(library("__libc_start_call_main", "libc.so.6"));
    frames.push(library("__libc_start_main_impl", "libc.so.6"));
    frames.push(frame("_start", "start.S", 1));
    Stack { thread: 1, complete: true, main: Some(true), frames, ..Stack::default() }
}

/// The frames of a function of MPI and what it is at just now, innermost first.
pub fn in_mpi(function: &str, chance: &mut Chance) -> Vec<Frame> {
    const BUSY: &[&str] =
        &["opal_progress", "mca_btl_vader_component_progress", "poll", "ompi_sync_wait_mt", "sched_yield"];
    let mut frames: Vec<Frame> = (0..chance.below(4)).map(|_| library(chance.of(BUSY), "libopen-pal.so.40")).collect();
    frames.push(library(&format!("P{function}"), "libmpi.so.40"));
    frames
}

/// A job of `size` ranks whose queues are not known.
pub fn dark_job(size: usize) -> Snapshot {
    let mut snapshot = job(size as i64);
    let detail = || Some("withheld".to_owned());
    let none = || Queue { state: QueueState::NoInformation, detail: detail(), ..Queue::default() }.into();
    for process in &mut snapshot.processes {
        let world = &mut process.communicators[0];
        (world.pending_sends, world.pending_receives, world.unexpected_messages) = (none(), none(), none());
    }
    snapshot
}

/// Lets a rank stand there, as a session tells it.
pub fn stand(snapshot: &mut Snapshot, rank: usize, stack: Stack) {
    let process = &mut snapshot.processes[rank];
    process.calls = stack.call().map(|call| Call { fingerprint: Some("f".to_owned()), ..call }).into_iter().collect();
    process.outside = stack.outside().into_iter().collect();
    process.outside.iter_mut().for_each(|thread| thread.fingerprint = Some("f".to_owned()));
    process.stacks = vec![stack].into();
}
