//! What the agent answers: the JSON on standard output, what could not be read on standard error.

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::rc::Rc;

use super::arguments::{Command, Request};
use analysis::diagnose::diagnose;
use analysis::universe;
use model::Snapshot;
use recording::RecordingFile;

/// Something could not be read.
const PARTLY: u8 = 1;
/// The command line makes no sense.
pub const BAD_USAGE: u8 = 2;
/// Nothing could be read.
const NOTHING: u8 = 3;

/// Reads, prints, and says how it went.
pub fn give(request: &Request) -> ExitCode {
    let (mut snapshot, failures) = read(request);
    for failure in &failures {
        eprintln!("mpi-queues-agent: {}", shown(failure));
    }
    let nothing = snapshot.processes.is_empty();
    if request.command == Command::Diagnose {
        let (findings, verdict) = diagnose(&snapshot, None);
        snapshot.diagnosis = Some(findings);
        snapshot.verdict = Some(verdict);
    }
    snapshot.problems.extend(failures.iter().cloned());
    if let Err(error) = write(&snapshot) {
        eprintln!("mpi-queues-agent: standard output cannot be written: {error}");
        return ExitCode::from(PARTLY);
    }
    match (nothing, failures.is_empty()) {
        (true, _) => ExitCode::from(NOTHING),
        (false, false) => ExitCode::from(PARTLY),
        (false, true) => ExitCode::SUCCESS,
    }
}

/// All processes of all recordings, and why others could not be read.
fn read(request: &Request) -> (Snapshot, Vec<String>) {
    let (mut parts, mut failures) = (Vec::new(), Vec::new());
    for path in &request.recordings {
        let file = match RecordingFile::open(path) {
            Ok(file) => Rc::new(file),
            Err(error) => {
                failures.push(error.to_string());
                continue;
            }
        };
        failures.extend(file.problems.iter().cloned());
        for index in 0..file.sections.len() {
            match session::read_recorded(&file, index) {
                Ok(part) => parts.push(part),
                Err(error) => failures.push(format!("process {index} of {}: {error}", path.display())),
            }
        }
    }
    let mut snapshot = Snapshot::merged(parts.iter());
    universe::number(&mut snapshot, &[]);
    (snapshot, failures)
}

fn write(snapshot: &Snapshot) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    session::write_json(snapshot, &mut out, Some(2)).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A message without characters that steer a terminal.
fn shown(text: &str) -> String {
    target::text::printable(text.as_bytes())
}
