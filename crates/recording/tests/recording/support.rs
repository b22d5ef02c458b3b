//! Makes recordings of made-up processes.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use model::{Facts, Frame, Stack};
use recording::{
    Parts, ProcessDescription, Range, Recorder, RecordingError, RecordingFile, Replay, write_end, write_process,
    write_start,
};
use target::Target;

/// A file that goes away with the test.
pub struct TempFile(pub PathBuf);

impl TempFile {
    pub fn new(bytes: &[u8]) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("mpi-queues-{}-{}.mpirec", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub fn description(target: &dyn Target, rank: i64) -> ProcessDescription {
    let frame = Frame {
        function: Some("MPI_Recv".to_owned()),
        file: Some("a.c".to_owned()),
        line: Some(7),
        application: Some(true),
        ..Frame::default()
    };
    let stack = Stack { thread: 1, complete: true, frames: vec![frame], ..Stack::default() };
    let facts = Facts { pid: Some(4242), via: "gdb".to_owned(), stacks: vec![stack], ..Facts::default() };
    ProcessDescription {
        captured_at: Some("2026-11-21T12:00:00Z".to_owned()),
        tool: "test".to_owned(),
        facts,
        rank: Some(rank),
        world_size: Some(2),
        mpi: None,
        layouts: None,
        abi: target.abi(),
        images: Vec::new(),
        symbols_complete: false,
        full: false,
        problem: None,
    }
}

/// The part of a file for one process: what `read` asks of it, and `more`.
pub fn process(target: &dyn Target, rank: i64, more: Vec<Range>, read: impl FnOnce(&dyn Target)) -> Vec<u8> {
    let recorder = Recorder::new(target);
    read(&recorder);
    let parts = Parts {
        description: description(target, rank),
        types: Default::default(),
        profile: None,
        symbols: Vec::new(),
        more,
        left_out: Vec::new(),
        progress: &mut |_, _| Ok(()),
    };
    let mut out = Vec::new();
    write_process(&mut out, recorder, parts).unwrap();
    out
}

/// A whole file.
pub fn file(processes: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    write_start(&mut out, "{}").unwrap();
    processes.iter().for_each(|part| out.extend_from_slice(part));
    write_end(&mut out, processes.len() as u64).unwrap();
    out
}

pub fn open(bytes: &[u8]) -> (TempFile, Result<Rc<RecordingFile>, RecordingError>) {
    let place = TempFile::new(bytes);
    let opened = open_path(&place.0);
    (place, opened)
}

pub fn open_path(path: &Path) -> Result<Rc<RecordingFile>, RecordingError> {
    RecordingFile::open(path).map(Rc::new)
}

/// Everything that the process with number `index` gives, as text; an error where it cannot be used.
pub fn everything(file: &Rc<RecordingFile>, index: usize) -> Result<String, String> {
    let replay = Replay::open(file, index).map_err(|error| error.to_string())?;
    let mut out = serde_json::to_string(&replay.description).unwrap();
    for range in replay.ranges() {
        if range.bytes() > 1 << 24 {
            return Err(format!("a range of {} bytes", range.bytes()));
        }
        let addr = target::address::TargetAddr::new(range.start);
        let bytes = replay.read_bytes(addr, range.bytes() as usize).map_err(|error| error.to_string())?;
        out.push_str(&format!("{addr} {bytes:?}\n"));
    }
    Ok(out)
}
