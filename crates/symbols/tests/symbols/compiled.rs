//! Programs that are compiled for one test, in a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory that goes with its test.
pub struct Directory(pub PathBuf);

static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Directory {
    pub fn new() -> Self {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mpi-queues-symbols-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Runs a command in the directory; its words are separated by spaces.
    pub fn run(&self, command: &str) {
        let words: Vec<&str> = command.split_whitespace().collect();
        self.run_words(&words);
    }

    pub fn run_words(&self, words: &[&str]) {
        let done = Command::new(words[0]).args(&words[1..]).current_dir(&self.0).output();
        let done = done.unwrap_or_else(|error| panic!("{} is needed by this test: {error}", words[0]));
        assert!(done.status.success(), "{words:?}\n{}", String::from_utf8_lossy(&done.stderr));
    }

    /// Compiles one of the programs to `name`.
    pub fn compile(&self, source: &str, options: &str, name: &str) -> PathBuf {
        let compiler = match Path::new(source).extension().and_then(|extension| extension.to_str()) {
            Some("cpp") => "g++ -std=c++17",
            Some("f90") => "gfortran",
            _ => "gcc",
        };
        let source = programs().join(source);
        self.run(&format!("{compiler} {options} -o {name} {}", source.display()));
        self.path(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}
