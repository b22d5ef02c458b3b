//! Real processes, as recordings keep them, whose memory the input changes: everything that can be asked of them is.

use std::path::PathBuf;
use std::rc::Rc;

use analysis::diagnose::diagnose;
use model::{Facts, HandleKind, Process, Snapshot};
use recording::{Range, RecordingFile, Replay};
use session::{Known, LayoutChoice, Session, Wrappers};
use target::address::TargetAddr;
use target::{CodePlace, Image, Reason, Symbol, Target, TargetAbi, TargetError};

use crate::edits;

thread_local! {
    static FILES: Vec<Rc<RecordingFile>> = files();
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
    let [which, asked, rest @ ..] = data else { return };
    FILES.with(|files| {
        let file = &files[usize::from(*which) % files.len()];
        let replay = Replay::open(file, usize::from(*which) / files.len() % file.sections.len()).unwrap();
        let choice = LayoutChoice::of_replay(&replay);
        let session = Session::new(Changed::new(replay, rest), choice);
        session.begin();
        let wrappers = Wrappers::named([]);
        let mut process = match asked % 3 {
            0 => session.read(true),
            1 => session.read_builtin(true),
            _ => session.read_handles(&HandleKind::listed().map(|kind| (kind, None)).collect::<Vec<_>>()),
        }
        .unwrap_or_else(|error| {
            assert!(!error.to_string().is_empty());
            session.outline().unwrap_or_default()
        });
        bounded(&mut process);
        let snapshot = session.finished(process, true, &wrappers);
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

/// The first process of each recording, whole and changed, each with a question.
pub fn seeds() -> Vec<Vec<u8>> {
    let count = files().len() as u8;
    let all = (0..count).map(|which| [which, which]).zip(edits::seeds(u64::from(count)));
    all.flat_map(|(head, change)| [head.to_vec(), [&head[..], &change].concat()]).collect()
}

/// A recorded process with other words in its memory.
struct Changed {
    replay: Replay,
    /// Where, and what stands there.
    words: Vec<(u64, [u8; 8])>,
}

impl Changed {
    fn new(replay: Replay, data: &[u8]) -> Self {
        let ranges: Vec<Range> = replay.ranges().collect();
        let bytes: u64 = ranges.iter().map(|range| range.bytes()).sum();
        let place = |mut at: u64| {
            for range in &ranges {
                if at < range.bytes() {
                    return range.start + at;
                }
                at -= range.bytes();
            }
            0
        };
        let words = data.chunks_exact(8).take(32).map(|piece| {
            let at = u64::from(u32::from_le_bytes([piece[0], piece[1], piece[2], 0])) * 8 % bytes.max(1);
            let value = u32::from_le_bytes([piece[4], piece[5], piece[6], piece[7]]);
            let value = match piece[3] % 6 {
                0 => u64::from(value),
                1 => i64::from(value.cast_signed()) as u64,
                2 => 1 << (value % 64),
                3 => u64::MAX - u64::from(value),
                // Somewhere else, and itself.
                4 => place(u64::from(value) % bytes.max(1)) & !7,
                _ => place(at),
            };
            (place(at) & !7, value.to_le_bytes())
        });
        let words = words.collect();
        Self { replay, words }
    }

    fn change(&self, addr: TargetAddr, buf: &mut [u8]) {
        for (at, word) in &self.words {
            for (address, byte) in (*at..).zip(word) {
                let offset = address.checked_sub(addr.get()).and_then(|offset| usize::try_from(offset).ok());
                if let Some(place) = offset.and_then(|offset| buf.get_mut(offset)) {
                    *place = *byte;
                }
            }
        }
    }
}

impl Target for Changed {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.replay.read(addr, buf)?;
        self.change(addr, buf);
        Ok(())
    }
    fn abi(&self) -> TargetAbi {
        self.replay.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.replay.symbol(name)
    }
    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        self.replay.symbols()
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.replay.images()
    }
    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        self.replay.function_at(addr)
    }
    fn place_of(&self, addr: TargetAddr) -> Result<Option<CodePlace>, TargetError> {
        self.replay.place_of(addr)
    }
    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        self.replay.stack_pointers()
    }
    fn is_held(&self, addr: TargetAddr, len: usize) -> bool {
        self.replay.is_held(addr, len)
    }
}

impl Known for Changed {
    fn facts(&self, variables: &[&str]) -> Facts {
        self.replay.facts(variables)
    }
    fn via(&self) -> Option<&'static str> {
        self.replay.via()
    }
    fn captured_at(&self) -> Option<String> {
        self.replay.captured_at()
    }
    fn begin(&self) -> bool {
        self.replay.begin()
    }
    fn missing(&self) -> Vec<TargetError> {
        Known::missing(&self.replay)
    }
}
