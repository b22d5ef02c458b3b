//! Runs a plug-in for handles on a target: the public face of the host.

use std::path::Path;
use std::time::Duration;

use super::abi::{Function, Need};
use super::convert;
use super::driver::{self, Task};
use super::server::HandleServer;
use super::{HandleOutcome, HandlePluginInfo, HandleRequest};
use crate::host::abi::INVALID_PROCESS;
use crate::host::answers::Asked;
use crate::host::child::Facts;
use crate::host::conversation::{Stderr, converse};
use crate::host::ended::why;
use crate::host::error::{PluginError, shown};
use crate::host::helper::Helper;
use crate::host::library::{LONGEST, absolute, exported_functions};
use layouts::Layouts;
use model::Handle;
use target::Target;
use target::files::Reader;

/// The prefix of the interface's functions.
const PREFIX: &str = "mpidbg_";

/// Asks the plug-in the queries of `request` about the stopped process `target` and returns its answers, also where it
/// failed in the middle: what it had not answered then is `unknown`.
///
/// The caller has decided that the plug-in may run (see `ffi::plugin::trust`).
pub fn query_handles(target: &dyn Target, layouts: &Layouts, request: &HandleRequest<'_>) -> HandleOutcome {
    let rank = request.global_rank.and_then(|rank| i32::try_from(rank).ok()).unwrap_or(INVALID_PROCESS);
    let facts = Facts { global_rank: rank, identity: rank, ..Facts::of(target.abi()) };
    run(request, facts, Some(Asked { target, layouts, member: &|_, _| None }))
}

/// Loads the plug-in, in a helper process, and asks what it is.
///
/// # Errors
/// Where it is no plug-in that this host can drive.
pub fn inspect_handle_plugin(
    path: &Path,
    timeout: Duration,
    rights: Option<Reader>,
    interrupted: &dyn Fn() -> bool,
) -> Result<HandlePluginInfo, PluginError> {
    let request = HandleRequest { timeout, rights, interrupted, ..HandleRequest::new(path.to_owned()) };
    let outcome = run(&request, Facts::default(), None);
    match outcome.failure {
        None => Ok(outcome.info),
        Some(failure) => Err(failure),
    }
}

/// Whether the library exports functions of the interface.
///
/// # Errors
/// Where it is no library that this process could load.
pub fn is_handle_plugin(path: &Path) -> Result<bool, PluginError> {
    Ok(!exported_functions(path, |name| name.starts_with(PREFIX))?.is_empty())
}

fn run(request: &HandleRequest<'_>, facts: Facts, asked: Option<Asked<'_>>) -> HandleOutcome {
    let path = absolute(&request.path);
    let timeout = request.timeout.min(LONGEST);
    let functions = match exported_functions(&path, |name| name.starts_with(PREFIX)) {
        Ok(functions) => functions,
        Err(error) => return refused(request, HandlePluginInfo::default(), error),
    };
    let lacks = |need| driver::missing(need, |name| functions.iter().any(|found| found == name));
    let (required, optional) = (lacks(Need::Required), lacks(Need::Optional));
    let missing = required.iter().cloned().chain(optional).collect();
    let info = HandlePluginInfo { functions, missing, ..HandlePluginInfo::default() };
    if !required.is_empty() {
        return refused(request, info, PluginError::MissingFunctions { path, interface: "handle", missing: required });
    }
    let mut server = HandleServer::new(&path, info, request.queries.len(), request.limits);
    server.expect_version(request.library_version.as_deref());
    let only_inspect = asked.is_none();
    if let Some(asked) = asked {
        server.ask(asked);
    }
    let max_entries = request.limits.entries;
    let task = Task { path: &path, only_inspect, facts, queries: &request.queries, max_entries };
    let mut stderr = Stderr::default();
    let failure =
        match Helper::start(timeout, request.rights.as_ref(), &|socket, shared| driver::run(socket, shared, &task)) {
            Ok(mut helper) => {
                let end = converse(&mut helper, &mut server, &mut stderr, timeout, request.interrupted);
                let name = |number| Function::from_number(number).map(Function::name);
                why(end, &helper, &path, timeout, name)
            }
            Err(error) => Some(error),
        };
    outcome(server, &path, request, &stderr, failure)
}

/// The outcome of a plug-in that was not run.
fn refused(request: &HandleRequest<'_>, info: HandlePluginInfo, failure: PluginError) -> HandleOutcome {
    let (reason, teller) = (failure.to_string(), shown(&request.path));
    let handles = request.queries.iter().map(|query| convert::unknown(query, &reason, &teller)).collect();
    HandleOutcome { info, handles, failure: Some(failure), ..HandleOutcome::default() }
}

fn outcome(
    mut server: HandleServer<'_>,
    path: &Path,
    request: &HandleRequest<'_>,
    stderr: &Stderr,
    failure: Option<PluginError>,
) -> HandleOutcome {
    let teller = match &server.info.version {
        Some(version) => format!("{} ({version})", shown(path)),
        None => shown(path),
    };
    let reason = failure.as_ref().map(ToString::to_string);
    let mut handles: Vec<Handle> = Vec::new();
    for (number, query) in request.queries.iter().enumerate() {
        handles.push(match (server.raw.get(number).filter(|raw| raw.complete), &reason) {
            (Some(raw), _) => convert::handle(query, raw, &server.info, &teller),
            (None, Some(reason)) => convert::unknown(query, reason, &teller),
            (None, None) => convert::unknown(query, "the plug-in was not asked", &teller),
        });
    }
    if server.failed_in_setup > 0 {
        let problem = format!(
            "{} reads of the plug-in failed while it was set up, and it takes zeros instead",
            server.failed_in_setup
        );
        handles.iter_mut().for_each(|handle| handle.problems.push(problem.clone()));
    }
    let lines = stderr.lines().into_iter().map(|line| format!("plug-in (stderr): {line}"));
    let mut messages = std::mem::take(&mut server.answers.messages);
    messages.extend(lines);
    HandleOutcome {
        info: server.info,
        handles,
        answered: server.raw.iter().filter(|raw| raw.complete).count(),
        failed_reads: server.answers.failed_reads,
        first_failed_reads: server.answers.first_failed_reads,
        messages,
        failure,
    }
}
