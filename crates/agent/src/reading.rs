//! Reads all that was named: live processes together, then core files, then recordings.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use native::{Core, Native};
use recording::{RecordingError, RecordingFile, Replay};
use session::{LayoutChoice, MoreMemory, Session};
use target::cores::{CoreFile, checked};
use target::printable_path;

use super::arguments::{Request, Source};
use super::failure::Failure;
use super::process::{Deadline, Question, Refused, Told, in_time};
use super::{live, users};
use model::Snapshot;

/// What all processes gave.
#[derive(Default)]
pub struct Reading {
    /// Of each that could be read: what it is called, and what it gave.
    pub told: Vec<(String, Told)>,
    /// Those that were recorded before MPI_Init or after MPI_Finalize.
    pub outlines: Vec<Snapshot>,
    /// Why others could not be read.
    pub failures: Vec<Failure>,
}

/// Reads everything.
pub fn read(request: &Request, question: &Question) -> Reading {
    let pids: Vec<u32> = request.sources.iter().filter_map(pid_of).collect();
    let mut live = live::read(&pids, question, request.timeout);
    let mut reading = Reading::default();
    for source in &request.sources {
        let (label, result) = match source {
            Source::Pid(pid) => (format!("pid {pid}"), live.remove(pid)),
            Source::Core(core, program) => {
                let result = read_core(core, program.as_deref(), question, request.timeout);
                (printable_path(core), Some(result))
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

fn read_core(path: &Path, program: Option<&Path>, question: &Question, timeout: Duration) -> Result<Told, Failure> {
    let deadline = Deadline::new(Instant::now() + timeout);
    let opened = CoreFile::open(path).and_then(|core| Ok((checked(&core, program)?, Arc::new(core))));
    let (program, core) = opened.map_err(|error| Failure::new(&error.to_string(), error.help()))?;
    let reader = core.owner().and_then(users::reader_of);
    let native = Native::new(Core::new(core, program, reader, deadline.ending()), Rc::default());
    let choice = LayoutChoice::of_native(&native, question.profile.clone());
    let answer = question.ask(&Session::new(native, choice), MoreMemory::default());
    in_time(answer.map_err(|error| Refused::of(&error)), &printable_path(path), &deadline, timeout, "")
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
                if matches!(error, RecordingError::TooLarge { .. }) {
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
