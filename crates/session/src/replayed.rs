//! All processes of a recording, read by the built-in reader.

use std::rc::Rc;

use super::{LayoutChoice, Session, SessionError, Wrappers, add_facts, kept_arguments, tell_missing};
use model::{Facts, Process, Snapshot, Stack};
use recording::{RecordingError, RecordingFile, Replay};
use target::{Target, TargetError};

/// Why a process of a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It is not whole.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// It cannot be read.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl LayoutChoice {
    /// The layouts that a recording holds.
    pub fn of_replay(replay: &Replay) -> Self {
        Self { debugger: Some(Rc::new(replay.types())), profile: None, recorded: replay.profile.clone() }
    }
}

impl<T: Target> Session<T> {
    /// Adds to stacks the frames of Python, where the process has an interpreter; returns what else is known of it.
    pub fn add_python(&self, stacks: &mut [Stack]) -> python::Told {
        let _request = self.target.budget().request();
        python::add_frames(&self.target, stacks)
    }

    /// Adds to what a reader has found what is known besides memory, and what follows from both. `missing`: reads for which
    /// a recording has nothing. What wraps MPI is marked in the stacks.
    pub fn complete(&self, process: &mut Process, facts: &mut Facts, wrappers: &Wrappers, missing: &[TargetError]) {
        let told = self.add_python(&mut facts.stacks);
        process.notes.extend(told.notes);
        process.exceptions = told.exceptions;
        process.python_ended = told.ended;
        facts.stacks.iter_mut().for_each(|stack| wrappers.mark(stack));
        add_facts(process, facts);
        self.resolve_calls(process);
        kept_arguments::tell(process, &facts.stacks);
        tell_missing(process, missing);
    }
}

/// One process of a recording.
///
/// # Errors
/// Where it is not whole, or cannot be read.
pub fn read_recorded(file: &Rc<RecordingFile>, index: usize) -> Result<Snapshot, ReplayError> {
    let replay = Replay::open(file, index)?;
    let choice = LayoutChoice::of_replay(&replay);
    let session = Session::new(replay, choice);
    let mut process = session.read_builtin(true)?;
    let replay = session.target();
    let mut facts = Facts { via: "recording".to_owned(), ..replay.description.facts.clone() };
    session.complete(&mut process, &mut facts, &Wrappers::default(), &replay.missing());
    let captured_at = replay.description.captured_at.clone();
    Ok(Snapshot { captured_at, processes: vec![process], ..Snapshot::default() })
}
