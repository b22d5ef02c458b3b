//! What the agent answers: JSON or a recording, what could not be read on standard error, and an exit status.

use std::collections::HashSet;
use std::io::{self, BufWriter, IsTerminal, Write};

use super::arguments::{Command, Request};
use super::failure::{Failure, say};
use super::output::{self, Output};
use super::process::{Question, Told};
use super::reading::{self, Reading};
use analysis::stacks::Options;
use analysis::{diagnose::diagnose, named, recorded, stacks::merge, universe};
use layouts::Profile;
use model::{Process, QueueState, Snapshot};
use session::{SessionError, Wrappers};
use target::printable_path;

/// All that was asked for was done.
const DONE: u8 = 0;
/// Something could not be read.
const PARTLY: u8 = 1;
/// The command line makes no sense.
pub const BAD_USAGE: u8 = 2;
/// Nothing could be read.
const NOTHING: u8 = 3;
/// What shells say of a program whose reader has gone.
const PIPE_CLOSED: u8 = 128 + 13;

/// The variable that names what wraps MPI, where the command line does not.
const WRAPPERS: &str = "MPI_QUEUES_WRAPPERS";

/// Reads, prints, and says how it went.
pub fn give(request: &Request) -> u8 {
    let question = match question(request) {
        Ok(question) => question,
        Err(failure) => {
            say(&failure);
            return BAD_USAGE;
        }
    };
    if request.command == Command::Record { record(request, &question) } else { show(request, &question) }
}

fn question(request: &Request) -> Result<Question, Failure> {
    let profile = request.layouts.as_deref().map(Profile::from_file).transpose().map_err(|error| {
        let path = request.layouts.as_deref().map(printable_path).unwrap_or_default();
        let help = "see `mpi-queues layouts make --help`";
        Failure::new(&format!("cannot use the layout profile {path}: {error}"), help)
    })?;
    let named = request.wrappers.clone().or_else(|| std::env::var(WRAPPERS).ok()).unwrap_or_default();
    let wrappers = Wrappers::named(named.split(',').map(|name| name.trim().to_owned()));
    Ok(Question { command: request.command, wrappers, profile, handles: Vec::new() })
}

/// The JSON of all that was read.
fn show(request: &Request, question: &Question) -> u8 {
    let Reading { told, outlines, mut failures } = reading::read(request, question);
    let mut parts: Vec<Snapshot> = Vec::new();
    for (_, told) in told {
        if let Told::Snapshot(snapshot) = told {
            parts.push(*snapshot);
        }
    }
    let nothing = parts.is_empty();
    if !nothing {
        parts.extend(outlines);
    }
    let mut snapshot = Snapshot::merged(parts.iter());
    drop(parts);
    snapshot.problems.extend(failures.iter().map(Failure::in_a_line));
    universe::number(&mut snapshot, &[]);
    named::complete(&mut snapshot);
    recorded::complete(&mut snapshot);
    match request.command {
        Command::Diagnose => {
            let (findings, verdict) = diagnose(&snapshot, None);
            snapshot.diagnosis = Some(findings);
            snapshot.verdict = Some(verdict);
        }
        Command::Stacks => {
            let options = Options { all_threads: request.threads, internal: request.internal, rank: None };
            snapshot.stacks = Some(merge(&snapshot, options));
            failures.extend(
                snapshot
                    .processes
                    .iter()
                    .filter(|process| is_without_stacks(process))
                    .map(|process| Failure::plain(&format!("{}: its stacks could not be read", who(process)))),
            );
        }
        _ if !request.internal && snapshot.has_internal() => snapshot = snapshot.filtered(None, None, false),
        _ => {}
    }
    if let Err(error) = write(&snapshot) {
        return not_written(&error);
    }
    if nothing {
        say_all(&failures);
        return NOTHING;
    }
    let mut problems: Vec<String> = failures.iter().map(Failure::to_string).collect();
    problems.extend(snapshot.processes.iter().flat_map(|process| problems_of(process)));
    say_once(&problems)
}

