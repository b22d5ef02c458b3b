//! A vendor's plug-in as the reader of a session. Nothing else of the session knows it.

use std::path::Path;

use crate::{Detected, Session, SessionError};
use analysis::compare::differences;
use model::{Communicator, Process, Queue, QueueReport, QueueSource, QueueState, Source, SourceKind, Spawned, Text};
use plugins::host::run::Run;
use plugins::mqs::discovery::{Candidate, Search, candidates};
use plugins::mqs::{
    BadRead, NewProcess, PluginError, PluginInfo, PluginRequest, PluginSource, Universe, dialect, inspect_plugin,
    is_own_library,
};
use target::{Target, TargetError};

/// A plug-in's reads are not longer than this in bytes.
const MAX_DOUBTED: usize = 1 << 16;

/// What the user has said about plug-ins.
pub struct PluginSettings<'a> {
    /// Where they are looked for.
    pub search: Search<'a>,
    /// For how long they run, with whose rights: those of whoever's process it is.
    pub run: Run<'a>,
    /// The process's place in the universe of its job, where that is known.
    pub identity: Option<i64>,
}

/// The plug-in that would be used, and all that were looked at.
pub struct PluginChoice {
    /// The places, the preferred one first.
    pub candidates: Vec<Candidate>,
    /// The first that may be loaded.
    pub chosen: Option<Candidate>,
}

impl PluginChoice {
    /// The first that may be loaded is chosen.
    pub fn of(candidates: Vec<Candidate>) -> Self {
        let chosen = candidates.iter().find(|candidate| candidate.usable()).cloned();
        Self { candidates, chosen }
    }

    /// The places that were looked at, in words.
    pub fn described(&self) -> Vec<String> {
        let one = |candidate: &Candidate| {
            let refusal = candidate.refusal.as_ref().map(|refusal| format!(": {refusal}")).unwrap_or_default();
            format!("{} ({}){refusal}", candidate.path.display(), candidate.how.describe())
        };
        self.candidates.iter().map(one).collect()
    }

    /// Why there is none, naming every place; `none` where there is no place.
    pub fn refusal(self, none: String) -> SessionError {
        let mut refused = self.candidates.into_iter().filter_map(|candidate| candidate.refusal);
        match (refused.next(), refused.next()) {
            (None, _) => SessionError::NoPlugin(none),
            (Some(only), None) => SessionError::Plugin(only),
            (Some(first), Some(second)) => {
                let all: Vec<String> =
                    [first, second].into_iter().chain(refused).map(|error| error.to_string()).collect();
                SessionError::NoPlugin(format!("no plug-in can be used: {}", all.join("; ")))
            }
        }
    }
}

/// Whether a process has the communicator of those that spawned it, under the name that the standard gives it.
fn was_spawned(process: &Process) -> bool {
    process.communicators.iter().any(|found| found.remote_group.is_some() && found.name == "MPI_COMM_PARENT")
}

impl<T: Target> Session<T> {
    /// Looks for the plug-in to use.
    pub fn choose_plugin(&self, settings: &PluginSettings<'_>) -> PluginChoice {
        PluginChoice::of(candidates(self.target(), &settings.search))
    }

    /// Loads a plug-in in its helper process and asks what it is.
    ///
    /// # Errors
    /// Where it is none, or none that can be driven.
    pub fn inspect_plugin(&self, path: &Path, settings: &PluginSettings<'_>) -> Result<PluginInfo, SessionError> {
        Ok(inspect_plugin(path, settings.run)?)
    }

    /// Reads the process with a plug-in; world ranks come from our own reader of communicators.
    ///
    /// # Errors
    /// Where no plug-in may be used, or it delivered nothing. What it delivered before it failed is kept, with the
    /// failure among the problems.
    pub fn read_plugin(&self, settings: &PluginSettings<'_>) -> Result<Process, SessionError> {
        let detected = self.detected()?;
        // Without our own reader's communicators the plug-in's ranks stay as they are.
        let ours = self.read_builtin(false).unwrap_or_else(|error| Process {
            problems: vec![format!("the communicators could not be read to check the plug-in: {error}")],
            ..Process::default()
        });
        let choice = self.choose_plugin(settings);
        let path = match &choice.chosen {
            Some(chosen) => chosen.path.clone(),
            None => return Err(choice.refusal("no plug-in was found for this MPI library".to_owned())),
        };
        let mut told = Process::default();
        let unfit = detected.installed.unfit_for_plugins(&detected).filter(|_| !is_own_library(&path));
        let mut report = match unfit {
            None => self.run_plugin(&path, &detected, &ours, settings, &mut told)?,
            Some(reason) => {
                let mut communicators = self.read_builtin(true)?.communicators;
                let refused = format!("the plug-in was not run: {reason}");
                for queue in communicators.iter_mut().flat_map(|communicator| communicator.queues_mut()) {
                    *queue = Queue::no_information(refused.as_str());
                }
                QueueReport {
                    communicators: communicators.into_owned(),
                    notes: vec![refused],
                    ..QueueReport::default()
                }
            }
        };
        report.notes.extend(ours.notes.iter().cloned());
        let plugin = Some(path.display().to_string());
        let layouts = Some(detected.layouts_name.clone());
        Ok(Process {
            mpi: Some(detected.mpi.clone().into()),
            source: Some(Source { kind: SourceKind::Plugin, plugin, layouts, ..Source::default() }.into()),
            communicators: report.communicators.into(),
            notes: report.notes,
            problems: ours.problems.into_iter().chain(report.problems).collect(),
            spawned: told.spawned,
            spawn_breakpoint: told.spawn_breakpoint,
            stage: ours.stage,
            rank: ours.rank,
            world_size: ours.world_size,
            world_key: ours.world_key,
            parent_world_key: ours.parent_world_key,
            ..Process::default()
        })
    }

