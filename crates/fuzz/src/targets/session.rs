//! Real processes, as recordings keep them, whose memory the input changes: everything that can be asked of them is.

use std::path::PathBuf;
use std::rc::Rc;

use analysis::diagnose::diagnose;
use model::{Facts, HandleKind, Process, Snapshot};
use recording::{RecordingFile, Replay};
use session::{Known, LayoutChoice, Session, Wrappers};
use target::TargetError;

use crate::changed::{self, Changed, looked_at};

/// The questions of an input.
const QUESTIONS: u8 = 3;

/// A recorded process, what came with it, and what each question looks at.
struct Recorded {
    replay: Rc<Replay>,
    choice: LayoutChoice,
    looked_at: Vec<Vec<(u64, usize)>>,
}

thread_local! {
    static ALL: Vec<Recorded> = files().iter().map(Recorded::new).collect();
}

impl Recorded {
    /// The first process of a file.
    fn new(file: &Rc<RecordingFile>) -> Self {
        let replay = Rc::new(Replay::open(file, 0).unwrap());
        let choice = LayoutChoice::of_replay(&replay);
        let mut made = Self { replay, choice, looked_at: Vec::new() };
        for question in 0..QUESTIONS {
            made.looked_at.push(looked_at(Rc::clone(&made.replay), |whole| {
                let session = Session::new(whole, made.choice.clone());
                let _ = made.ask(&session, question);
            }));
        }
        made
    }

    fn ask(&self, session: &Session<Changed<Rc<Replay>>>, question: u8) -> Snapshot {
        session.begin();
        let mut process = match question {
            0 => session.read(true),
            1 => session.read_builtin(true),
            _ => session.read_handles(&HandleKind::listed().map(|kind| (kind, None)).collect::<Vec<_>>()),
        }
        .unwrap_or_else(|error| {
            assert!(!error.to_string().is_empty());
            session.outline().unwrap_or_default()
        });
        bounded(&mut process);
        session.finished(process, true, &Wrappers::named([]))
    }
}

/// The recordings of this source tree.
fn files() -> Vec<Rc<RecordingFile>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let kept = std::fs::read_dir(root.join("tests/recordings/format-1")).unwrap();
    let mut paths: Vec<PathBuf> = kept.map(|entry| entry.unwrap().path()).collect();
    paths.push(root.join("python/mpi_queues/data/demo.mpirec"));
    paths.sort();
    // What the programs said of themselves lies beside them.
    let found: Vec<_> = paths.iter().filter_map(|path| RecordingFile::open(path).ok()).map(Rc::new).collect();
    assert!(found.len() >= 6, "{paths:?}");
    found
}

pub fn run(data: &[u8]) {
    let [which, question, rest @ ..] = data else { return };
    ALL.with(|all| {
        let recorded = &all[usize::from(*which) % all.len()];
        let question = question % QUESTIONS;
        let changed = Changed::new(Rc::clone(&recorded.replay), &recorded.looked_at[usize::from(question)], rest);
        let session = Session::new(changed, recorded.choice.clone());
        let snapshot = recorded.ask(&session, question);
        let (findings, verdict) = diagnose(&snapshot, None);
        let _ = overview::overview(&snapshot, &findings, &verdict);
        let text = serde_json::to_string(&snapshot).unwrap();
        assert!(text.len() < 64 << 20, "{} bytes of JSON", text.len());
        // What is written is read as what says the same.
        let again: Snapshot = serde_json::from_str(&text).unwrap();
        assert!(serde_json::to_string(&again).unwrap() == text);
    });
}

/// What is told of one process has a measure.
fn bounded(process: &mut Process) {
    assert!(process.notes.len() < 2000, "{} notes", process.notes.len());
}

/// Each recording with each question, whole and changed.
pub fn seeds() -> Vec<Vec<u8>> {
    let count = files().len() as u8;
    changed::seeds((0..count).flat_map(|which| (0..QUESTIONS).map(move |question| vec![which, question])))
}

impl Known for Changed<Rc<Replay>> {
    fn facts(&self, variables: &[&str]) -> Facts {
        self.inner().facts(variables)
    }
    fn via(&self) -> Option<&'static str> {
        self.inner().via()
    }
    fn captured_at(&self) -> Option<String> {
        self.inner().captured_at()
    }
    fn begin(&self) -> bool {
        self.inner().begin()
    }
    fn missing(&self) -> Vec<TargetError> {
        self.inner().missing()
    }
}
