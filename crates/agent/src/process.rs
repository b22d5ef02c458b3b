//! What is asked of one process, and what it gives.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use layouts::Profile;
use model::{HandleKind, Process, Snapshot};
use native::Ending;
use session::{
    Designator, Known, MoreMemory, RANK_VARIABLES, RecordError, RecordRequest, Session, SessionError, Wrappers,
};
use target::TargetError;

use super::arguments::Command;
use super::failure::Failure;

/// What is asked of every process.
pub struct Question {
    /// What is wanted.
    pub command: Command,
    /// What wraps MPI.
    pub wrappers: Wrappers,
    /// A layout profile that was named.
    pub profile: Option<Profile>,
    /// Which objects, and which of a kind where not all.
    pub handles: Vec<(HandleKind, Option<Designator>)>,
}

/// What came of one process.
pub enum Told {
    /// A snapshot of it.
    Snapshot(Box<Snapshot>),
    /// It was recorded: the bytes, and why it cannot be read, where it cannot.
    Recorded(Vec<u8>, Option<SessionError>),
}

impl Question {
    /// Whether the frames of all threads are told.
    fn stacks(&self) -> bool {
        !matches!(self.command, Command::Show | Command::Handles)
    }

    /// Asks a process.
    ///
    /// # Errors
    /// Where nothing is known of it.
    pub fn ask<T: Known>(&self, session: &Session<T>, more: MoreMemory) -> Result<Told, SessionError> {
        session.begin();
        let snapshot = match self.command {
            Command::Record => return record(session, more),
            Command::Show => session.finished(session.read(true)?, self.stacks(), &self.wrappers),
            Command::Diagnose => {
                let process = match session.read(true) {
                    Ok(process) => process,
                    // Who waits in MPI_Init, and for whom, is told by where ranks stand.
                    Err(error) => match session.outline() {
                        Some(outline) => Process { problems: vec![error.to_string()], ..outline },
                        None => return Err(error),
                    },
                };
                session.finished(process, self.stacks(), &self.wrappers)
            }
            Command::Handles => {
                let process = session.read_handles(&self.handles)?;
                session.finished(process, self.stacks(), &self.wrappers)
            }
            Command::Stacks => {
                let (process, refused) = session.bare();
                let found = session.finished(process, self.stacks(), &self.wrappers);
                match refused {
                    Some(error) if found.processes.iter().all(|process| process.stacks.is_empty()) => {
                        return Err(error);
                    }
                    _ => found,
                }
            }
        };
        Ok(Told::Snapshot(Box::new(snapshot)))
    }

    /// Of a process that was recorded before MPI_Init or after MPI_Finalize: that, and where it stood.
    pub fn outline<T: Known>(&self, session: &Session<T>) -> Option<Snapshot> {
        if !matches!(self.command, Command::Show | Command::Diagnose) {
            return None;
        }
        session.begin();
        session.outline().map(|process| session.finished(process, self.stacks(), &self.wrappers))
    }
}

fn record<T: Known>(session: &Session<T>, more: MoreMemory) -> Result<Told, SessionError> {
    let mut out = Vec::new();
    let facts = session.target().facts(&RANK_VARIABLES);
    let captured_at = Some(session.captured_at());
    let request = RecordRequest { facts, captured_at, more, also: |_| {}, progress: &mut |_, _| Ok(()) };
    match session.record(request, &mut out) {
        Ok(problem) => Ok(Told::Recorded(out, problem)),
        Err(RecordError::Session(error)) => Err(error),
        // Memory is written to, which does not fail.
        Err(RecordError::Write(error)) => Err(TargetError::Debugger(error.to_string()).into()),
    }
}

/// When reading must end, and whether it had to.
#[derive(Clone)]
pub struct Deadline {
    until: Instant,
    over: Rc<Cell<bool>>,
}

impl Deadline {
    /// Reading ends at `until`.
    pub fn new(until: Instant) -> Self {
        Self { until, over: Rc::default() }
    }

    /// Whether something was not read because of it.
    pub fn is_over(&self) -> bool {
        self.over.get()
    }

    /// What a process asks whether it is read on.
    pub fn ending(&self) -> Ending {
        let Self { until, over } = self.clone();
        Box::new(move || {
            let late = Instant::now() > until;
            late.then(|| {
                over.set(true);
                TargetError::Debugger("it was not read within its time".to_owned())
            })
        })
    }
}

/// Why a process gave nothing, and what to type.
pub struct Refused {
    text: String,
    help: &'static str,
}

impl Refused {
    /// That of a session.
    pub fn of(error: &SessionError) -> Self {
        Self { text: error.to_string(), help: error.help() }
    }

    /// Without anything to type.
    pub fn plain(error: &TargetError) -> Self {
        Self { text: error.to_string(), help: "" }
    }
}

/// The answer of what is called `label`, unless its time was over: what came may be half of it then. `left` says how it is
/// left.
///
/// # Errors
/// Why there is none.
pub fn in_time(
    answer: Result<Told, Refused>,
    label: &str,
    deadline: &Deadline,
    timeout: Duration,
    left: &str,
) -> Result<Told, Failure> {
    if deadline.is_over() {
        let text = format!("{label}: not read within {} seconds{left}", timeout.as_secs_f64());
        return Err(Failure::new(&text, "allow more time with --timeout SECONDS"));
    }
    answer.map_err(|Refused { text, help }| {
        let named = if text.contains(label) { text } else { format!("{label}: {text}") };
        Failure::new(&named, help)
    })
}