    fn run_plugin(
        &self,
        path: &Path,
        detected: &Detected,
        ours: &Process,
        settings: &PluginSettings<'_>,
        told: &mut Process,
    ) -> Result<QueueReport, SessionError> {
        // The rank of a process of a later world is another one's place in the universe; and what our own reader does not
        // translate back must not be told.
        let first = ours.rank.filter(|_| ours.parent_world_key.is_none() && !was_spawned(ours));
        let identity = if ours.communicators.is_empty() { first } else { settings.identity.or(first) };
        let is_own = is_own_library(path);
        let request = PluginRequest {
            run: settings.run,
            universe: Universe { global_rank: ours.rank, world_size: ours.world_size, identity },
            dialect: if is_own { dialect::OWN } else { detected.installed.dialect() },
            library_version: detected.mpi.version.clone(),
            ..PluginRequest::new(path.to_owned())
        };
        let known = &ours.communicators;
        let mut source = PluginSource::new(self.target(), &detected.layouts, &detected.image, request, known);
        let datatypes = detected.installed.datatypes(self.target(), detected);
        if let Some(datatypes) = &datatypes {
            source.datatypes = &**datatypes;
        }
        let mut report = source.read_queues()?;
        // Requests have the handles that programs have, as the built-in reader gives them.
        let queues = report.communicators.iter_mut().flat_map(Communicator::queues_mut);
        let requests =
            queues.flat_map(|queue| &mut queue.operations).filter_map(|operation| operation.request.as_mut());
        for request in requests.filter(|_| !is_own) {
            *request = detected.installed.handle_of_request(self.target(), *request).unwrap_or(*request);
        }
        if let Some(outcome) = source.outcome() {
            if let Some(first) = outcome.first_failed_reads.first() {
                self.doubt(&mut report, outcome.failed_reads, first);
            }
            report.notes.extend(outcome.messages.iter().cloned());
            let new = outcome.new_processes.iter();
            report.notes.extend(new.map(|new| format!("spawned process {} on {} ({})", new.pid, new.host, new.image)));
            let new = outcome.new_processes.iter();
            let spawned =
                |new: &NewProcess| Spawned { pid: new.pid, host: new.host.clone(), executable: new.image.clone() };
            told.spawned = new.map(spawned).collect();
            told.spawn_breakpoint = outcome.spawn_breakpoint.as_deref().map(Text::from);
        }
        Ok(report)
    }

    /// A plug-in takes zeros for what it cannot read, so that any list may look shorter than it is.
    fn doubt(&self, report: &mut QueueReport, count: u64, first: &BadRead) {
        let mut buf = vec![0; usize::try_from(first.len).unwrap_or(0).min(MAX_DOUBTED)];
        // Asked again for the reason; one that is cut to a sane length may succeed.
        let again = self.target().read(first.addr, &mut buf);
        let error = again.err().unwrap_or(TargetError::Fault { addr: first.addr, len: first.len });
        let detail = format!("{count} reads of the plug-in failed, and it takes zeros instead; the first: {error}");
        if report.communicators.is_empty() {
            report.problems.push(detail);
            return;
        }
        for queue in report.communicators.iter_mut().flat_map(Communicator::queues_mut) {
            if queue.state == QueueState::Ok {
                queue.state = QueueState::Error;
                queue.detail = Some(detail.clone());
            }
        }
    }

    /// Says where the built-in reader and a plug-in differ on this process.
    ///
    /// # Errors
    /// Where either of them could not read it.
    pub fn compare(&self, settings: &PluginSettings<'_>) -> Result<Vec<String>, SessionError> {
        let ours = self.read_builtin(true)?;
        let theirs = self.read_plugin(settings)?;
        Ok(differences(&ours, &theirs))
    }
}

impl From<PluginError> for SessionError {
    fn from(error: PluginError) -> Self {
        Self::Plugin(error)
    }
}
