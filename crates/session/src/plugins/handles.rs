//! A vendor's plug-in for handles as the one who tells what they mean.

use std::path::PathBuf;

use super::{PluginChoice, PluginSettings};
use crate::{Designator, Session, SessionError};
use model::{Handle, HandleKind, HandleList, HandleState, Process, Source, SourceKind};
use plugins::host::candidate::Search;
use plugins::host::error::PluginError;
use plugins::mpidbg::{self, By, HandleOutcome, HandlePluginInfo, HandleRequest, KINDS, Query, query_handles};
use target::Target;

impl<T: Target> Session<T> {
    /// Looks for the plug-in for handles to use, and says why the MPI library names none where it does not.
    pub fn choose_handle_plugin(&self, settings: &PluginSettings<'_>) -> (PluginChoice, Option<String>) {
        let search =
            Search { explicit: settings.explicit, set_paths: settings.set_paths, safe_path: settings.safe_path };
        let (candidates, reason) = mpidbg::discovery::candidates(self.target(), &search);
        let chosen = candidates.iter().find(|candidate| candidate.usable()).cloned();
        (PluginChoice { candidates, chosen }, reason.map(Into::into))
    }

    /// Runs a plug-in for handles over the process, without queries: what it is, and which types and names it gives.
    ///
    /// # Errors
    /// Where it is none, or refuses this process.
    pub fn inspect_handle_plugin(&self, settings: &PluginSettings<'_>) -> Result<HandlePluginInfo, SessionError> {
        let outcome = self.ask_plugin(Vec::new(), settings)?;
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
    pub fn describe_with_plugin(
        &self,
        kind: HandleKind,
        designator: &Designator,
        class: Option<u32>,
        settings: &PluginSettings<'_>,
    ) -> Result<Handle, SessionError> {
        if !KINDS.contains(&kind) {
            return Ok(without_query(kind));
        }
        let by = match (designator, class) {
            (Designator::Handle(object), Some(class)) => By::Cxx { object: *object, class },
            (Designator::Handle(value), None) => By::Handle(*value),
            (Designator::Fortran(index), _) => By::Fortran(*index),
            (Designator::Name(name), _) => {
                let (list, _) = self.list_with_plugin(kind, Some(name), settings)?;
                let first = list.handles.into_iter().next();
                return first.ok_or_else(|| SessionError::NoHandle {
                    kind: kind.noun(),
                    name: name.clone(),
                    but: String::new(),
                });
            }
            (Designator::Status(_), _) => {
                return Ok(unknown(kind, "plug-ins read a status in the process: name its address"));
            }
        };
        let mut outcome = self.ask_plugin(vec![Query { kind, by }], settings)?;
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
    /// As [`Session::describe_with_plugin`].
    pub fn read_handles_with_plugin(
        &self,
        wanted: &[(HandleKind, Option<Designator>)],
        settings: &PluginSettings<'_>,
    ) -> Result<Process, SessionError> {
        let detected = self.detected()?;
        let mut process = self.read_builtin(false)?;
        process.communicators.clear();
        let path = self.plugin_path(settings)?;
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
                None => self.list_into(&mut process, kind, None, settings)?,
                Some(Designator::Name(name)) => {
                    let list = self.list_into(&mut process, kind, Some(name), settings)?;
                    if list.handles.is_empty() {
                        return Err(SessionError::NoHandle {
                            kind: kind.noun(),
                            name: name.clone(),
                            but: String::new(),
                        });
                    }
                    list
                }
                Some(one) => {
                    let handle = self.describe_with_plugin(kind, one, None, settings)?;
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
        settings: &PluginSettings<'_>,
    ) -> Result<HandleList, SessionError> {
        let (list, outcome) = self.list_with_plugin(kind, name, settings)?;
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
        settings: &PluginSettings<'_>,
    ) -> Result<(HandleList, HandleOutcome), SessionError> {
        let mut list = self.list_builtin(kind)?;
        let value = |handle: &Handle| handle.handle.as_deref().and_then(parse_hex);
        let values: Vec<u64> = list.handles.iter().filter_map(value).collect();
        let queries = |values: &[u64]| values.iter().map(|value| Query { kind, by: By::Handle(*value) }).collect();
        let mut outcome = self.ask_plugin(queries(&values), settings)?;
        let named = outcome.info.names.iter().filter(|(of, _, value)| *of == kind && !values.contains(value));
        let named: Vec<u64> = named.map(|(_, _, value)| *value).collect();
        if outcome.failure.is_none() && !named.is_empty() {
            let more = self.ask_plugin(queries(&named), settings)?;
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

    fn plugin_path(&self, settings: &PluginSettings<'_>) -> Result<PathBuf, SessionError> {
        let (choice, reason) = self.choose_handle_plugin(settings);
        match &choice.chosen {
            Some(chosen) => Ok(chosen.path.clone()),
            None => {
                let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
                Err(choice.refusal(format!("no plug-in for handles was found for this MPI library{reason}")))
            }
        }
    }

    fn ask_plugin(&self, queries: Vec<Query>, settings: &PluginSettings<'_>) -> Result<HandleOutcome, SessionError> {
        let detected = self.detected()?;
        let path = self.plugin_path(settings)?;
        // Without our own reader's rank the plug-in is told that it is not known.
        let global_rank = self.read_builtin(false).ok().and_then(|process| process.rank);
        let request = HandleRequest {
            timeout: settings.timeout,
            rights: settings.rights.clone(),
            global_rank,
            queries,
            library_version: detected.mpi.version.clone(),
            interrupted: settings.interrupted,
            ..HandleRequest::new(path)
        };
        let outcome = query_handles(self.target(), &detected.layouts, &request);
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
            | PluginError::NoHandles { .. }
    )
}

fn unknown(kind: HandleKind, reason: &str) -> Handle {
    let summary = format!("unknown {}: {reason}", kind.c_type());
    Handle { kind, summary, detail: Some(reason.to_owned()), ..Handle::default() }
}

fn without_query(kind: HandleKind) -> Handle {
    unknown(
        kind,
        &format!(
            "plug-ins tell of communicators, error handlers, requests and statuses only, not of {}s; the built-in reader \
             does: leave out the source, or set it to builtin",
            kind.noun()
        ),
    )
}

fn parse_hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}
