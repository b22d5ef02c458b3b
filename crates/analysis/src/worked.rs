//! What is worked out of one snapshot before any finding. A second look that is the same uses it again: in a
//! job of very many ranks it is most of the work.

use std::borrow::Cow;
use std::sync::Arc;

use self_cell::self_cell;

use super::call_arguments;
use super::diagnose::{Earlier, conclude};
use super::job::Job;
use super::matching::Matching;
use super::parallel::both;
use super::waits::{Traffic, Waits};
use model::{Finding, Process, Snapshot, Verdict};

/// Who is there, what belongs together, and who waits for what.
#[derive(Debug)]
pub struct Worked<'a> {
    /// Who is there.
    pub job: Job<'a>,
    /// What belongs together of what they sent and receive.
    pub matching: Matching<'a>,
    /// What they wait for.
    pub waits: Waits<'a>,
}

impl<'a> Worked<'a> {
    /// Of a snapshot with the facts that only the arguments of calls give ([`call_arguments::completed`]).
    pub fn new(complete: &'a Snapshot) -> Self {
        let job = Job::new(complete);
        let (matching, traffic) = both(complete.processes.len(), || Matching::new(&job), || Traffic::new(&job));
        let waits = Waits::new(&job, &matching, traffic);
        Self { job, matching, waits }
    }
}

self_cell! {
    struct Whole {
        owner: Arc<Snapshot>,
        #[covariant]
        dependent: Worked,
    }
    impl {Debug}
}

/// The same, kept together with its snapshot.
#[derive(Debug)]
pub struct Kept(Whole);

impl Kept {
    /// What is worked out of a snapshot.
    pub fn new(snapshot: &Arc<Snapshot>) -> Self {
        let complete = match call_arguments::completed(snapshot) {
            Cow::Borrowed(_) => Arc::clone(snapshot),
            Cow::Owned(complete) => Arc::new(complete),
        };
        Self(Whole::new(complete, |complete| Worked::new(complete)))
    }

    /// What is wrong in that snapshot.
    pub fn diagnose(&self) -> (Vec<Finding>, Verdict) {
        conclude(self.0.borrow_dependent(), self.0.borrow_owner(), None)
    }

    /// What is wrong in a later one; `None` where that differs in something of which this was worked out. `before`: the earlier
    /// one as it was read.
    pub fn diagnose_again(
        &self,
        before: &Snapshot,
        later: &Snapshot,
        earlier: Earlier<'_>,
    ) -> Option<(Vec<Finding>, Verdict)> {
        same(before, later).then(|| conclude(self.0.borrow_dependent(), later, Some(earlier)))
    }
}

/// Whether two looks differ in nothing but when they were and where in their functions ranks stood.
fn same(before: &Snapshot, later: &Snapshot) -> bool {
    (&before.worlds, &before.problems) == (&later.worlds, &later.problems)
        && before.processes.len() == later.processes.len()
        && before.processes.iter().zip(&later.processes).all(|(before, later)| same_process(before, later))
}

/// All of a process is compared, so that nothing is forgotten here that comes to it.
fn same_process(before: &Process, later: &Process) -> bool {
    // What was not asked again mostly is the same memory.
    std::ptr::eq(before, later)
        || same_groups(before, later)
            && *before
                == Process { captured_at: before.captured_at.clone(), stacks: before.stacks.clone(), ..later.clone() }
}

/// So many members of a group are compared for each process that has it.
const FEW: usize = 4096;

/// Whether the groups of large communicators are the same memory. Of each of n processes n members would be compared else.
fn same_groups(before: &Process, later: &Process) -> bool {
    before.communicators.place() == later.communicators.place() || large_groups(before).eq(large_groups(later))
}

/// Where they lie.
fn large_groups(process: &Process) -> impl Iterator<Item = usize> {
    let all = process
        .communicators
        .iter()
        .flat_map(|communicator| [communicator.group.as_deref(), communicator.remote_group.as_deref()]);
    all.flatten().filter(|group| group.len() > FEW).map(|group| group.as_ptr().addr())
}
