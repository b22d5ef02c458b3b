//! `mpi-queues-agent node`: one of many agents, one on each node, which a front asks through standard input.
//!
//! The front writes one line of JSON for each question (`question.rs`); what is answered goes to standard output in frames
//! (`frame.rs`), which survive whatever else the cluster's engine prints. The agent ends where its standard input does: nobody
//! is there any more.

mod find;
mod frame;
mod look;
mod question;

use std::io::{self, BufRead as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use model::Snapshot;
use model::digest::Digester;
use native::{Between, host, since_1970};
use serde_json::json;

use super::live::Reader;
use look::Found;
use question::{Action, Asked};

/// For how long it is waited that all that want a processor had one between two looks.
const PATIENCE: Duration = Duration::from_secs(10);

/// Questions are shorter than this, in bytes: one may name the processes of a job of 100,000 ranks.
const MAX_QUESTION: u64 = 4 << 20;

/// Answers questions until there are no more.
pub fn serve() -> ExitCode {
    // One that was sent runs from a file that is gone already, and has no name of its own. Where /proc is none, it has none.
    let _ = std::fs::write("/proc/self/comm", "mpi-queues-agent");
    match answer_all() {
        Ok(()) => ExitCode::SUCCESS,
        // The front has gone, or the engine has.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            super::failure::say(&format!("cannot answer: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn answer_all() -> io::Result<()> {
    let hello = json!({
        "agent": env!("CARGO_PKG_VERSION"), "protocol": model::AGENT_PROTOCOL, "host": host(), "node": node(), "pid": std::process::id(),
    });
    frame::write("hello", 0, hello.to_string().as_bytes())?;
    let gone = Arc::new(AtomicBool::new(false));
    let questions = listen(Arc::clone(&gone));
    let mut reader = Reader::default();
    let mut digester = Digester::default();
    for line in questions {
        // An engine may hand on an empty line at the end.
        if line.trim_ascii().is_empty() {
            continue;
        }
        match Asked::of(&line) {
            Ok(asked) => answer(&asked, (&mut reader, &mut digester), &gone)?,
            Err(reason) => frame::write("refused", 0, json!({ "text": reason.to_string() }).to_string().as_bytes())?,
        }
    }
    Ok(())
}

/// The lines of standard input, read by a thread of its own; `gone` says when there are no more: nothing is waited for then.
fn listen(gone: Arc<AtomicBool>) -> Receiver<Vec<u8>> {
    let (sender, questions) = sync_channel(1);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = io::Read::take(&mut input, MAX_QUESTION).read_until(b'\n', &mut line);
            if read.is_err() || line.is_empty() || sender.send(line).is_err() {
                break;
            }
        }
        gone.store(true, Ordering::Relaxed);
    });
    questions
}

/// One look at the ranks of this node.
fn answer(asked: &Asked, (reader, digester): (&mut Reader, &mut Digester), gone: &AtomicBool) -> io::Result<()> {
    let (begun, clock) = (Instant::now(), since_1970(SystemTime::now()));
    let here = find::ranks(asked);
    let ranks = &here.ranks;
    let pids: Vec<u32> = ranks.iter().map(|rank| rank.pid).collect();
    let long = asked.between.map(Duration::from_secs_f64);
    let between =
        long.map(|long| Between::wait(&pids, long, PATIENCE, || gone.load(Ordering::Relaxed))).unwrap_or_default();
    let mut found = Found::default();
    if asked.action == Action::List {
        found.parts = ranks.iter().map(look::listed).collect();
    } else {
        found.read(ranks, asked, reader);
    }
    let mut snapshot = Snapshot::merged(found.parts.iter());
    found.parts.clear();
    snapshot.problems.extend(here.problem());
    snapshot.notes.extend(here.notes());
    let file = match &asked.action {
        Action::Record { directory } => Some(look::record(directory, &found.recorded)),
        _ => None,
    };
    let stood = reader.stood().filter(|_| asked.action != Action::List);
    let told = json!({
        "asked_at": clock, "seconds": begun.elapsed().as_secs_f64(), "ranks": ranks.len(), "denied": here.denied.len(),
        "moving": between.watched.moving, "unseen": between.watched.unseen, "hungry": between.hungry, "ran_ms": u64::try_from(between.ran.as_millis()).ok(),
        "stood": stood.map(|stood| [since_1970(stood.from), since_1970(stood.to)]), "file": file,
    });
    frame::write("told", asked.look, told.to_string().as_bytes())?;
    let digest = digester.write(&snapshot).map_err(io::Error::from)?;
    frame::write("digest", asked.look, digest.as_bytes())
}

/// What the cluster calls this node, where it tells.
fn node() -> Option<String> {
    std::env::var("SLURMD_NODENAME").ok()
}
