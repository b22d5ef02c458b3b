//! Processes whose queues nobody can read, by what the flight recorder has seen of their calls (docs/recorder.md).

mod calls;
mod names;
mod operations;

use std::collections::HashMap;

use functions::constants::Family;
use history::Record;
use model::{Communicator, HandleWord, Mpi, Process, Queue, QueueState, Source, SourceKind, Stage, Text};
use target::Target;

use super::{Session, SessionError};
pub(super) use calls::tell_calls;

/// The recorder's library (docs/recorder.md).
const LIBRARY: &str = "libmpi_queues_recorder.so";

/// What the recorder calls MPI_COMM_WORLD and MPI_COMM_SELF (crates/recorder/src/origins.rs).
const WORLD: HandleWord = HandleWord(1);
const OWN: HandleWord = HandleWord(2);

const NOTE: &str = "its operations come from the flight recorder: what its calls have begun and none has completed";
const UNEXPECTED: &str = "the flight recorder does not see messages that no rank has received; `mpi-queues diagnose` \
    of all ranks finds them by counting";

impl SessionError {
    /// Whether the flight recorder may know what cannot be read: the MPI is there, and it is one that nobody reads.
    fn leaves_the_recorder(&self) -> bool {
        matches!(
            self,
            Self::NotMpi { .. }
                | Self::UnsupportedMpi { .. }
                | Self::TooOld { .. }
                | Self::NoLayout(_)
                | Self::Profile(_)
                | Self::Reader(_)
        )
    }
}

impl<T: Target> Session<T> {
    /// Reads the process with the built-in reader; where that cannot, by what the flight recorder has seen.
    ///
    /// # Errors
    /// Those of [`Session::read_builtin`], where there is no recorder either.
    pub fn read(&self, with_queues: bool) -> Result<Process, SessionError> {
        match self.read_builtin(with_queues) {
            Err(error) if error.leaves_the_recorder() => match self.read_recorded() {
                Ok(mut process) => {
                    process.notes.push(format!("its queues cannot be read: {error}"));
                    Ok(process)
                }
                Err(_) => Err(error),
            },
            other => other,
        }
    }

    /// Reads the process by what the flight recorder has seen, and by nothing else. `via`, pid, host and stacks are the
    /// caller's to fill in; its operations come with what else is known ([`Session::complete`]).
    ///
    /// # Errors
    /// Where it runs without the recorder, or its record cannot be read.
    pub fn read_recorded(&self) -> Result<Process, SessionError> {
        let _request = self.target.budget().request();
        let record = self.record_of(&HashMap::new())?.ok_or(SessionError::NoRecorder)?;
        match record.stage {
            Some(Stage::NotInitialized) => return Err(SessionError::NotInitialized),
            Some(Stage::Finalized) => return Err(SessionError::Finalized),
            _ => {}
        }
        let library =
            target::libraries::c_library(&self.target.images().unwrap_or_default()).map(|image| image.path.clone());
        let implementation = match record.family {
            Some(Family::OpenMpi) => "Open MPI",
            Some(Family::Mpich) => "an MPI with MPICH's ABI",
            Some(Family::Abi) => "an MPI with the ABI of MPI 5",
            None => "an MPI",
        };
        let mpi =
            Mpi { implementation: implementation.to_owned(), library: library.unwrap_or_default(), ..Mpi::default() };
        let history = &record.history;
        Ok(Process {
            rank: history.world_rank,
            world_size: history.world_size,
            mpi: Some(mpi.into()),
            source: Some(Source { kind: SourceKind::Recorder, ..Source::default() }.into()),
            stage: record.stage,
            communicators: communicators(&record).into(),
            ..Process::default()
        })
    }

