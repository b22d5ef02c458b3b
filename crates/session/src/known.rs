//! What is known of a process besides its memory, and a snapshot of both.

use std::time::SystemTime;

use super::{LayoutChoice, RANK_VARIABLES, Session, SessionError, Wrappers, keep_stacks};
use layouts::Profile;
use model::{Facts, Process, Snapshot, time};
use native::Native;
use recording::Replay;
use target::{Target, TargetError};

/// A process of which more is known than its memory.
pub trait Known: Target {
    /// That, with the stacks of its threads; `variables` are those of the environment.
    fn facts(&self, variables: &[&str]) -> Facts;

    /// How memory is read now, where that is not how it was read for the facts.
    fn via(&self) -> Option<&'static str> {
        None
    }

    /// When the process was as it is read, where that is not now.
    fn captured_at(&self) -> Option<String> {
        None
    }

    /// A new reading begins. Whether what failed in the last one is looked for again: what a recording lacks is told of each.
    fn begin(&self) -> bool {
        false
    }

    /// The errors of reads for which the recording has nothing.
    fn missing(&self) -> Vec<TargetError> {
        Vec::new()
    }
}

impl LayoutChoice {
    /// The types of the process's MPI library, and the profile that the user has named.
    pub fn of_native<P: native::Process + 'static>(native: &Native<P>, profile: Option<Profile>) -> Self {
        Self { debugger: Some(native.types(readers::wanted::MPIS)), profile, recorded: None }
    }
}

impl<P: native::Process + 'static> Known for Native<P> {
    fn facts(&self, variables: &[&str]) -> Facts {
        Native::facts(self, variables)
    }
}

impl Known for Replay {
    /// As they were recorded.
    fn facts(&self, _: &[&str]) -> Facts {
        self.description.facts.clone()
    }

    fn via(&self) -> Option<&'static str> {
        Some("recording")
    }

    fn captured_at(&self) -> Option<String> {
        self.description.captured_at.clone()
    }

    fn begin(&self) -> bool {
        self.forget_missing();
        true
    }

    fn missing(&self) -> Vec<TargetError> {
        Replay::missing(self)
    }
}

impl<T: Known> Session<T> {
    /// A new reading begins.
    pub fn begin(&self) {
        if self.target().begin() {
            self.forget_failure();
        }
    }

    /// A snapshot of what a reader has found, with all that is known besides; with `stacks` also the frames of all threads.
    pub fn finished(&self, mut process: Process, stacks: bool, wrappers: &Wrappers) -> Snapshot {
        let target = self.target();
        let mut facts = target.facts(&RANK_VARIABLES);
        if let Some(via) = target.via() {
            via.clone_into(&mut facts.via);
        }
        self.complete(&mut process, &mut facts, wrappers, &target.missing());
        if stacks {
            keep_stacks(&mut process, &facts);
        }
        Snapshot { captured_at: Some(self.captured_at()), processes: vec![process.into()], ..Snapshot::default() }
    }

    /// The time of what is read, RFC 3339 in UTC.
    pub fn captured_at(&self) -> String {
        self.target().captured_at().unwrap_or_else(|| time::seconds(SystemTime::now()))
    }

    /// What a reader finds where only stacks are wanted, whatever its MPI is; and why no more is known, which a note says.
    pub fn bare(&self) -> (Process, Option<SessionError>) {
        match self.read(false) {
            Ok(process) => (process, None),
            Err(error) => {
                let notes = vec![format!("only its stacks are known: {error}")];
                (Process { stage: self.stage_without_mpi(), notes, ..Process::default() }, Some(error))
            }
        }
    }

    /// What is known of a process that cannot be read because MPI_Init is not done, or MPI_Finalize is; `None` for all others.
    pub fn outline(&self) -> Option<Process> {
        self.stage_without_mpi().map(|stage| Process { stage: Some(stage), ..Process::default() })
    }
}
