//! Runs a plug-in for handles on a target: the public face of the host.

use std::path::Path;

use super::abi::{Function, Need};
use super::convert;
use super::driver::{self, Task};
use super::server::HandleServer;
use super::{HandleOutcome, HandlePluginInfo, HandleRequest};
use layouts::Layouts;
use model::Handle;
use plugins::host::abi::INVALID_PROCESS;
use plugins::host::answers::Asked;
use plugins::host::child::Facts;
use plugins::host::error::{PluginError, shown};
use plugins::host::library::{absolute, exported_functions};
use plugins::host::run::Run;
use plugins::mqs::is_own_library;
use target::Target;

/// The prefix of the interface's functions.
const PREFIX: &str = "mpidbg_";

/// Asks the plug-in the queries of `request` about the stopped process `target` and returns its answers, also where it
/// failed in the middle: what it had not answered then is `unknown`.
///
/// The caller has decided that the plug-in may run (see `plugins::host::trust`).
pub fn query_handles(target: &dyn Target, layouts: &Layouts, request: &HandleRequest<'_>) -> HandleOutcome {
    let rank = request.global_rank.and_then(|rank| i32::try_from(rank).ok()).unwrap_or(INVALID_PROCESS);
    let facts = Facts { global_rank: rank, identity: rank, ..Facts::of(target.abi()) };
    run(request, facts, Some(Asked { target, layouts, member: &|_, _| None }))
}

/// Loads the plug-in, in a helper process, and asks what it is.
///
/// # Errors
/// Where it is no plug-in that this host can drive.
pub fn inspect_handle_plugin(path: &Path, run_so: Run<'_>) -> Result<HandlePluginInfo, PluginError> {
    let request = HandleRequest { run: run_so, ..HandleRequest::new(path.to_owned()) };
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

/// Whether it is a plug-in for handles and none for message queues.
pub fn is_for_handles_only(path: &Path) -> bool {
    let of_queues = || exported_functions(path, |name| name.starts_with("mqs_"));
    is_handle_plugin(path) == Ok(true) && of_queues().is_ok_and(|found| found.is_empty())
}

fn run(request: &HandleRequest<'_>, facts: Facts, asked: Option<Asked<'_>>) -> HandleOutcome {
    let path = absolute(&request.path);
    let functions = match exported_functions(&path, |name| name.starts_with(PREFIX)) {
        Ok(functions) => functions,
        Err(error) => return refused(request, HandlePluginInfo::default(), error),
    };
    let lacks = |need| Function::missing(need, |name| functions.iter().any(|found| found == name));
    let (required, optional) = (lacks(Need::Required), lacks(Need::Optional));
    let missing = required.iter().cloned().chain(optional).collect();
    let info = HandlePluginInfo { functions, missing, ..HandlePluginInfo::default() };
    if !required.is_empty() {
        return refused(request, info, PluginError::MissingFunctions { path, interface: "handle", missing: required });
    }
    let mut server = HandleServer::new(&path, info, request);
    let only_inspect = asked.is_none();
    if let Some(asked) = asked {
        server.ask(asked);
    }
    let task = Task { path: &path, only_inspect, facts, queries: &request.queries, limits: request.limits };
    let name = |number| Function::from_number(number).map(Function::name);
    let (lines, failure) =
        request.run.run(&path, &mut server, name, &|socket, shared| driver::run(socket, shared, &task));
    if is_own_library(&path) {
        // It says itself what it could not read.
        server.failed_in_setup = 0;
        server.raw.iter_mut().for_each(|raw| raw.failed_reads = 0);
    }
    outcome(server, &path, request, lines, failure)
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
    lines: Vec<String>,
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
