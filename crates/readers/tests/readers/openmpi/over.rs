//! What tests of the pmls that leave matching to a network's library share.

use made_up::memory::Memory;
use made_up::process::Process;
use made_up::rich::{damage, queues};
use made_up::rng::Rng;
use model::QueueReport;

/// How many operations there are: sends, receives, messages.
pub fn census(report: &QueueReport) -> [usize; 3] {
    let mut counts = [0; 3];
    for found in &report.communicators {
        let all = [&found.pending_sends, &found.pending_receives, &found.unexpected_messages];
        for (count, queue) in counts.iter_mut().zip(all) {
            *count += queue.operations.len();
        }
    }
    counts
}

/// The memory of a process with some damage.
pub fn damaged(process: &Process, seed: u64) -> Memory {
    let (mut rng, mut memory) = (Rng::new(seed), process.mem.clone());
    for _ in 0..1 + rng.below(12) {
        damage(process, &mut memory, rng.below(8) as u8, rng.below(u64::MAX), rng.below(u64::MAX));
    }
    memory
}

/// What is told of it is printable and not more than there can be.
pub fn assert_bounded(report: &QueueReport) {
    assert!(report.problems.len() <= 101 && report.notes.len() < 12);
    for text in report.problems.iter().chain(&report.notes) {
        assert!(text.len() < 2000 && !text.chars().any(char::is_control), "{text:?}");
    }
    assert!(queues(report).all(|queue| queue.operations.len() < 1000));
}