fn write(snapshot: &Snapshot) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    session::write_json(snapshot, &mut out, Some(2)).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// All processes as one recording.
fn record(request: &Request, question: &Question) -> u8 {
    if request.output.is_none() && io::stdout().is_terminal() {
        say(&Failure::new("a recording is not text for a terminal", "name a file: -o FILE"));
        return BAD_USAGE;
    }
    // What cannot be written at all is told before anything is stopped.
    let output = match request.output.as_deref().map(Output::new).transpose() {
        Ok(output) => output,
        Err(failure) => {
            say(&failure);
            return NOTHING;
        }
    };
    let Reading { told, mut failures, .. } = reading::read(request, question);
    let mut recorded: Vec<(String, Vec<u8>, Option<SessionError>)> = Vec::new();
    for (label, told) in told {
        if let Told::Recorded(bytes, problem) = told {
            recorded.push((label, bytes, problem));
        }
    }
    if recorded.is_empty() {
        if failures.is_empty() {
            failures.push(Failure::plain("there is no process to record"));
        }
        say_all(&failures);
        return NOTHING;
    }
    let parts: Vec<&[u8]> = recorded.iter().map(|(_, bytes, _)| bytes.as_slice()).collect();
    let written = match output {
        None => output::to_standard_output(&parts).map_err(|error| not_written(&error)),
        Some(output) => output.write(&parts).map_err(|failure| {
            say(&failure);
            NOTHING
        }),
    };
    if let Err(status) = written {
        return status;
    }
    let mut problems: Vec<String> = Vec::new();
    for (label, _, problem) in &recorded {
        let read = "what could be read of it is recorded";
        problems.extend(problem.as_ref().map(|error| format!("{label}: {error}; {read}")));
    }
    problems.extend(failures.iter().map(Failure::to_string));
    say_once(&problems)
}

fn not_written(error: &io::Error) -> u8 {
    if error.kind() == io::ErrorKind::BrokenPipe {
        // Whoever read our output has seen enough.
        return PIPE_CLOSED;
    }
    say(&format!("cannot write to standard output: {error}"));
    PARTLY
}

/// So many problems are read.
const MAX_SAID: usize = 50;

/// Says each problem once, as far as they are read; whether there were any.
fn say_once(problems: &[String]) -> u8 {
    let mut seen = HashSet::new();
    let each: Vec<&String> = problems.iter().filter(|problem| seen.insert(*problem)).collect();
    let told = if each.len() > MAX_SAID { MAX_SAID - 1 } else { each.len() };
    each.iter().take(told).for_each(|problem| say(problem));
    if told < each.len() {
        say(&format!("there are {} more problems, which the JSON has", each.len() - told));
    }
    if each.is_empty() { DONE } else { PARTLY }
}

/// One message of all failures; the same next step is named once.
fn say_all(failures: &[Failure]) {
    let mut lines: Vec<&str> = Vec::new();
    let texts = failures.iter().map(|failure| failure.text.as_str());
    let helps = failures.iter().map(|failure| failure.help.as_str()).filter(|help| !help.is_empty());
    for line in texts.chain(helps) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    say(&lines.join("\n"));
}

fn who(process: &Process) -> String {
    let world = process.world.filter(|world| *world != 0).map(|world| format!(" of world {world}"));
    match (process.rank, process.pid) {
        (Some(rank), _) => format!("rank {rank}{}", world.unwrap_or_default()),
        (None, Some(pid)) => format!("pid {pid}"),
        (None, None) => "a process".to_owned(),
    }
}

/// What of a process that was read could not be.
fn problems_of(process: &Process) -> Vec<String> {
    let who = who(process);
    let mut found: Vec<String> = process.problems.iter().map(|problem| format!("{who}: {problem}")).collect();
    for communicator in &process.communicators {
        let queues = [&communicator.pending_sends, &communicator.pending_receives, &communicator.unexpected_messages];
        for queue in queues.into_iter().filter(|queue| queue.state == QueueState::Error) {
            found.push(format!("{who}, {}: {}", communicator.name, queue.detail.as_deref().unwrap_or_default()));
        }
    }
    found
}

fn is_without_stacks(process: &Process) -> bool {
    process.problems.is_empty() && process.stacks.iter().all(|stack| stack.frames.is_empty())
}
