//! Runs a plug-in on a target: the public face of the host.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::abi::{Function, Need};
use super::driver::{self, Task};
use super::server::PluginServer;
use super::{Limits, PluginInfo, PluginOutcome, PluginRequest, Universe, abi, dialect};
use crate::host::answers::Asked;
use crate::host::child;
use crate::host::error::PluginError;
use crate::host::library::{absolute, exported_functions};
use crate::host::run::Run;
use layouts::Layouts;
use target::{Image, Target, printable};

/// Runs the plug-in over the stopped process `target` and returns what it delivered, also where it failed.
///
/// The caller has decided that the plug-in may run (see `host::trust`).
pub fn read_with_plugin(
    target: &dyn Target,
    layouts: &Layouts,
    image: &Image,
    request: &PluginRequest<'_>,
) -> PluginOutcome {
    let rank = |rank: Option<i64>| rank.and_then(|rank| i32::try_from(rank).ok()).filter(|rank| *rank >= 0);
    let global_rank = rank(request.universe.global_rank).unwrap_or(abi::INVALID_PROCESS);
    let identity = rank(request.universe.identity).unwrap_or(abi::INVALID_PROCESS);
    let facts = child::Facts { global_rank, identity, ..child::Facts::of(target.abi()) };
    let dialect = request.dialect;
    let asked = Asked { target, layouts, member: &|type_name, field| dialect.member(type_name, field) };
    run(request, facts, Some((asked, printable(image.path.as_bytes()))))
}

/// Loads the plug-in, in a helper process, and asks what it is.
///
/// # Errors
/// Where it is no plug-in that this host can drive.
pub fn inspect_plugin(path: &Path, run_so: Run<'_>) -> Result<PluginInfo, PluginError> {
    let request = PluginRequest { run: run_so, ..PluginRequest::new(path.to_owned()) };
    let outcome = run(&request, child::Facts::default(), None);
    match outcome.failure {
        None => Ok(outcome.info),
        Some(failure) => Err(failure),
    }
}

fn run(request: &PluginRequest<'_>, facts: child::Facts, asked: Option<(Asked<'_>, String)>) -> PluginOutcome {
    let path = absolute(&request.path);
    let mut info = PluginInfo::default();
    let is_ours = |name: &str| name.starts_with("mqs_") || name == abi::NEXT_NEW_PROCESS_ALIAS;
    match exported_functions(&path, is_ours) {
        Ok(functions) => {
            let has = |name: &str| functions.iter().any(|found| found == name);
            for need in [Need::Required, Need::Optional, Need::Mpi2, Need::Mpi2Optional] {
                info.missing.extend(driver::missing(need, has));
            }
            let missing = driver::missing(Need::Required, has);
            info.functions = functions;
            if !missing.is_empty() {
                return PluginOutcome::failed(
                    info,
                    PluginError::MissingFunctions { path, interface: "message-queue", missing },
                );
            }
        }
        Err(error) => return PluginOutcome::failed(info, error),
    }
    let mut server = PluginServer::new(&path, info, request);
    let only_inspect = asked.is_none();
    if let Some((asked, image)) = asked {
        server.ask(asked, image);
    }
    let task = Task { path: &path, only_inspect, facts, limits: request.limits };
    let name = |number| Function::from_number(number).map(Function::name);
    let (lines, failure) =
        request.run.run(&path, &mut server, name, &|socket, shared| driver::run(socket, shared, &task));
    if request.dialect.minds_failed_reads() {
        server.answers.failed_reads = 0;
        server.answers.first_failed_reads.clear();
    }
    outcome(server, lines, failure)
}

fn outcome(mut server: PluginServer<'_>, lines: Vec<String>, failure: Option<PluginError>) -> PluginOutcome {
    if let Some(failure) = &failure {
        let reason = failure.to_string();
        server.cut_off(&reason);
    }
    let mut messages = std::mem::take(&mut server.answers.messages);
    messages.extend(lines);
    let mut problems: Vec<String> = Vec::new();
    if failure.is_none() {
        // Asked for after the checks that would have refused; told, because what they stand for is wrong.
        problems
            .extend(server.answers.missing().map(|name| format!("the plug-in asked for {name}, which is not known")));
    }
    if server.texts_left_out() > 0 {
        problems.push(format!("{} texts of the plug-in are left out: there are too many", server.texts_left_out()));
    }
    if server.answers.failed_reads > 0 {
        let first: Vec<String> = server
            .answers
            .first_failed_reads
            .iter()
            .map(|read| format!("{} ({} bytes)", read.addr, read.len))
            .collect();
        problems.push(format!(
            "{} reads of the plug-in failed and count as zeros in what it shows, at {}{}",
            server.answers.failed_reads,
            first.join(", "),
            if server.answers.failed_reads > first.len() as u64 { " and further on" } else { "" }
        ));
    }
    server.report.problems.extend(problems);
    for (communicator, group) in server.report.communicators.iter_mut().zip(&server.groups) {
        communicator.group = group.as_deref().map(Into::into);
    }
    PluginOutcome {
        info: server.info,
        report: server.report,
        groups: server.groups,
        asked: server.answers.take_asked_types(),
        new_processes: server.new_processes,
        spawn_breakpoint: server.spawn_breakpoint,
        failed_reads: server.answers.failed_reads,
        first_failed_reads: server.answers.first_failed_reads,
        messages,
        failure,
    }
}

impl PluginOutcome {
    fn failed(info: PluginInfo, failure: PluginError) -> Self {
        Self { info, failure: Some(failure), ..Self::default() }
    }
}

/// Default values for a request that names only the plug-in.
impl PluginRequest<'_> {
    /// A request with default limits, a minute of time and nothing known of the job.
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            run: Run::within(Duration::from_secs(60)),
            universe: Universe::default(),
            dialect: dialect::OTHER,
            library_version: None,
            limits: Limits::default(),
        }
    }
}
