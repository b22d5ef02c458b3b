//! A vendor's plug-in for handles as the one who tells what they mean.

use std::path::PathBuf;

use super::{By, HandleOutcome, HandlePluginInfo, HandleRequest, KINDS, Query, discovery, query_handles};
use model::{Handle, HandleKind, HandleList, HandleState, Process, Source, SourceKind};
use plugins::host::error::PluginError;
use session::{Designator, PluginChoice, PluginSettings, Session, SessionError};
use target::Target;

/// The handles of a process as its plug-in for handles tells them.
pub struct Handles<'s, T: Target> {
    /// The process.
    pub session: &'s Session<T>,
    /// What the user has said about plug-ins.
    pub settings: &'s PluginSettings<'s>,
}

impl<T: Target> Handles<'_, T> {
    /// Looks for the plug-in for handles to use, and says why the MPI library names none where it does not.
    pub fn choose(&self) -> (PluginChoice, Option<String>) {
        let (candidates, reason) = discovery::candidates(self.session.target(), &self.settings.search);
        (PluginChoice::of(candidates), reason.map(Into::into))
    }

    /// Runs a plug-in for handles over the process, without queries: what it is, and which types and names it gives.
    ///
    /// # Errors
    /// Where it is none, or refuses this process.
    pub fn inspect(&self) -> Result<HandlePluginInfo, SessionError> {
        let outcome = self.ask_plugin(Vec::new())?;
        match outcome.failure {
            Some(failure) => Err(SessionError::Plugin(failure)),
            None => Ok(outcome.info),
        }
    }

    /// What a plug-in says that one handle means. `class` is that of a C++ object whose address `designator` gives as a
    /// handle.
    ///
    /// # Errors
    /// Where the process has no MPI, no plug-in may be used, or it failed before it answered.
    pub fn describe(
        &self,
        kind: HandleKind,
        designator: &Designator,
        class: Option<u32>,
    ) -> Result<Handle, SessionError> {
        if !KINDS.contains(&kind) {
            return Ok(without_query(kind));
        }
        let by = match (designator, class) {
            (Designator::Handle(object), Some(class)) => By::Cxx { object: *object, class },
            (Designator::Handle(value), None) => By::Handle(*value),
            (Designator::Fortran(index), _) => By::Fortran(*index),
            (Designator::Name(name), _) => {
                let (list, _) = self.list_with_plugin(kind, Some(name))?;
                let first = list.handles.into_iter().next();
                return first.ok_or_else(|| no_handle(kind, name));
            }
            (Designator::Status(_), _) => {
                return Ok(unknown(kind, "plug-ins read a status in the process: name its address"));
            }
        };
        let mut outcome = self.ask_plugin(vec![Query { kind, by }])?;
        match (outcome.handles.pop(), outcome.failure) {
            (Some(mut handle), failure) if outcome.answered > 0 => {
                // Where it failed, it had answered before.
                handle.problems.extend(failure.map(|failure| failure.to_string()));
                Ok(handle)
            }
            (_, Some(failure)) => Err(SessionError::Plugin(failure)),
            (_, None) => Ok(unknown(kind, "the plug-in did not answer")),
        }
    }

    /// As [`Session::read_handles`], told by a plug-in. The interface has no lists of objects: they are those that the
    /// built-in reader finds, and those to which the plug-in gives a name.
    ///
    /// # Errors
    /// As [`Handles::describe`].
    pub fn read(&self, wanted: &[(HandleKind, Option<Designator>)]) -> Result<Process, SessionError> {
        let detected = self.session.detected()?;
        let mut process = self.session.read_builtin(false)?;
        process.communicators.clear();
        let path = self.plugin_path()?;
        let plugin = Some(path.display().to_string());
        let layouts = Some(detected.layouts_name.clone());
        process.source = Some(Source { kind: SourceKind::Plugin, plugin, layouts, ..Source::default() }.into());
        for (kind, designator) in wanted {
            let kind = *kind;
            let list = match designator {
                _ if !KINDS.contains(&kind) => {
                    let detail = without_query(kind).detail;
                    HandleList { kind, complete: false, detail, handles: Vec::new() }
                }
                None => self.list_into(&mut process, kind, None)?,
                Some(Designator::Name(name)) => {
                    let list = self.list_into(&mut process, kind, Some(name))?;
                    if list.handles.is_empty() {
                        return Err(no_handle(kind, name));
                    }
                    list
                }
                Some(one) => {
                    let handle = self.describe(kind, one, None)?;
                    HandleList { kind, complete: true, detail: None, handles: vec![handle] }
                }
            };
            process.handles.push(list);
        }
        Ok(process)
    }

    fn list_into(
        &self,
        process: &mut Process,
        kind: HandleKind,
        name: Option<&String>,
    ) -> Result<HandleList, SessionError> {
        let (list, outcome) = self.list_with_plugin(kind, name)?;
        let listed = "the objects are those that the built-in reader finds: plug-ins cannot list them".to_owned();
        for note in [listed].into_iter().chain(outcome.messages) {
            if !process.notes.contains(&note) {
                process.notes.push(note);
            }
        }
        process.problems.extend(outcome.failure.map(|failure| failure.to_string()));
        Ok(list)
    }

    /// The objects of a kind, or those of that name; and the rest of what the plug-in gave.
    fn list_with_plugin(
        &self,
        kind: HandleKind,
        name: Option<&String>,
    ) -> Result<(HandleList, HandleOutcome), SessionError> {
        let mut list = self.session.list_builtin(kind)?;
        let value = |handle: &Handle| handle.handle.as_deref().and_then(parse_hex);
        let values: Vec<u64> = list.handles.iter().filter_map(value).collect();
        let queries = |values: &[u64]| values.iter().map(|value| Query { kind, by: By::Handle(*value) }).collect();
        let mut outcome = self.ask_plugin(queries(&values))?;
        let named = outcome.info.names.iter().filter(|(of, _, value)| *of == kind && !values.contains(value));
        let named: Vec<u64> = named.map(|(_, _, value)| *value).collect();
        if outcome.failure.is_none() && !named.is_empty() {
            let more = self.ask_plugin(queries(&named))?;
            outcome.handles.extend(more.handles);
            outcome.answered += more.answered;
            outcome.failure = more.failure;
        }
        if let (Some(failure), 0) = (&outcome.failure, outcome.answered) {
            return Err(SessionError::Plugin(failure.clone()));
        }
        list.handles = std::mem::take(&mut outcome.handles);
        // Null handles are no objects.
        list.handles.retain(|handle| handle.state != HandleState::Null);
        if let Some(name) = name {
            list.handles.retain(|handle| handle.name.as_ref() == Some(name));
        }
        Ok((list, outcome))
    }

    fn plugin_path(&self) -> Result<PathBuf, SessionError> {
        let (choice, reason) = self.choose();
        match &choice.chosen {
            Some(chosen) => Ok(chosen.path.clone()),
            None => {
                let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
                Err(choice.refusal(format!("no plug-in for handles was found for this MPI library{reason}")))
            }
        }
    }

    fn ask_plugin(&self, queries: Vec<Query>) -> Result<HandleOutcome, SessionError> {
        let detected = self.session.detected()?;
        let path = self.plugin_path()?;
        // Without our own reader's rank the plug-in is told that it is not known.
        let global_rank = self.session.read_builtin(false).ok().and_then(|process| process.rank);
        let request = HandleRequest {
            run: self.settings.run,
            global_rank,
            queries,
            library_version: detected.mpi.version.clone(),
            ..HandleRequest::new(path)
        };
        let outcome = query_handles(self.session.target(), &detected.layouts, &request);
        match outcome.failure {
            Some(failure) if !failure.has_run() || is_refusal(&failure) => Err(SessionError::Plugin(failure)),
            failure => Ok(HandleOutcome { failure, ..outcome }),
        }
    }
}

/// Whether the plug-in answered nothing because of what it is, or what it says of the process.
fn is_refusal(failure: &PluginError) -> bool {
    matches!(
        failure,
        PluginError::Version { .. }
            | PluginError::Width { .. }
            | PluginError::OtherLibrary { .. }
            | PluginError::MissingLayouts { .. }
            | PluginError::TellsNothing { .. }
    )
}

fn no_handle(kind: HandleKind, name: &str) -> SessionError {
    SessionError::NoHandle { kind: kind.noun(), name: name.to_owned(), but: String::new() }
}

fn unknown(kind: HandleKind, reason: &str) -> Handle {
    let summary = format!("unknown {}: {reason}", kind.c_type());
    Handle { kind, summary, detail: Some(reason.to_owned()), ..Handle::default() }
}

fn without_query(kind: HandleKind) -> Handle {
    unknown(
        kind,
        &format!(
            "plug-ins know communicators, error handlers, requests and statuses only, not {}s; to have the built-in \
             reader, leave out the source or set it to builtin",
            kind.noun()
        ),
    )
}

fn parse_hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}