    /// What the recorder keeps; `None` where the process runs without it, or has not called MPI yet. `names`: what communicators
    /// are called.
    pub(super) fn record_of(&self, names: &HashMap<HandleWord, Text>) -> Result<Option<Record>, SessionError> {
        // Recordings that were made before anybody wanted it are not asked for its symbol.
        let images = self.target.images().unwrap_or_default();
        if !images.iter().any(|image| image.file_name() == LIBRARY) {
            return Ok(None);
        }
        let mut record = history::read(&self.target, &|handle| names.get(&handle).cloned())?;
        if let Some(record) = &mut record {
            names::Names::new(&self.target, record.family).tell(record);
        }
        Ok(record)
    }
}

/// Tells what a process has posted, where its queues are not known.
pub(super) fn fill(process: &mut Process, record: &Record) {
    let unknown = |queue: &Queue| queue.state == QueueState::NoInformation && queue.operations.is_empty();
    let is_unknown = |one: &Communicator| {
        unknown(&one.pending_receives) && unknown(&one.pending_sends) && unknown(&one.unexpected_messages)
    };
    if record.history.bypassed || process.communicators.is_empty() || !process.communicators.iter().all(is_unknown) {
        return;
    }
    if let Some(source) = &mut process.source {
        source.kind = SourceKind::Recorder;
    }
    for communicator in &mut process.communicators {
        let known = record.history.communicators.iter().find(|known| Some(known.handle) == communicator.handle);
        let Some(known) = known else { continue };
        // It names the communicator as well as a context id does: the same in all members, and no other has it.
        let identity = || known.identity.map(|identity| identity.to_string().into());
        communicator.context_id = communicator.context_id.take().or_else(identity);
        communicator.next_sequence = i64::try_from(known.started).ok().and_then(|number| number.checked_add(1));
        (*communicator.pending_sends, *communicator.pending_receives) = (Queue::default(), Queue::default());
        *communicator.unexpected_messages = Queue::no_information(UNEXPECTED);
        // Requests that had no room may have been of any communicator.
        let lost = record.history.lost_requests.saturating_add(record.history.lost_calls);
        communicator.pending_sends.dropped = lost;
        communicator.pending_receives.dropped = lost;
    }
    operations::put(process, record);
    process.notes.push(NOTE.to_owned());
}

/// The communicators by their calls. Who is in those of several processes is known when all of these are looked at together.
fn communicators(record: &Record) -> Vec<Communicator> {
    let history = &record.history;
    let mut found: Vec<Communicator> = Vec::with_capacity(history.communicators.len());
    let mut world = false;
    for one in &history.communicators {
        let name = match (one.identity, &one.made_by) {
            _ if one.name.is_some() => one.name.clone().unwrap_or_default(),
            (Some(WORLD), _) => "MPI_COMM_WORLD".into(),
            (Some(OWN), _) => "MPI_COMM_SELF".into(),
            (_, Some(function)) => format!("<made by {function}>").into(),
            (_, None) => "<without a name>".into(),
        };
        let group = match (one.identity, one.size, history.world_rank) {
            // There is one of them.
            (Some(WORLD), Some(size), _) if size <= MOST_MEMBERS && !std::mem::replace(&mut world, true) => {
                Some((0..size).map(Some).collect())
            }
            (_, Some(1), Some(rank)) if one.remote_size.is_none() => Some(vec![Some(rank)]),
            _ => None,
        };
        let unknown = || Queue::no_information(UNEXPECTED).into();
        found.push(Communicator {
            name,
            name_set: Some(one.name.is_some() || matches!(one.identity, Some(WORLD | OWN))),
            unique_id: one.handle.0,
            context_id: one.identity.map(|identity| identity.to_string().into()),
            handle: Some(one.handle),
            local_rank: one.local_rank,
            size: one.size,
            group: group.map(Into::into),
            pending_sends: unknown(),
            pending_receives: unknown(),
            unexpected_messages: unknown(),
            ..Communicator::default()
        });
    }
    found
}

/// No group is larger that is written out here: sizes are read from memory.
const MOST_MEMBERS: i64 = 1 << 22;
