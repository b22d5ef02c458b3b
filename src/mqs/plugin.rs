//! Runs a plug-in on a target: the public face of the host.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::abi::Need;
use super::conversation::{End, Stderr, converse};
use super::driver::{self, Task};
use super::error::PluginError;
use super::helper::Helper;
use super::library::{self, exported_functions};
use super::server::{Asked, PluginServer};
use super::shared::{LOADING, NOTE_EXIT, NOTE_LOST};
use super::{Limits, PluginInfo, PluginOutcome, PluginRequest, Universe, abi, child};
use crate::layouts::Layouts;
use crate::target::{ByteOrder, Image, Target, printable};

/// How long a plug-in may take to be loaded and to tell its version.
const INSPECTION: Duration = Duration::from_secs(10);
/// No time limit is longer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Runs the plug-in over the stopped process `target` and returns what it delivered, also where it failed.
///
/// The caller has decided that the plug-in may run (see `trust`).
pub fn read_with_plugin(
    target: &dyn Target,
    layouts: &Layouts,
    image: &Image,
    request: &PluginRequest<'_>,
) -> PluginOutcome {
    let abi = target.abi();
    let host = if cfg!(target_endian = "little") { ByteOrder::Little } else { ByteOrder::Big };
    let rank = |rank: Option<i64>| rank.and_then(|rank| i32::try_from(rank).ok()).filter(|rank| *rank >= 0);
    let global_rank = rank(request.universe.global_rank).unwrap_or(abi::INVALID_PROCESS);
    let facts = child::Facts {
        swapped: abi.byte_order != host,
        pointer_size: i32::try_from(abi.pointer_width.bytes()).unwrap_or(8),
        global_rank,
        identity: rank(request.universe.identity).unwrap_or(global_rank),
    };
    let asked = Asked { target, layouts };
    run(request, facts, Some((asked, printable(image.path.as_bytes()))))
}

/// Loads the plug-in, in a helper process, and asks what it is.
///
/// # Errors
/// Where it is no plug-in that this host can drive.
pub fn inspect_plugin(path: &Path) -> Result<PluginInfo, PluginError> {
    inspect_plugin_within(path, INSPECTION, &|| false)
}

/// As [`inspect_plugin`], with a time limit and a look at the user's interrupt.
///
/// # Errors
/// As [`inspect_plugin`].
pub fn inspect_plugin_within(
    path: &Path,
    timeout: Duration,
    interrupted: &dyn Fn() -> bool,
) -> Result<PluginInfo, PluginError> {
    let request = PluginRequest { timeout, interrupted, ..PluginRequest::new(path.to_owned()) };
    let outcome = run(&request, child::Facts::default(), None);
    match outcome.failure {
        None => Ok(outcome.info),
        Some(failure) => Err(failure),
    }
}

/// The path as `dlopen` must get it: with a slash, or it would search for the name elsewhere.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn run(request: &PluginRequest<'_>, facts: child::Facts, asked: Option<(Asked<'_>, String)>) -> PluginOutcome {
    let path = absolute(&request.path);
    let limits = request.limits;
    let timeout = request.timeout.min(LONGEST);
    let mut info = PluginInfo::default();
    match exported_functions(&path) {
        Ok(functions) => {
            let has = |name: &str| functions.iter().any(|found| found == name);
            for need in [Need::Required, Need::Optional, Need::Mpi2, Need::Mpi2Optional] {
                info.missing.extend(driver::missing(need, has));
            }
            let missing = driver::missing(Need::Required, has);
            info.functions = functions;
            if !missing.is_empty() {
                return PluginOutcome::failed(info, PluginError::MissingFunctions { path, missing });
            }
        }
        Err(error) => return PluginOutcome::failed(info, error),
    }
    let mut server = PluginServer::new(&path, info, request.universe, limits);
    server.expect_version(request.library_version.as_deref());
    let only_inspect = asked.is_none();
    if let Some((asked, image)) = asked {
        server.ask(asked, image);
    }
    let task = Task {
        path: &path,
        only_inspect,
        facts,
        max_communicators: limits.communicators,
        max_operations: limits.operations,
        max_group_ranks: limits.group_ranks,
        max_new_processes: limits.new_processes,
    };
    let mut stderr = Stderr::default();
    let failure = match Helper::start(timeout, &|socket, shared| driver::run(socket, shared, &task)) {
        Ok(mut helper) => {
            let end = converse(&mut helper, &mut server, &mut stderr, timeout, request.interrupted);
            why(end, &helper, &path, timeout)
        }
        Err(error) => Some(error),
    };
    outcome(server, &stderr, failure)
}

