//! Reads all that was named: live processes together, then core files, then recordings.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use native::{Core, Live, Native, Stopped, status};
use recording::{RecordingFile, Replay};
use session::{LayoutChoice, MoreMemory, Session};
use target::cores::{CoreFile, checked};
use target::printable_path;

use super::arguments::{Request, Source};
use super::failure::Failure;
use super::process::{Deadline, Question, Told};
use super::{refused, users};
use model::Snapshot;

/// All threads stand within this time, or something holds one of them in the kernel.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// What all processes gave.
#[derive(Default)]
pub struct Reading {
    /// Of each that could be read: what it is called, and what it gave.
    pub told: Vec<(String, Told)>,
    /// Those that were recorded before MPI_Init or after MPI_Finalize.
    pub outlines: Vec<Snapshot>,
    /// What to know of the whole.
    pub notes: Vec<String>,
    /// Why others could not be read.
    pub failures: Vec<Failure>,
}

/// Reads everything.
pub fn read(request: &Request, question: &Question) -> Reading {
    let pids: Vec<u32> = request.sources.iter().filter_map(pid_of).collect();
    let mut live = read_live(&pids, question, request.timeout);
    let mut reading = Reading::default();
    for source in &request.sources {
        let (label, result) = match source {
            Source::Pid(pid) => (format!("pid {pid}"), live.remove(pid)),
            Source::Core(core, program) => {
                (printable_path(core), Some(read_core(core, program.as_deref(), question, request.timeout)))
            }
            Source::Recording(_) => continue,
        };
        match result {
            Some(Ok(told)) => reading.told.push((label, told)),
            Some(Err(failure)) => reading.failures.push(failure),
            None => {}
        }
    }
    for source in &request.sources {
        if let Source::Recording(path) = source {
            read_recording(path, question, &mut reading);
        }
    }
    reading
}

fn pid_of(source: &Source) -> Option<u32> {
    match source {
        Source::Pid(pid) => Some(*pid),
        _ => None,
    }
}

type Answers = BTreeMap<u32, Result<Told, Failure>>;

/// Stops all processes, reads one after the other, and lets all go on.
fn read_live(pids: &[u32], question: &Question, timeout: Duration) -> Answers {
    let mut answers = Answers::new();
    let mut ready = Vec::new();
    // What is read stands meanwhile.
    let states: BTreeMap<u32, &str> = pids.iter().map(|pid| (*pid, refused::state_word(*pid))).collect();
    for pid in pids {
        match refused::check(*pid) {
            Ok(()) => ready.push(*pid),
            Err(failure) => _ = answers.insert(*pid, Err(failure)),
        }
    }
    // One that does not stop before its device has answered would hold up all others.
    let waits = |pid: &u32| status(*pid).is_some_and(|status| status.state == 'D');
    let (waiting, together): (Vec<u32>, Vec<u32>) = ready.into_iter().partition(waits);
    let groups = [together].into_iter().chain(waiting.into_iter().map(|pid| vec![pid]));
    for group in groups.filter(|group| !group.is_empty()) {
        read_group(&group, question, timeout, &mut answers);
    }
    for (pid, answer) in &mut answers {
        if let Ok(Told::Snapshot(snapshot)) = answer {
            let state = states.get(pid).map(|state| (*state).to_owned());
            snapshot.place(i64::from(*pid), None, None, None, state);
        }
    }
    answers
}

fn read_group(pids: &[u32], question: &Question, timeout: Duration, answers: &mut Answers) {
    let until = Instant::now() + timeout;
    let (mut stopped, failures) = Stopped::all(pids, STOP_LIMIT.min(timeout));
    let messages = Rc::default();
    for (pid, error) in failures {
        answers.insert(pid, Err(refused::not_stopped(pid, &error)));
    }
    for pid in pids {
        let Some(standing) = stopped.get(*pid) else { continue };
        let deadline = Deadline::new(until);
        let answer = Live::new(*pid, &standing.threads, deadline.ending())
            .map_err(|error| (error.to_string(), ""))
            .and_then(|live| ask_native(Native::new(live, Rc::clone(&messages)), question));
        let label = format!("pid {pid}");
        let answer = in_time(answer, &label, &deadline, timeout, "; it is as it was before");
        answers.insert(*pid, answer.map_err(|failure| if has_ended(*pid) { refused::gone(*pid) } else { failure }));
    }
    stopped.release_all();
}

fn has_ended(pid: u32) -> bool {
    status(pid).is_none_or(|status| matches!(status.state, 'Z' | 'X'))
}

/// Why a process gave nothing, and what to type.
type Refused = (String, &'static str);

fn ask_native<P: native::Process + 'static>(native: Native<P>, question: &Question) -> Result<Told, Refused> {
    let choice = LayoutChoice::of_native(&native, question.profile.clone());
    let session = Session::new(native, choice);
    question.ask(&session, MoreMemory::default()).map_err(|error| (error.to_string(), error.help()))
}

/// An answer, unless its time was over: what came may be half of it then.
fn in_time(
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
    answer.map_err(|(text, help)| {
        let named = if text.contains(label) { text } else { format!("{label}: {text}") };
        Failure::new(&named, help)
    })
}

fn read_core(path: &Path, program: Option<&Path>, question: &Question, timeout: Duration) -> Result<Told, Failure> {
    let deadline = Deadline::new(Instant::now() + timeout);
    let opened = CoreFile::open(path).and_then(|core| Ok((checked(&core, program)?, Arc::new(core))));
    let (program, core) = opened.map_err(|error| Failure::new(&error.to_string(), error.help()))?;
    let reader = core.owner().and_then(users::reader_of);
    let core = Core::new(core, program, reader, deadline.ending());
    let answer = ask_native(Native::new(core, Rc::default()), question);
    in_time(answer, &printable_path(path), &deadline, timeout, "")
}

/// Each whole process of a recording, as if it were there, stopped.
fn read_recording(path: &Path, question: &Question, reading: &mut Reading) {
    let file = match RecordingFile::open(path) {
        Ok(file) => Rc::new(file),
        Err(error) => return reading.failures.push(Failure::new(&error.to_string(), error.help())),
    };
    let name = printable_path(path);
    let mut problems: Vec<String> = file.problems.iter().map(|problem| format!("{name}: {problem}")).collect();
    let mut number = 0;
    for index in 0..file.sections.len() {
        let replay = match Replay::open(&file, index) {
            Ok(replay) => replay,
            Err(error) => {
                problems.push(error.to_string());
                if matches!(error, recording::RecordingError::TooLarge { .. }) {
                    // The others are not less.
                    break;
                }
                continue;
            }
        };
        let more = MoreMemory::of_replay(&replay, false);
        let choice = LayoutChoice::of_replay(&replay);
        let session = Session::new(replay, choice);
        number += 1;
        let label = if file.sections.len() == 1 { name.clone() } else { format!("{name}, process {number}") };
        match question.ask(&session, more) {
            Ok(told) => reading.told.push((label, told)),
            Err(error) => {
                reading.failures.push(Failure::new(&format!("{label}: {error}"), error.help()));
                reading.outlines.extend(question.outline(&session));
            }
        }
    }
    reading.failures.extend(problems.iter().map(|problem| Failure::plain(problem)));
}
