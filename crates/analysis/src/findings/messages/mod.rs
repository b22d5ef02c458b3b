//! Findings about messages: those that do not fit the receives that wait, and those that nobody receives.

mod lengths;
mod mismatches;
mod piles;
mod probed;
mod started;
mod text;
mod unmatched;

use hashbrown::HashSet;

use crate::job::{Job, ProcIndex};
use crate::matching::{Entry, Matching, OperationPlace};
use model::Finding;

/// What is known of whether a process goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fate {
    /// It may go on, or nothing is known of it.
    #[default]
    Open,
    /// It can perhaps never go on.
    Suspect,
    /// It can never go on.
    Stuck,
    /// It sends and receives nothing any more, for this reason, in words: `is in MPI_Finalize`.
    Finished(&'static str),
}

/// What findings about messages are made from.
#[derive(Debug)]
pub struct Context<'a, 'b> {
    /// The job.
    pub job: &'b Job<'a>,
    /// Its operations.
    pub matching: &'b Matching<'a>,
    /// By process.
    pub fates: &'b [Fate],
    /// The operations that a thread waits for.
    pub waited: &'b HashSet<OperationPlace>,
}

impl<'a> Context<'a, '_> {
    fn fate(&self, proc: ProcIndex) -> Fate {
        self.fates.get(proc.0).copied().unwrap_or_default()
    }

    /// Whether a process can never do anything more for others; and whether that is certain.
    fn is_out(&self, proc: ProcIndex) -> Option<bool> {
        match self.fate(proc) {
            Fate::Open => None,
            Fate::Suspect => Some(false),
            Fate::Stuck | Fate::Finished(_) => Some(true),
        }
    }

    /// Whether a stuck process waits for an operation; and whether it is certain that it is stuck.
    fn is_stuck_in(&self, entry: &Entry<'a>) -> Option<bool> {
        match self.fate(entry.place.proc) {
            Fate::Open | Fate::Finished(_) => None,
            fate => self.waited.contains(&entry.place).then_some(fate == Fate::Stuck),
        }
    }
}

/// How many findings of one kind are shown.
const MAX_FINDINGS: usize = 20;

/// All findings about messages; what explains most comes first.
pub fn find(context: &Context<'_, '_>) -> Vec<Finding> {
    let mismatches = mismatches::find(context);
    let mut findings = mismatches.findings;
    findings.extend(lengths::find(context));
    findings.extend(started::find(context));
    findings.extend(unmatched::find(context, &mismatches.mentioned));
    findings.extend(piles::find(context));
    findings
}