/// Why the conversation ended, unless it was finished.
fn why(end: End<PluginError>, helper: &Helper, path: &Path, timeout: Duration) -> Option<PluginError> {
    let path = path.to_owned();
    let place = place(helper.shared.place());
    Some(match end {
        End::Finished => return None,
        End::Refused(error) => error,
        End::HungUp => match (helper.shared.signal(), helper.shared.note()) {
            (0, NOTE_EXIT) => PluginError::Ended { path, place, reason: "it called exit" },
            (0, NOTE_LOST) => PluginError::Ended { path, place, reason: "it closed the connection to the debugger" },
            (0, _) => PluginError::Ended { path, place, reason: "it was killed, or called _exit" },
            (signal, _) => PluginError::Crashed { path, place, signal: signal_name(signal) },
        },
        End::TimedOut => PluginError::TimedOut { path, place, seconds: library::seconds(timeout) },
        End::Interrupted => PluginError::Interrupted { path, place },
        End::Nonsense(reason) => PluginError::Protocol { path, reason },
    })
}

fn place(number: u32) -> &'static str {
    match abi::Function::from_number(number) {
        Some(function) => function.name(),
        None if number == LOADING => "its constructors, while it was loaded",
        None => "no function of its own",
    }
}

fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGSEGV => "SIGSEGV, an access to memory that is not there".to_owned(),
        libc::SIGBUS => "SIGBUS, an access to memory that is not there".to_owned(),
        libc::SIGABRT => "SIGABRT, it called abort".to_owned(),
        libc::SIGFPE => "SIGFPE, an arithmetic error such as a division by zero".to_owned(),
        libc::SIGILL => "SIGILL, an instruction that does not exist".to_owned(),
        libc::SIGXCPU => "SIGXCPU, its processor time was used up".to_owned(),
        other => format!("signal {other}"),
    }
}

fn outcome(mut server: PluginServer<'_>, stderr: &Stderr, failure: Option<PluginError>) -> PluginOutcome {
    if let Some(failure) = &failure {
        let reason = failure.to_string();
        server.cut_off(&reason);
    }
    let lines = stderr.lines().into_iter().map(|line| format!("plug-in (stderr): {line}"));
    let mut messages = std::mem::take(&mut server.messages);
    messages.extend(lines);
    let mut problems: Vec<String> = Vec::new();
    if failure.is_none() {
        // Asked for after the checks that would have refused; told, because what they stand for is wrong.
        problems.extend(server.missing().map(|name| format!("the plug-in asked for {name}, which is not known")));
    }
    if server.texts_left_out() > 0 {
        problems.push(format!("{} texts of the plug-in are left out: there are too many", server.texts_left_out()));
    }
    if server.failed_reads > 0 {
        let first: Vec<String> =
            server.first_failed_reads.iter().map(|read| format!("{} ({} bytes)", read.addr, read.len)).collect();
        problems.push(format!(
            "{} reads of the plug-in failed and count as zeros in what it shows, at {}{}",
            server.failed_reads,
            first.join(", "),
            if server.failed_reads > first.len() as u64 { " and further on" } else { "" }
        ));
    }
    server.report.problems.extend(problems);
    let groups = server.report.communicators.iter().map(|communicator| communicator.group.clone()).collect();
    PluginOutcome {
        info: server.info,
        report: server.report,
        groups,
        new_processes: server.new_processes,
        spawn_breakpoint: server.spawn_breakpoint,
        failed_reads: server.failed_reads,
        first_failed_reads: server.first_failed_reads,
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
            timeout: Duration::from_secs(60),
            universe: Universe::default(),
            library_version: None,
            limits: Limits::default(),
            interrupted: &|| false,
        }
    }
}
