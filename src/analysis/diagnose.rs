//! Why is it stuck: from one snapshot, or from two looks at the same job.

use crate::model::{Finding, Snapshot, Verdict};

use super::job::Job;

/// An earlier look at the same job.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// What was read then.
    pub snapshot: &'a Snapshot,
    /// Time between the two, in milliseconds, during which the job ran.
    pub interval_ms: Option<u64>,
}

/// Finds what is wrong; the findings that explain most come first.
pub fn diagnose(snapshot: &Snapshot, earlier: Option<Earlier<'_>>) -> (Vec<Finding>, Verdict) {
    let _job = Job::new(snapshot);
    let verdict = Verdict { interval_ms: earlier.and_then(|earlier| earlier.interval_ms), ..Verdict::default() };
    (Vec::new(), verdict)
}
